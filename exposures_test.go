package dpglm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Exposures of a range far wider than they are leave rates that are known: where their sum is nothing but noise its release has a power of them beside it. The
// constant model of such rows was 8 too low.
func TestExposuresOfAWideRange(t *testing.T) {
	const n, seeds, farthest = 20_000, 4, 3.0
	for _, wide := range []float64{farthest, 20} {
		var auto, descent float64
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 2))
			x, y, offsets := mat.NewDense(n, 1, nil), make([]float64, n), make([]float64, n)
			for i := range n {
				x.Set(i, 0, r.NormFloat64())
				offsets[i] = -farthest * r.Float64()
				mean := math.Exp(.5 + .4*x.At(i, 0) + offsets[i])
				for k := r.ExpFloat64(); k < mean; k += r.ExpFloat64() {
					y[i]++
				}
			}
			d, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 5, Label: 50, Intercept: true}, dpglm.Offsets{Of: offsets, Range: [2]float64{-wide, wide - farthest}})
			if err != nil {
				t.Fatal(err)
			}
			noise := func() *dpglm.Env { return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)} }
			m, err := dpglm.Auto(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(1, 1e-6), noise())
			if err != nil {
				t.Fatal(err)
			}
			auto += (m.Weights()[0][1] - .5) / seeds
			if m, err = dpglm.NoisyGD(t.Context(), d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.ApproxDP(1, 1e-6), dpglm.NoisyGDConfig{}, noise()); err != nil {
				t.Fatal(err)
			}
			descent += (m.Weights()[0][1] - .5) / seeds
		}
		t.Logf("in a range of %g: Auto's intercept is off by %.3f, Noisy GD's by %.3f", 2*wide-farthest, auto, descent)
		if !(math.Abs(auto) < .1) || !(math.Abs(descent) < .4) {
			t.Errorf("in a range of %g: Auto's intercept is off by %.3f, Noisy GD's by %.3f", 2*wide-farthest, auto, descent)
		}
	}
}
