package task

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// byRow returns the loss and the labels to fit a table's rows by, with their exposures and weights.
func byRow(t *table.Table, loss losses.Loss) (losses.Loss, []float64) {
	return byRowOf(t, loss, t.Labels())
}

// byRowOf is byRow for other labels of a table's rows.
func byRowOf(t *table.Table, loss losses.Loss, labels []float64) (losses.Loss, []float64) {
	if t.Exposure() == nil && t.Weights() == nil {
		return loss, labels
	}
	var offsets []float64
	if t.Exposure() != nil {
		offsets = t.LogExposure()
	}
	return baseline.ByRow(loss, labels, offsets, weights(t))
}

// weights are a table's, over their mean, so that a fit's ridge is as small beside them as it is beside rows without weights; nil, so that rows
// count alike, where it has none, or none above 0.
func weights(t *table.Table) []float64 {
	sum := floats.Sum(t.Weights())
	if !(sum > 0) {
		return nil
	}
	list := slices.Clone(t.Weights())
	floats.Scale(float64(len(list))/sum, list)
	return list
}

// weigh is how much row i counts.
func weigh(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}
