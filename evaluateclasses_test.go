package dpglm

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// threeOf draws rows of three classes by a softmax of scores.
func threeOf(t *testing.T, weights [][]float64, n int, r *rand.Rand) (d *Dataset, m *Model, brier float64) {
	t.Helper()
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := math.Max(-4, math.Min(r.NormFloat64(), 4)), math.Max(-4, math.Min(r.NormFloat64(), 4))
		x.SetRow(i, []float64{a, b})
		var p [3]float64
		sum := 0.0
		for k, w := range weights {
			p[k] = math.Exp(w[0]*a + w[1]*b + w[2])
			sum += p[k]
		}
		u := r.Float64() * sum
		for y[i] < 2 && u > p[int(y[i])] {
			u -= p[int(y[i])]
			y[i]++
		}
		for k, v := range p {
			if v /= sum; k == int(y[i]) {
				v--
			}
			brier += v * v / float64(n)
		}
	}
	d, err := NewDataset(x, y, Bounds{Feature: 6, Intercept: true})
	if err != nil {
		t.Fatal(err)
	}
	return d, newModel(Problem{Classes: 3}.response(&fitted{loss: losses.Logistic{}, joint: true}), weights, d, nil), brier
}

// The Brier score is held where noise hides all but the rows that stand out, be they those whose class is sure. At a
// coverage of 94 % more than 6 of 25, or 4 of 12, miss with probability 5e-4 of each model.
func TestBrierScoresOfFewRows(t *testing.T) {
	t.Parallel()
	for name, weights := range map[string][][]float64{
		"sharp": {{5, 0, 0}, {0, 5, 0}, {-4, -3, 0}}, "rare": {{0, 0, 3}, {1, 0, 0}, {0, 1, -1}}, "constant": {{0, 0, 1}, {0, 0, 0}, {0, 0, -1}},
	} {
		_, _, truth := threeOf(t, weights, sample.Of(50_000, 100_000), rand.New(rand.NewPCG(7, 8)))
		runs, missed, r := sample.Of(12, 25), 0, rand.New(rand.NewPCG(1, 2))
		for seed := range uint64(runs) {
			d, m, _ := threeOf(t, weights, 1000, r)
			v := figureOf(evaluatedBy(t, d, m, 0.5, seed+1), "Brier score")
			if !(v.Low <= truth && truth <= v.High) {
				missed++
			}
			if w := v.High - v.Low; !(w > 0.03 && w < 0.12) {
				t.Errorf("%s: %+v", name, v)
			}
		}
		t.Logf("%s: %d of %d miss %.4f", name, missed, runs, truth)
		if missed > sample.Of(4, 6) {
			t.Errorf("%s: %d of %d intervals miss %.4f", name, missed, runs, truth)
		}
	}
}
