package task

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

// The constant is that of the training rows, scored on the others.
func TestConstantIsFittedToTrainingRows(t *testing.T) {
	y, sum := []float64{0, 1, 2, 4, 8, 16, 32, 64}, 127.0
	s := &Sample{source: &Source{Loss: losses.Squared{}, heldOut: 0.25}, rows: newDense(mat.NewDense(8, 1, y)), labels: y,
		facts: dpglm.Bounds{Feature: 64, Label: 64, Intercept: true}}
	trial, err := s.Trial(1)
	if err != nil {
		t.Fatal(err)
	}
	held := trial.Held[0] + trial.Held[1]
	if got, want := metrics.Value(trial.Constant(), "mean_error"), (sum-held)/6-held/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("labels %v held out: mean error %v, want %v", trial.Held, got, want)
	}
}
