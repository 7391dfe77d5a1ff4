package blocks

import (
	"math"
	"slices"
)

// Persons says whose the rows are, where a person may have several, and what they count. A
// person's rows stand one after the other, and their shares add up to 1 at most, so that
// what a person adds to a sum Σ shareᵢ·f(rowᵢ) lies among the averages of what single rows
// add, and of 0, which a row of zeros adds to a gradient. These averages are no further apart
// than single rows and 0 are, in any norm and whatever the rows: a person who is replaced whole moves a sum no further than a
// replaced row does where each row is a person's only one. No Persons stand for these.
//
// Shares are multiples of 2^-20, so that counts of 2^30 persons or fewer are exact. They
// add up to exactly 1 only where each is a power of two, by which products are exact, and
// else to 1 − 2^-20 or less, which covers the rounding of products.
type Persons struct {
	Start  []int     // person p's rows are those from start[p] up to start[p+1]
	Most   int       // rows of a person at most, which is public
	Shares []float64 // of the rows; nil where all count 1

	Given, Weighted bool // whether persons and weights were given
	Occur           bool // whether the number of persons is that of those who occur
	Places          bool // whether persons are places, of which some are nobody's: see Vectors
}

// MostRows is the largest number of rows that a person may have.
func (o *Persons) MostRows() int {
	if o == nil {
		return 1
	}
	return o.Most
}

// Rows returns where the rows of the persons from first up to last begin and end.
func (o *Persons) Rows(first, last int) (lo, hi int) {
	if o == nil {
		return first, last
	}
	return o.Start[first], o.Start[last]
}

// RowsOf are the rows of persons, in their order.
func (o *Persons) RowsOf(persons []int) []int {
	if o == nil {
		return persons
	}
	var order []int
	for _, p := range persons {
		for i := o.Start[p]; i < o.Start[p+1]; i++ {
			order = append(order, i)
		}
	}
	return order
}

// Pick returns the owners of persons' rows, in that order.
func (o *Persons) Pick(persons []int) *Persons {
	if o == nil {
		return nil
	}
	picked := &Persons{Start: []int{0}, Most: o.Most, Given: o.Given, Weighted: o.Weighted, Occur: o.Occur, Places: o.Places, Shares: Gather(o.Shares, o.RowsOf(persons))}
	for _, p := range persons {
		picked.Start = append(picked.Start, picked.Start[len(picked.Start)-1]+o.Start[p+1]-o.Start[p])
	}
	return picked
}

// Weigh multiplies numbers of the rows from lo on by their shares.
func (o *Persons) Weigh(z []float64, lo int) {
	if o == nil || o.Shares == nil {
		return
	}
	for k, share := range o.Shares[lo : lo+len(z)] {
		z[k] *= share
	}
}

// Counted reports whether rows have shares of their own.
func (o *Persons) Counted() bool { return o != nil && o.Shares != nil }

// Share is what row i counts.
func (o *Persons) Share(i int) float64 {
	if o == nil || o.Shares == nil {
		return 1
	}
	return o.Shares[i]
}

// Last reports whether row i is the last of its person's.
func (o *Persons) Last(i int) bool {
	if o == nil {
		return true
	}
	_, found := slices.BinarySearch(o.Start, i+1)
	return found
}

// ShareOf is what a row counts whose weight is the given part of the largest one, among the
// given number of its person's rows.
func ShareOf(weight float64, rows int) float64 {
	const steps = 1 << 20
	return math.Floor(steps*min(max(weight, 0), 1)/float64(rows)) / steps
}

// Part are those of the rows [lo, hi): which rows are a person's last is all that is asked
// of where they start.
func (o *Persons) Part(lo, hi int) *Persons {
	if o == nil {
		return nil
	}
	p := &Persons{Most: o.Most, Given: o.Given, Weighted: o.Weighted}
	if o.Shares != nil {
		p.Shares = o.Shares[lo:hi]
	}
	at, _ := slices.BinarySearch(o.Start, lo+1)
	for ; at < len(o.Start) && o.Start[at] <= hi; at++ {
		p.Start = append(p.Start, o.Start[at]-lo)
	}
	return p
}

// Gather returns v[i] for each i of order, nil if v is empty.
func Gather[T any](v []T, order []int) []T {
	if len(v) == 0 {
		return nil
	}
	out := make([]T, len(order))
	for k, i := range order {
		out[k] = v[i]
	}
	return out
}
