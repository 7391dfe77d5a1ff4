package metrics

import (
	"math"
	"slices"
)

// MeanError is the mean prediction minus the mean label.
func MeanError(predicted, y []float64) float64 {
	var sum float64
	for i, p := range predicted {
		sum += p - y[i]
	}
	return sum / float64(len(y))
}

// RMSE is the root of the mean squared error.
func RMSE(predicted, y []float64) float64 {
	return math.Sqrt(squaredError(predicted, y) / float64(len(y)))
}

// R2 is 1 minus the squared error over that of the mean of y. It is not defined
// if all labels are equal.
func R2(predicted, y []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return math.NaN()
	}
	return 1 - squaredError(predicted, y)/squaredError(meanOf(y), y)
}

func squaredError(predicted, y []float64) float64 {
	var sum float64
	for i, p := range predicted {
		sum += (p - y[i]) * (p - y[i])
	}
	return sum
}

// Means of counts are held between LeastMean and 1/LeastMean, so that the deviance
// of a mean that rounds to 0 or +Inf is bad and finite.
const LeastMean = 1e-15

// Deviance is the Poisson deviance of counts at predicted means, for each row:
// 2·mean(y·log(y/mean) − y + mean).
func Deviance(predicted, y []float64) float64 {
	var sum float64
	for i, v := range y {
		mean := min(max(predicted[i], LeastMean), 1/LeastMean)
		sum += mean - v
		if v > 0 {
			sum += v * math.Log(v/mean)
		}
	}
	return 2 * sum / float64(len(y))
}

// DevianceExplained is 1 minus the deviance over that of the mean of y. It is not
// defined if all counts are equal.
func DevianceExplained(predicted, y []float64) float64 {
	if slices.Min(y) == slices.Max(y) {
		return math.NaN()
	}
	return 1 - Deviance(predicted, y)/Deviance(meanOf(y), y)
}

// meanOf predicts the mean of y for each row.
func meanOf(y []float64) []float64 {
	mean := make([]float64, len(y))
	for _, v := range y {
		mean[0] += v / float64(len(y))
	}
	for i := range mean {
		mean[i] = mean[0]
	}
	return mean
}
