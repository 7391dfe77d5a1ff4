package blocks

import "math"

// How far sums move between neighbours. Let K be the set of what a person may add to a sum, with 0 in
// it, which a person without rows adds.
//
// Replace-one: a person becomes another one, and a sum moves by the diameter of K at most. How many
// there are is public.
//
// Add/remove: there is a person more or less. Persons are then places, a public number of them, in
// which those who are there stand in a secret order of which all are equally likely, and others
// are empty. So an added person takes an empty place, by the same coins and with all others where they were, and
// a sum moves by the length of the longest of K at most, roundings as where one is replaced: what is cut by
// places, blocks or parts, is cut alike. How many places are taken is as secret as rows are.

// Removed reports whether neighbours have one more or less.
func (o *Persons) Removed() bool { return o != nil && o.Places }

// Vectors is how far a sum moves of vectors that are at most 1 long.
func (o *Persons) Vectors() float64 {
	if o.Removed() {
		return 1
	}
	return 2
}

// Positive is how far a sum moves of vectors that are at most 1 long and of which no two have a negative
// inner product: counts, squares and, by the trace of their product, second moments. Two such
// are at most √2 apart.
func (o *Persons) Positive() float64 {
	if o.Removed() {
		return 1
	}
	return math.Sqrt2
}
