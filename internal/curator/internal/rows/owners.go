package rows

import (
	"math"
	"slices"
)

// owners says whose the rows are, where a person may have several, and what they count. A
// person's rows stand one after the other, and their shares add up to 1 at most, so that
// what a person adds to a sum Σ shareᵢ·f(rowᵢ) lies among the averages of what single rows
// add, and of 0, which a row of zeros adds to a gradient. These averages are no further apart
// than single rows and 0 are, in any norm and whatever the rows: a person who is replaced whole moves a sum no further than a
// replaced row does where each row is a person's only one. No owners stand for these.
//
// Shares are multiples of 2^-20, so that counts of 2^30 persons or fewer are exact. They
// add up to exactly 1 only where each is a power of two, by which products are exact, and
// else to 1 − 2^-20 or less, which covers the rounding of products.
type owners struct {
	start  []int     // person p's rows are those from start[p] up to start[p+1]
	most   int       // rows of a person at most, which is public
	shares []float64 // of the rows

	persons, weighted bool // whether persons and weights were given
	occur             bool // whether the number of persons is that of those who occur
}

// PersonRows is the largest number of rows that a person may have, which is public; 0 where
// persons weren't given.
func (t *Table) PersonRows() int {
	if t.owners == nil || !t.owners.persons {
		return 0
	}
	return t.owners.most
}

// PersonsOccur reports whether the number of persons is that of those who have rows, as none
// was stated.
func (t *Table) PersonsOccur() bool { return t.owners != nil && t.owners.occur }

// Weighted reports whether rows have weights.
func (t *Table) Weighted() bool { return t.owners != nil && t.owners.weighted }

// RowsOf are the rows of persons, in their order.
func (t *Table) RowsOf(persons []int) []int { return t.owners.rowsOf(persons) }

// mostRows is the largest number of rows that a person may have.
func (o *owners) mostRows() int {
	if o == nil {
		return 1
	}
	return o.most
}

// rows returns where the rows of the persons from first up to last begin and end.
func (o *owners) rows(first, last int) (lo, hi int) {
	if o == nil {
		return first, last
	}
	return o.start[first], o.start[last]
}

// rowsOf are the rows of persons, in their order.
func (o *owners) rowsOf(persons []int) []int {
	if o == nil {
		return persons
	}
	var order []int
	for _, p := range persons {
		for i := o.start[p]; i < o.start[p+1]; i++ {
			order = append(order, i)
		}
	}
	return order
}

// pick returns the owners of persons' rows, in that order.
func (o *owners) pick(persons []int) *owners {
	if o == nil {
		return nil
	}
	picked := &owners{start: []int{0}, most: o.most, persons: o.persons, weighted: o.weighted, occur: o.occur, shares: Gather(o.shares, o.rowsOf(persons))}
	for _, p := range persons {
		picked.start = append(picked.start, picked.start[len(picked.start)-1]+o.start[p+1]-o.start[p])
	}
	return picked
}

// weigh multiplies numbers of the rows from lo on by their shares.
func (o *owners) weigh(z []float64, lo int) {
	if o == nil {
		return
	}
	for k, share := range o.shares[lo : lo+len(z)] {
		z[k] *= share
	}
}

// share is what row i counts.
func (o *owners) share(i int) float64 {
	if o == nil {
		return 1
	}
	return o.shares[i]
}

// last reports whether row i is the last of its person's.
func (o *owners) last(i int) bool {
	if o == nil {
		return true
	}
	_, found := slices.BinarySearch(o.start, i+1)
	return found
}

// shareOf is what a row counts whose weight is the given part of the largest one, among the
// given number of its person's rows.
func shareOf(weight float64, rows int) float64 {
	const steps = 1 << 20
	return math.Floor(steps*min(max(weight, 0), 1)/float64(rows)) / steps
}

// sum adds numbers up, in four partial sums that don't wait for each other: a number passes
// through fewer roundings than there are numbers.
func sum(z []float64) float64 {
	var a, b, c, d float64
	for ; len(z) >= 4; z = z[4:] {
		a, b, c, d = a+z[0], b+z[1], c+z[2], d+z[3]
	}
	for _, v := range z {
		a += v
	}
	return (a + b) + (c + d)
}
