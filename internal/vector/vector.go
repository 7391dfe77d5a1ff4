// Package vector holds operations on vectors whose results are the same bits on every
// processor.
package vector

import "math"

// Norm is the Euclidean norm, without overflow, in the same operations on every
// processor.
func Norm(w []float64) float64 {
	var largest, sum float64
	for _, v := range w {
		largest = math.Max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 1) || math.IsNaN(largest) {
		return largest
	}
	for _, v := range w {
		r := v / largest
		sum += float64(r * r)
	}
	return largest * math.Sqrt(sum)
}

// AddScaled adds factor·v to w, each product rounded.
func AddScaled(w []float64, factor float64, v []float64) {
	for j, x := range v {
		w[j] += float64(factor * x)
	}
}

// Project scales w down to the given norm where it is longer. As computed, norms of d
// numbers are at most radius·(1 + (d+16)·2^-52) then.
func Project(w []float64, radius float64) {
	r := Norm(w)
	if !(r > radius) {
		return
	}
	factor := radius / r
	for j := range w {
		w[j] *= factor
	}
}
