package estimates_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// A column that is 1 in a few of very many rows, and 0 else, says nothing of which noise wouldn't hide it: no score of these rows is far off,
// and inference says so of its coefficient, and is right about the others.
func TestRareColumn(t *testing.T) {
	const n, d, rare = 400_000, 8, 300
	r := mechanisms.NewSeededSource(1)
	unit := func() float64 { return float64(r.Uint64()>>11) / (1 << 53) }
	x, y, classes := mat.NewDense(n, d, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		s := 0.0
		for j := range d - 1 {
			v := 2*unit() - 1
			x.Set(i, j, v)
			s += v / 10
		}
		if i < rare {
			x.Set(i, d-1, 1)
		}
		y[i] = s + .2*(unit()+unit()-1)
		if unit() < losses.Logit.Mean(5*s) {
			classes[i] = 1
		}
	}
	for _, c := range []struct {
		loss   losses.Loss
		labels []float64
		most   float64 // 0.7 and 3.5 are the largest scores of all rows
		effect float64 // of each of the other columns
	}{{losses.Squared{}, y, 1.5, .1}, {losses.Logistic{}, classes, 10, .5}} {
		data, err := dpglm.NewDataset(x, c.labels, dpglm.Bounds{Feature: math.Sqrt(d), Label: 1, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			if seed > 0 && !sample.All() {
				break
			}
			model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(1, 1e-6), given.Seeded(5+seed))
			if err != nil {
				t.Fatal(err)
			}
			z, err := model.Scores(x.Slice(0, rare, 0, d))
			if err != nil {
				t.Fatal(err)
			}
			if largest := math.Max(mat.Max(z), -mat.Min(z)); !(largest < c.most) {
				t.Errorf("%s: a score is %.3g", c.loss.Name(), largest)
			}
			f, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(1, 1e-6), dpglm.InferConfig{}, given.Seeded(5+seed))
			if err != nil {
				t.Fatal(err)
			}
			for j, of := range f.Coefficients()[:d] {
				switch off := (of.Estimate - c.effect) / of.StandardError; {
				case of.Undetermined() != (j == d-1):
					t.Errorf("%s: column %d: %g ± %g", c.loss.Name(), j, of.Estimate, of.StandardError)
				case math.Abs(off) > 5: // none where it isn't determined; an α of 2e-5 in all
					t.Errorf("%s: column %d is %.3g standard errors off", c.loss.Name(), j, off)
				}
			}
		}
	}
}
