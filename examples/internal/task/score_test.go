package task

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// The mean loss is that at the scores, and the errors are those of the means.
func TestScoreOfCounts(t *testing.T) {
	z, y := []float64{0, math.Log(2)}, []float64{1, 4}
	left, whole := 4*math.Log(2)-2, math.Log(.4)+4*math.Log(1.6)
	want := []Metric{{"mean_loss", (0 + 2 - 4*math.Log(2) + 4*math.Log(4) - 4) / 2}, {"rmse", math.Sqrt2}, {"r2", 1 - 4/4.5}, {"deviance_explained", 1 - left/whole}}
	got := Score(losses.Poisson{}, z, y)
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i, m := range got {
		if m.Name != want[i].Name || math.Abs(m.Value-want[i].Value) > 1e-14 {
			t.Errorf("%v, want %v", m, want[i])
		}
	}
}
