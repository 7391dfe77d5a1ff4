// Package metrics scores predictions on labels that were held out. Nothing in
// it is private: these numbers are for whoever holds the data.
//
// Binary labels and classes follow one rule, y > 0 is class 1 and the rest is
// class 0, so that 0/1, −1/1 and scores all fit. Slices must have equal lengths
// above 0.
package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy is the share of predictions, classes or scores, in the right class.
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
// defined, and ok is false, unless both classes occur.
func AUC(scores, y []float64) (auc float64, ok bool) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var ranks, ones float64
	for lo := 0; lo < len(order); {
		hi := lo
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
		return 0, false
	}
	return (ranks - ones*(ones+1)/2) / (ones * zeros), true
}

// LogLoss is the mean of −log p over the probabilities that scores give to the
// right class, 1/(1 + e^(−z)) being that of class 1.
func LogLoss(scores, y []float64) float64 {
	var sum float64
	for i, z := range scores {
		if y[i] > 0 {
			z = -z
		}
		sum += max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	return sum / float64(len(y))
}

// RMSE is the root of the mean squared error.
func RMSE(predicted, y []float64) float64 {
	return math.Sqrt(squaredError(predicted, y) / float64(len(y)))
}

// R2 is 1 minus the squared error's share of the squared error of the mean of
// y. It is not defined, and ok is false, if all labels are equal.
func R2(predicted, y []float64) (r2 float64, ok bool) {
	var mean float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	var spread float64
	for _, v := range y {
		spread += (v - mean) * (v - mean)
	}
	if slices.Min(y) == slices.Max(y) {
		return 0, false
	}
	return 1 - squaredError(predicted, y)/spread, true
}

// DevianceExplained is 1 minus the Poisson deviance's share of the deviance of
// the mean of y, for counts y and positive predicted means. It is not defined,
// and ok is false, if all counts are equal.
func DevianceExplained(predicted, y []float64) (d2 float64, ok bool) {
	if slices.Min(y) == slices.Max(y) {
		return 0, false
	}
	var mean float64
	for _, v := range y {
		mean += v / float64(len(y))
	}
	var left, whole float64
	for i, v := range y {
		left += deviance(v, predicted[i])
		whole += deviance(v, mean)
	}
	return 1 - left/whole, true
}

// deviance is half the Poisson deviance of a count at a mean.
func deviance(y, mean float64) float64 {
	d := mean - y
	if y > 0 {
		d += y * math.Log(y/mean)
	}
	return d
}

func squaredError(predicted, y []float64) float64 {
	var sum float64
	for i, p := range predicted {
		sum += (p - y[i]) * (p - y[i])
	}
	return sum
}
