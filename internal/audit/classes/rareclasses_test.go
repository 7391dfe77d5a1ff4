package classes_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/sample"
)

// rareClasses are weights of four classes, the last of which a row in fifty is of and no row is
// predicted to be.
var rareClasses = [][]float64{{0.6, 0, 0, 0}, {-0.6, 0.3, 0, 0.5}, {0, -0.6, 0.6, -0.3}, {0, 0.3, -0.3, -2.8}}

func classedBy(weights [][]float64, n int, seed uint64) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(seed, 4))
	x, y := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range y {
		x.SetRow(i, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
		y[i] = classOf(weights, x.RawRowView(i), r)
	}
	return x, y
}

// Where noise is larger than a rare class its rows count in the log-loss, whose interval holds
// that of the population: at 5 % more than 4 of 15, or 3 of 8, miss with probability 6e-4. A class that is
// never predicted has no precision, the others have one, and that of 600 rows has none by noise
// alone in one evaluation of thirty thousand.
func TestRareClassesCount(t *testing.T) {
	t.Parallel()
	m := withWeights(t, softmaxOf(t, 500, dpglm.GDP(1)), rareClasses)
	x, y := classedBy(rareClasses, 100_000, 1)
	truth := classFigures(t, m, x, y)[1]
	for _, c := range []struct{ mu, width float64 }{{0.065, 0.2}, {0.2, 0.085}} {
		runs, missed, width := sample.Of(8, 15), 0, 0.0
		for seed := range uint64(runs) {
			x, y := classedBy(rareClasses, 7500, seed+10)
			e, err := dpglm.Evaluate(t.Context(), dataset(t, x, y, inBall), m, dpglm.GDP(c.mu), dpglm.EvaluateConfig{}, seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			v := figureOf(e, "log-loss")
			if !(v.Low <= truth && truth <= v.High) {
				missed++
			}
			width += (v.High - v.Low) / float64(runs)
			none := dpglm.Interval{}
			if figureOfClass(e, "3", "precision") != none || figureOfClass(e, "0", "precision") == none || figureOfClass(e, "0", "recall") == none {
				t.Errorf("μ = %g: %+v", c.mu, e.Figures)
			}
		}
		t.Logf("μ = %g: %d of %d intervals miss %.4f, at a width of %.4f", c.mu, missed, runs, truth, width)
		if missed > sample.Of(3, 4) || width > c.width || math.IsNaN(width) {
			t.Errorf("μ = %g: %d of %d intervals miss %.4f, at a width of %.4f", c.mu, missed, runs, truth, width)
		}
	}
}
