package task

import (
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// rate is a loss of rows with exposures, whose labels are the rows' numbers: it is how
// package baseline, which knows no offsets, fits rates.
type rate struct {
	losses.Loss
	labels, offsets []float64
	curvature       func(z, y float64) float64
}

// atRisk returns the loss and the labels to fit a table's rows by.
func atRisk(t *table.Table, loss losses.Loss) (losses.Loss, []float64) {
	curvature, ok := losses.CurvatureOf(loss)
	if t.Exposure() == nil || !ok {
		return loss, t.Labels()
	}
	numbers := make([]float64, len(t.Labels()))
	for i := range numbers {
		numbers[i] = float64(i)
	}
	return rate{loss, t.Labels(), t.LogExposure(), curvature}, numbers
}

// Value is that of the row.
func (r rate) Value(z, row float64) float64 {
	return r.Loss.Value(z+r.offsets[int(row)], r.labels[int(row)])
}

// Deriv is that of the row.
func (r rate) Deriv(z, row float64) float64 {
	return r.Loss.Deriv(z+r.offsets[int(row)], r.labels[int(row)])
}

// Curvature is that of the row.
func (r rate) Curvature(z, row float64) float64 {
	return r.curvature(z+r.offsets[int(row)], r.labels[int(row)])
}
