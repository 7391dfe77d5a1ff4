package histogram

import (
	"math"
	"slices"
)

// Nonnegative returns the nearest nonnegative numbers to x of the given sum.
func Nonnegative(x []float64, total float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	var sum, less float64
	for k, v := range sorted {
		sum += v
		if by := (sum - total) / float64(k+1); v > by {
			less = by
		}
	}
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = math.Max(0, v-less)
	}
	return out
}

// AUC is the area under the ROC curve of counts of ones and of zeros, in cells by their score,
// the lowest first. Within a cell half of the pairs count. It isn't known where there are none of one of both.
func AUC(ones, zeros []float64) float64 {
	var below, all, pairs float64
	for k, v := range ones {
		pairs += float64(v * (below + zeros[k]/2))
		below += zeros[k]
		all += v
	}
	if !(all > 0 && below > 0) {
		return math.NaN()
	}
	return pairs / (all * below)
}

// OverChords is by how much more the area under the ROC curve may be than [AUC], or less where it is negative, by counts
// that aren't negative: where the odds of ones rise with the score the curve is concave, and in a cell it lies between the chord
// and the lines that go on from the cells on either side.
func OverChords(ones, zeros []float64) float64 {
	at, all, below := [][2]float64{{1, 0}}, 0.0, 0.0 // along zeros, then ones
	for k, v := range ones {
		if all, below = all+v, below+zeros[k]; v > 0 || zeros[k] > 0 {
			at = append(at, [2]float64{zeros[k], v})
		}
	}
	at = append(at, [2]float64{0, 1})
	cross := func(a, b [2]float64) float64 { return float64(a[0]*b[1]) - float64(a[1]*b[0]) }
	var sum float64
	for k := 1; k < len(at)-1; k++ {
		before, after := cross(at[k-1], at[k]), cross(at[k], at[k+1])
		if before*after > 0 { // both rise or both fall
			sum += before / cross(at[k-1], at[k+1]) * after / 2
		}
	}
	if !(all > 0 && below > 0) {
		return 0
	}
	return sum / (all * below)
}
