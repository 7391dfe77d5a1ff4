package evaluate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
)

// predictedTo is how many rows are predicted to be of a class.
func predictedTo(counts []float64, classes, k int) (sum float64) {
	for j := range classes {
		sum += counts[j*classes+k]
	}
	return sum
}

// confused are accuracy, and rate, recall and precision of each class, of counts of n rows by
// class and predicted class.
func confused(counts []float64, n float64, classes int) (list []reading) {
	right := 0.0
	for k := range classes {
		own, both := floats.Sum(counts[k*classes:(k+1)*classes]), counts[k*classes+k]
		right += both
		list = append(list,
			reading{classRate.of(k), own / n},
			reading{recall.of(k), part(both, own)},
			reading{precision.of(k), part(both, predictedTo(counts, classes, k))})
	}
	return append(list, reading{accuracy, right / n})
}

// table keeps how many rows of each class are predicted to be of each, as far as noise lets see:
// no count is negative, and they add up to the number of rows.
func (r *Result) table(counts []float64, classes int) {
	pure := histogram.Nonnegative(counts, math.Max(1, floats.Sum(counts)))
	for k := range classes {
		r.Confusion = append(r.Confusion, pure[k*classes:(k+1)*classes])
	}
}
