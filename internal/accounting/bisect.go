package accounting

import "math"

// bisect brings two points together around the place where below turns from true
// to false: below(lo) holds, or lo is the start, and below(hi) doesn't. It first
// doubles the distance from hi to the start until below(hi) fails; where that is
// beyond the limit, hi is +Inf. It ends at a distance of tolerance·|hi|, or of two
// neighbouring numbers.
func bisect(lo, hi, limit, tolerance float64, below func(float64) bool) (float64, float64) {
	for start := lo; below(hi); {
		lo, hi = hi, start+2*(hi-start)
		if hi > limit {
			return lo, math.Inf(1)
		}
	}
	for hi-lo > tolerance*math.Abs(hi) {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi
}

// smallestEpsilon inverts a falling curve, of δ or of its logarithm: it returns an
// ε ≥ 0 at which the curve is at most bound, above the least one by at most 1e-12
// relative, or +Inf where no finite ε serves.
func smallestEpsilon(curve func(float64) float64, bound float64) float64 {
	if curve(0) <= bound {
		return 0
	}
	_, hi := bisect(0, 1, 1e15, 1e-13, func(x float64) bool { return curve(x) > bound })
	return hi
}
