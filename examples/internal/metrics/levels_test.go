package metrics

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Figures of four rows, worked out by hand: the third is predicted wrongly, and of the last
// level there is none.
func TestOfLevels(t *testing.T) {
	p := mat.NewDense(4, 4, []float64{
		0.5, 0.25, 0.25, 0,
		0.25, 0.5, 0.25, 0,
		0.5, 0.25, 0.125, 0.125,
		0.125, 0.25, 0.625, 0,
	})
	y := []float64{0, 1, 1, 2}
	got := OfLevels(p, y)
	for name, want := range map[string]float64{
		"log_loss": (math.Ln2 + math.Ln2 + 2*math.Ln2 - math.Log(0.625)) / 4,
		"accuracy": 0.75,
		"auc":      (5./6 + 3./4 + 1) / 3, // of the first level one tie of three, of the second two of four
	} {
		if v := Value(got, name); !(math.Abs(v-want) < 1e-15) {
			t.Errorf("%s is %g, want %g", name, v, want)
		}
	}
	if of := LevelAUC(p, y); !math.IsNaN(of[3]) || of[2] != 1 {
		t.Errorf("AUC of levels: %g", of)
	}
	if c := fmt.Sprint(Confusion(p, y)); c != "[[1 0 0 0] [1 1 0 0] [0 0 1 0] [0 0 0 0]]" {
		t.Errorf("confused as %s", c)
	}
	sure := mat.NewDense(1, 3, []float64{1, 0, 0})
	if got := OfLevels(sure, []float64{1}); !(math.Abs(Value(got, "log_loss")+math.Log(Saturated)) < 1e-9) || !math.IsNaN(Value(got, "auc")) {
		t.Errorf("a sure mistake costs %v", got)
	}
}
