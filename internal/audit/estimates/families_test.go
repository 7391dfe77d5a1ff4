package estimates_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
)

// families of labels, with a bias of the scores and a bound on the labels.
var familyWorlds = []struct {
	name       string
	loss       losses.Loss
	bias, most float64
	far, mean  float64 // bounds on what a fit at ε = 1 is off by, in standard errors and as a fraction
}{
	{"probit", losses.Probit{}, 0, 0, 6, 0.012},
	{"probit, 1 in 20", losses.Probit{}, -2.5, 0, 10, 0.08},
	{"negative binomial", losses.NegativeBinomial{Dispersion: 0.5}, 0.5, 20, 14, 0.1},
	{"gamma", losses.Gamma{Least: 0.001}, 0.5, 200, 9, 0.05},
	{"ordinal", losses.Ordinal{Thresholds: []float64{-1, 0.5, 1}}, 0, 3, 4, 0.01},
}

// TestAutoEstimatesFamilies holds Auto against the non-private fit for labels of other
// families: at ε = 1 coefficients are within a few standard errors of it, and predictions
// right on average, and with a budget that drowns the noise within a tenth of a standard
// error. Seeds are fixed, and the bounds twice what was measured.
func TestAutoEstimatesFamilies(t *testing.T) {
	n := sample.Of(10_000, 20_000)
	for _, c := range familyWorlds {
		w := newWorld(n, c.loss, c.bias, 0)
		w.most = c.most
		r := w.reference(t)
		delta := math.Pow(float64(n), -1.5)
		if _, bias, far := r.errorsOf(t, dpglm.ApproxDP(1, delta), sample.Of(1, 3)); far > c.far || bias > c.mean {
			t.Errorf("%s, ε = 1: coefficients are off by %.3g standard errors, predictions by a fraction %.3g", c.name, far, bias)
		}
		if excess, bias, far := r.errorsOf(t, dpglm.ApproxDP(1000, delta), 1); far > 0.15 || bias > 2e-3 || excess > 1e-6 {
			t.Errorf("%s, ε = 1000: coefficients are off by %.3g standard errors, predictions by a fraction %.3g, the risk by %.3g", c.name, far, bias, excess)
		}
	}
}

// Intervals of each family cover what labels were drawn with: of 40 in 10 fits more than 32 do, and of 16 in 4 more than 11,
// where they cover with probability .95, but for one in a thousand; seeds are fixed.
func TestInferCoversFamilies(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	for _, c := range familyWorlds {
		scale, covered := 1.0, 0
		if losses.LinkOf(c.loss) == losses.Log { // see draw
			scale = 0.5
		}
		seeds := sample.Of(4, 10)
		for seed := range uint64(seeds) {
			w := worldOf(100+seed, 10_000, c.loss, c.bias, 0)
			w.most = c.most
			found, err := dpglm.Infer(ctx, w.data(t), dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(4, 1e-6), dpglm.InferConfig{}, given.Seeded(seed))
			if err != nil {
				t.Fatal(err)
			}
			for j, e := range found.Coefficients()[:len(truth)] {
				if truth := scale * truth[j]; e.Low <= truth && truth <= e.High {
					covered++
				}
				if !(e.StandardError < 0.1) {
					t.Errorf("%s: standard error %g", c.name, e.StandardError)
				}
			}
		}
		if all := seeds * len(truth); covered <= sample.Of(11, 32) {
			t.Errorf("%s: %d of %d intervals cover the truth", c.name, covered, all)
		}
	}
}

// The unit of amounts doesn't matter: in another one the same noise gives the same
// coefficients, and an intercept that is off by its logarithm.
func TestGammaKeepsToUnits(t *testing.T) {
	const unit = 1024
	w := newWorld(4000, losses.Gamma{Least: 0.01}, 0.5, 0)
	w.most = 20
	v := *w
	v.loss, v.most, v.y = losses.Gamma{Least: 0.01 * unit}, 20*unit, slices.Clone(w.y)
	floats.Scale(unit, v.y)
	for _, mu := range []float64{0.05, 0.3, 1, 300} {
		a, b := w.fitted(t, w.data(t), dpglm.GDP(mu), 1), v.fitted(t, v.data(t), dpglm.GDP(mu), 1)
		b[len(truth)] -= math.Log(unit)
		if !floats.EqualApprox(a, b, 1e-6) {
			t.Errorf("μ = %g: %v, in another unit %v", mu, a, b)
		}
	}
}
