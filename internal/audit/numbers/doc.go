// Package numbers holds what seeded runs of each method gave, number by number, so that no number of a
// model, a covariance or a figure changes unseen; and to the bit what releases declared, what privacy curves tell, and what noise,
// choices and accountants' counts come to, as a margin for rounding moves last digits alone. Each file of those has numbers that show
// how its machine rounds: another one compares to a relative 1e-7.
package numbers
