// Package parties fits on rows of several holders, of whom an aggregator sees masked sums only,
// and has them refuse what they should.
package parties
