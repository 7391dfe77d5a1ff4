package dpglm_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// auditAlpha is the probability that an audit of a correct mechanism claims a
// violation.
const auditAlpha = 1e-6

// auditMu returns a lower confidence bound on μ for a mechanism whose scalar
// output has the two samples on neighbouring inputs: the first halves choose a
// threshold, the second halves bound the error rates of the test by
// Clopper–Pearson, and μ-GDP allows no test with Φ⁻¹(1−α) − Φ⁻¹(β) > μ.
func auditMu(a, b []float64) float64 {
	half := len(a) / 2
	train := slices.Concat(a[:half], b[:half])
	slices.Sort(train)
	best, threshold := -1.0, 0.0
	for _, q := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		t := train[int(q*float64(len(train)))]
		if m := muOf(above(a[:half], t), above(b[:half], t), half, 0.05); m > best {
			best, threshold = m, t
		}
	}
	return muOf(above(a[half:], threshold), above(b[half:], threshold), len(a)-half, auditAlpha)
}

func above(v []float64, t float64) (count int) {
	for _, x := range v {
		if x > t {
			count++
		}
	}
	return count
}

// muOf bounds μ from counts of positives among n on either side.
func muOf(onA, onB, n int, alpha float64) float64 {
	upper := func(k int) float64 { // Clopper–Pearson, one-sided, on each rate
		if k >= n {
			return 1
		}
		return mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-alpha/2)
	}
	fpr, fnr := upper(onB), upper(n-onA)
	return distuv.UnitNormal.Quantile(1-fpr) - distuv.UnitNormal.Quantile(fnr)
}

// TestAuditNoisyGD runs Noisy GD on its worst neighbours: the released model may
// not tell them apart better than the claimed μ allows, and should do so nearly
// as well. A variant that claims half of what it spends is caught.
func TestAuditNoisyGD(t *testing.T) {
	for _, c := range []struct {
		name        string
		loss        losses.Loss
		rowA, rowB  []float64
		yA, yB      float64
		clip        float64
		radius, eta float64
	}{
		{"logistic", losses.Logistic{}, []float64{1, 0}, []float64{1, 0}, 0, 1, inf, 1e3, 1},
		{"squared", losses.Squared{}, []float64{1, 0}, []float64{-1, 0}, 2, 2, inf, 1e3, 1},
		{"logistic, clipped", losses.Logistic{}, []float64{1, 0}, []float64{1, 0}, 0, 1, 0.1, 1e3, 1},
	} {
		const runs, claimed = 30_000, 1.0
		sample := func(row []float64, y float64, seed uint64) []float64 {
			x := mat.NewDense(3, 2, []float64{0, 0, 0, 0, row[0], row[1]})
			d := dataset(t, x, []float64{0, 0, y}, dpglm.Bounds{Feature: 1, Label: 2})
			config := dpglm.NoisyGDConfig{Steps: 1, StepSize: c.eta, Clip: c.clip, Output: dpglm.LastIterate}
			plan, err := config.Plan(d.Shape(), dpglm.Problem{Loss: c.loss, Radius: c.radius}, dpglm.GDP(claimed))
			if err != nil {
				t.Fatal(err)
			}
			env := &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)}
			out := make([]float64, runs)
			for i := range out {
				m, err := plan.Run(ctx, d, env)
				if err != nil {
					t.Fatal(err)
				}
				out[i] = m.Weights()[0]
			}
			return out
		}
		a, b := sample(c.rowA, c.yA, 1), sample(c.rowB, c.yB, 2)
		got := math.Max(auditMu(a, b), auditMu(b, a))
		t.Logf("%s: claimed μ = %g, audited at least %.3f", c.name, claimed, got)
		if got > claimed {
			t.Errorf("%s: audit finds μ ≥ %.3f, claimed %g", c.name, got, claimed)
		}
		if got < 0.8*claimed {
			t.Errorf("%s: audit finds only μ ≥ %.3f of %g: it has lost its power", c.name, got, claimed)
		}
		if got <= claimed/2 {
			t.Errorf("%s: half the noise would go unnoticed", c.name)
		}
	}
}
