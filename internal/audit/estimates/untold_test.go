package estimates_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Weights that no row tells of have the least norm: a column of zeros, as a level is that doesn't occur, has
// none, and two columns that are equal have half of their effect each.
func TestUntoldWeights(t *testing.T) {
	const n, effect = 6000, 0.8
	r := mechanisms.NewSeededSource(3)
	unit := func() float64 { return float64(r.Uint64()>>11) / (1 << 53) }
	x := mat.NewDense(n, 8, nil)
	labels := map[losses.Loss][]float64{losses.Logistic{}: nil, losses.Squared{}: nil, losses.Poisson{}: nil}
	for i := range n {
		v, other := 2*unit()-1, 2*unit()-1
		x.SetRow(i, []float64{v, other, 0, v, math.Round(unit()), unit(), unit(), unit()})
		noise := unit() - .5
		for loss := range labels {
			y := math.Round(losses.Logit.Mean(effect*v-other) + noise) // classes
			if loss.Labels() == losses.Real {
				y = effect*v - other + noise
			}
			labels[loss] = append(labels[loss], y)
		}
	}
	for loss, y := range labels {
		data, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 3, Label: 3, Intercept: true})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			auto, infer := fits(t, data, loss, 1e6, seed)
			for name, w := range map[string][]float64{"Auto": auto, "Infer": infer} {
				if math.Abs(w[2]) > 1e-3 || math.Abs(w[0]-w[3]) > 1e-3 || w[0] < .1 {
					t.Errorf("%s, %s: weights are %.4g", name, loss.Name(), w)
				}
			}
		}
	}
}
