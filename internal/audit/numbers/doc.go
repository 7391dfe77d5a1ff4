// Package numbers holds what seeded runs of each method gave, number by number, so that no number of a
// model, a covariance or a figure changes unseen.
package numbers
