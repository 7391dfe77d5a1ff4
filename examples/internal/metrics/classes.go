package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy is the fraction of predictions, classes or scores, in the right class.
func Accuracy(predicted, y []float64) float64 {
	var right float64
	for i, p := range predicted {
		if (p > 0) == (y[i] > 0) {
			right++
		}
	}
	return right / float64(len(y))
}

// AUC is the probability that a random row of class 1 has a higher score than
// one of class 0, ties counting half, by the rank-sum formula. It is not
// defined unless both classes occur.
func AUC(scores, y []float64) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var ranks, ones float64
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && scores[order[hi]] == scores[order[lo]] {
			hi++
		}
		shared := float64(lo+1+hi) / 2 // mean of the ranks lo+1 … hi
		for _, i := range order[lo:hi] {
			if y[i] > 0 {
				ranks += shared
				ones++
			}
		}
		lo = hi
	}
	zeros := float64(len(y)) - ones
	if ones == 0 || zeros == 0 {
		return math.NaN()
	}
	return (ranks - ones*(ones+1)/2) / (ones * zeros)
}

// Saturated is the least probability that [LogLoss] counts: one row can't add more
// than −log(10⁻¹⁵) ≈ 34.5.
const Saturated = 1e-15

// LogLoss is the mean of −log p over the probabilities that log-odds give to the
// right class, 1/(1 + e^(−z)) being that of class 1 and [Saturated] the least.
func LogLoss(scores, y []float64) float64 {
	most := -math.Log(Saturated)
	var sum float64
	for i, z := range scores {
		if y[i] > 0 {
			z = -z
		}
		sum += min(softplus(z), most)
	}
	return sum / float64(len(y))
}

// softplus is log(1 + e^z).
func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// CalibrationSlope is the slope of a logistic regression of the labels on the
// scores, with an intercept: 1 for scores that are right, less if they are too
// far apart and more if they are too close together. It is not defined where the
// classes don't overlap, or the scores are all equal or not finite.
func CalibrationSlope(scores, y []float64) float64 {
	mean, deviation := moments(scores)
	if !overlap(scores, y) || !(deviation > 0) || math.IsInf(deviation, 1) {
		return math.NaN()
	}
	x := make([]float64, len(scores))
	for i, z := range scores {
		x[i] = (z - mean) / deviation
	}
	return logisticSlope(x, y) / deviation
}

func moments(x []float64) (mean, deviation float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		deviation += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(deviation)
}

// overlap reports whether each class has a score above one of the other's, which
// is when a logistic regression on the scores has a finite solution.
func overlap(scores, y []float64) bool {
	lo, hi := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, z := range scores {
		class := 0
		if y[i] > 0 {
			class = 1
		}
		lo[class], hi[class] = min(lo[class], z), max(hi[class], z)
	}
	return lo[0] < hi[1] && lo[1] < hi[0]
}

// logisticSlope fits by Newton's method, which halves steps that go too far. It
// returns NaN if that doesn't converge.
func logisticSlope(x, y []float64) float64 {
	var a, b float64
	value := logisticValue(x, y, a, b)
	for range 100 {
		var g, h [3]float64 // sums of e, ex and of c, cx, cx²
		for i, v := range x {
			p := 1 / (1 + math.Exp(-(a + b*v)))
			e, c := p, p*(1-p)
			if y[i] > 0 {
				e--
			}
			g[0], g[1] = g[0]+e, g[1]+e*v
			h[0], h[1], h[2] = h[0]+c, h[1]+c*v, h[2]+c*v*v
		}
		det := h[0]*h[2] - h[1]*h[1]
		da, db := (h[1]*g[1]-h[2]*g[0])/det, (h[1]*g[0]-h[0]*g[1])/det
		decrement := -(da*g[0] + db*g[1])
		if !(decrement >= 0) {
			return math.NaN()
		}
		if decrement <= 1e-20*float64(len(x)) {
			return b
		}
		const rounding = 1e-12
		step := 1.0
		for ; step > 1e-10; step /= 2 {
			if next := logisticValue(x, y, a+step*da, b+step*db); next <= value*(1+rounding)-1e-4*step*decrement {
				value = next
				break
			}
		}
		a, b = a+step*da, b+step*db
	}
	return math.NaN()
}

func logisticValue(x, y []float64, a, b float64) float64 {
	var sum float64
	for i, v := range x {
		z := a + b*v
		if y[i] > 0 {
			z = -z
		}
		sum += softplus(z)
	}
	return sum
}
