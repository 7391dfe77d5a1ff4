package dpglm

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// TestAuditPredictions asks predictors that add noise on their worst neighbours:
// the answers may not tell these apart better than claimed for each answer, and
// should do so nearly as well, so that half the noise would be noticed. Each audit
// errs with probability 1e-6; seeds 1 and 2.
func TestAuditPredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow for the race detector, and has nothing for it")
	}
	const queries = 30_000
	makers := map[string]struct {
		rows int
		make func(*Dataset, Budget, uint64) (*Predictor, error)
	}{
		"stable": {1, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 0.03}
			return serve(d, p, b, StableConfig{Queries: queries, Lambda: 50}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
		"descent": {1, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 0.01}
			return serve(d, p, b, DescentConfig{Queries: queries, Steps: 5, StepSize: 1e-3}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
		"average": {2, func(d *Dataset, b Budget, seed uint64) (*Predictor, error) {
			p := Problem{Loss: losses.Squared{}, Radius: 4}
			return serve(d, p, b, AverageConfig{Queries: queries, Parts: 2, Lambda: 1e-3}, &Env{NoiseForTests: mechanisms.NewSeededSource(seed)})
		}},
	}
	for name, c := range makers {
		sample := func(b Budget, y float64, seed uint64) []float64 {
			x, labels := mat.NewDense(c.rows, 2, nil), make([]float64, c.rows)
			x.SetRow(0, []float64{1, 0})
			labels[0] = y
			d, err := NewDataset(x, labels, Bounds{Feature: 1, Label: 1})
			if err != nil {
				t.Fatal(err)
			}
			p, err := c.make(d, b, seed)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float64, queries)
			for i := range out {
				if out[i], err = p.Answer(context.Background(), []float64{1, 0}); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		// Gaussian noise, each answer 1-GDP.
		mu := GDP(math.Sqrt(queries))
		if got := lowerBound(sample(mu, 1, 1), sample(mu, -1, 2), muOf); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds μ ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited μ ≥ %.3f of 1", name, got)
		}
		// Laplace noise, each answer 1-DP.
		pure := PureDP(queries)
		if got := lowerBound(sample(pure, 1, 1), sample(pure, -1, 2), epsilonOf); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds ε ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited ε ≥ %.3f of 1", name, got)
		}
	}
}
