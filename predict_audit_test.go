package dpglm_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// TestAuditPredictions asks predictors that add noise on their worst neighbours:
// the answers may not tell these apart better than claimed for each answer, and
// should do so nearly as well, so that half the noise would be noticed. Each audit
// errs with probability 1e-6; seeds 1 and 2.
func TestAuditPredictions(t *testing.T) {
	const queries = 30_000
	makers := map[string]struct {
		rows int
		make func(*dpglm.Dataset, dpglm.Budget, uint64) (*dpglm.Predictor, error)
	}{
		"stable": {1, func(d *dpglm.Dataset, b dpglm.Budget, seed uint64) (*dpglm.Predictor, error) {
			p := dpglm.Problem{Loss: losses.Squared{}, Radius: 0.03}
			return dpglm.NewStable(ctx, d, p, b, dpglm.StableConfig{Queries: queries, Lambda: 50}, seeded(seed))
		}},
		"descent": {1, func(d *dpglm.Dataset, b dpglm.Budget, seed uint64) (*dpglm.Predictor, error) {
			p := dpglm.Problem{Loss: losses.Squared{}, Radius: 0.01}
			return dpglm.NewDescent(ctx, d, p, b, dpglm.DescentConfig{Queries: queries, Steps: 5, StepSize: 1e-3}, seeded(seed))
		}},
		"average": {2, func(d *dpglm.Dataset, b dpglm.Budget, seed uint64) (*dpglm.Predictor, error) {
			p := dpglm.Problem{Loss: losses.Squared{}, Radius: 4}
			return dpglm.NewAverage(ctx, d, p, b, dpglm.AverageConfig{Queries: queries, Parts: 2, Lambda: 1e-3}, seeded(seed))
		}},
	}
	for name, c := range makers {
		sample := func(b dpglm.Budget, y float64, seed uint64) []float64 {
			x, labels := mat.NewDense(c.rows, 2, nil), make([]float64, c.rows)
			x.SetRow(0, []float64{1, 0})
			labels[0] = y
			p, err := c.make(dataset(t, x, labels, dpglm.Bounds{Feature: 1, Label: 1}), b, seed)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float64, queries)
			for i := range out {
				if out[i], err = p.Answer(ctx, []float64{1, 0}); err != nil {
					t.Fatal(err)
				}
			}
			return out
		}
		// Gaussian noise, each answer 1-GDP.
		mu := dpglm.GDP(math.Sqrt(queries))
		if got := auditMu(sample(mu, 1, 1), sample(mu, -1, 2)); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds μ ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited μ ≥ %.3f of 1", name, got)
		}
		// Laplace noise, each answer 1-DP.
		pure := dpglm.PureDP(queries)
		if got := auditEpsilon(sample(pure, 1, 1), sample(pure, -1, 2)); got > 1 || got < 0.8 {
			t.Errorf("%s: audit finds ε ≥ %.3f, claimed 1", name, got)
		} else {
			t.Logf("%s: audited ε ≥ %.3f of 1", name, got)
		}
	}
}

// auditEpsilon returns a lower confidence bound on ε: the first half of a chooses
// its median as the threshold, the other halves bound how often either sample
// exceeds it, by Clopper–Pearson.
func auditEpsilon(a, b []float64) float64 {
	half := len(a) / 2
	threshold := slices.Sorted(slices.Values(a[:half]))[half/2]
	n := float64(len(a) - half)
	onA, onB := float64(above(a[half:], threshold)), float64(above(b[half:], threshold))
	lower := mathext.InvRegIncBeta(onA, n-onA+1, auditAlpha/2)
	upper := mathext.InvRegIncBeta(onB+1, n-onB, 1-auditAlpha/2)
	return math.Log(lower / upper)
}
