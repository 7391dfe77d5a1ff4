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
// the lowest first. Within a cell half of the pairs count.
func AUC(ones, zeros []float64) float64 {
	var below, all, pairs float64
	for k, v := range ones {
		pairs += float64(v * (below + zeros[k]/2))
		below += zeros[k]
		all += v
	}
	return pairs / (all * below)
}
