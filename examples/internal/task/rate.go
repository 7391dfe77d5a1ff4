package task

import (
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// atRisk returns the loss and the labels to fit a table's rows by.
func atRisk(t *table.Table, loss losses.Loss) (losses.Loss, []float64) {
	if t.Exposure() == nil {
		return loss, t.Labels()
	}
	return baseline.ByRow(loss, t.Labels(), t.LogExposure(), nil)
}
