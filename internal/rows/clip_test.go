package rows

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// A loss that falls below zero is scored as 0 under a finite cap, which the
// sensitivity of the sum assumes, and as it is in the plain objective.
func TestLossesClipsBelowZero(t *testing.T) {
	table, err := NewTable(mat.NewDense(2, 1, []float64{1, -1}), NewIdentity(1, 1, false))
	if err != nil {
		t.Fatal(err)
	}
	loss := losses.Extend(losses.Logistic{}, 1)
	sums, err := NewSums(table, []float64{1, 1}, 0, loss)
	if err != nil {
		t.Fatal(err)
	}
	got, w := make([]float64, 3), [][]float64{{20}, {20}, {20}}
	if err := sums.Losses(context.Background(), got, w, []float64{2, 100, math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	up, down := loss.Value(-20, 1), loss.Value(20, 1)
	if want := [3]float64{2, up, up + down}; down >= 0 || [3]float64(got) != want {
		t.Errorf("%g, want %g", got, want)
	}
}
