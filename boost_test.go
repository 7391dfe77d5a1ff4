package dpglm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// flaky is a learner that fails half the time: it returns the negative of good
// weights.
type flaky struct{ coin mechanisms.Source }

func (f flaky) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	plan, err := NoisyGDConfig{Steps: 1}.Plan(s, p, b)
	if err != nil {
		return nil, err
	}
	plan.train = func(*run) (*fitted, error) {
		if f.coin.Uint64()%2 == 0 {
			return &fitted{weights: [][]float64{{-5, 0}}, loss: p.Loss}, nil
		}
		return &fitted{weights: [][]float64{{5, 0}}, loss: p.Loss}, nil
	}
	return plan, nil
}

// [AB+22, Theorem 13]: if a single run fails with probability at most ½, boosting
// with m chunks fails with probability little above 2^-m, as the selection tells
// good models from bad ones. The number of failures in 400 boosts with m = 4 is
// held against its binomial law (α = 1e-6).
func TestBoostingRaisesConfidence(t *testing.T) {
	const m, boosts = 4, 400
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(1000, 2, nil), make([]float64, 1000)
	for i := range y {
		x.SetRow(i, []float64{2*r.Float64() - 1, 2*r.Float64() - 1})
		if x.At(i, 0) > 0 {
			y[i] = 1
		}
	}
	d, err := NewDataset(x, y, Bounds{Feature: math.Sqrt2})
	if err != nil {
		t.Fatal(err)
	}
	src := mechanisms.NewSeededSource(3)
	for _, noisyMax := range []bool{false, true} {
		plan, err := BoostConfig{Learner: flaky{src}, Chunks: m, NoisyMax: noisyMax}.Plan(d.Shape(), Problem{Loss: losses.Logistic{}, Radius: 5}, ApproxDP(4, 1e-6))
		if err != nil {
			t.Fatal(err)
		}
		failures := 0.0
		for range boosts {
			model, err := plan.Run(context.Background(), d, &Env{NoiseForTests: src})
			if err != nil {
				t.Fatal(err)
			}
			if model.Weights()[0][0] < 0 {
				failures++
			}
		}
		law := distuv.Binomial{N: boosts, P: math.Pow(2, -m)}
		if 1-law.CDF(failures-1) < 1e-6 || law.CDF(failures) < 1e-6 {
			t.Errorf("noisy max %v: %g failures of %d, expected about %g", noisyMax, failures, boosts, law.Mean())
		}
	}
}
