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
	// Weights of the rows, of the largest one; nil where all are 1. They are shares before these go by how
	// many rows a person has.
	Weights []float64
	Each    bool // whether each row is to count, and not each person alike: see Layout.Terms

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
	picked := &Persons{Start: []int{0}, Most: o.Most, Given: o.Given, Weighted: o.Weighted, Occur: o.Occur, Places: o.Places, Each: o.Each}
	order := o.RowsOf(persons)
	picked.Shares, picked.Weights = Gather(o.Shares, order), Gather(o.Weights, order)
	for _, p := range persons {
		picked.Start = append(picked.Start, picked.Start[len(picked.Start)-1]+o.Start[p+1]-o.Start[p])
	}
	return picked
}

// Add adds a row of a weight, of the largest one, and of so many of its person.
func (o *Persons) Add(weight float64, rows int, weighted bool) {
	if o.Shares = append(o.Shares, ShareOf(weight, rows)); o.Each && weighted {
		o.Weights = append(o.Weights, ShareOf(weight, 1))
	}
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

// Weight is row i's.
func (o *Persons) Weight(i int) float64 {
	if o == nil || o.Weights == nil {
		return 1
	}
	return o.Weights[i]
}

// Runs calls f with the runs [lo, hi) of rows of one person each, of n rows from row from on, and whether the
// person's rows end there.
func (o *Persons) Runs(from, n int, f func(lo, hi int, ends bool)) {
	if o == nil {
		for i := from; i < from+n; i++ {
			f(i, i+1, true)
		}
		return
	}
	at, _ := slices.BinarySearch(o.Start, from+1)
	for lo := from; lo < from+n; {
		for ; at < len(o.Start) && o.Start[at] <= lo; at++ { // of persons without rows
		}
		hi, ends := from+n, false
		if at < len(o.Start) && o.Start[at] <= hi {
			hi, ends = o.Start[at], true
		}
		f(lo, hi, ends)
		lo = hi
	}
}

// ByRows are the same persons, of whose rows each has a share of its weight over the most rows that a person may have:
// so rows of the same weight count alike, and a person's shares add up to 1 at most.
func (o *Persons) ByRows() *Persons {
	of := *o
	of.Each, of.Weighted, of.Shares = false, true, make([]float64, len(o.Shares))
	for i := range of.Shares {
		of.Shares[i] = ShareOf(o.Weight(i), o.Most)
	}
	return &of
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
	p := &Persons{Most: o.Most, Given: o.Given, Weighted: o.Weighted, Each: o.Each}
	if o.Shares != nil {
		p.Shares = o.Shares[lo:hi]
	}
	if o.Weights != nil {
		p.Weights = o.Weights[lo:hi]
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
