package estimates

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// Losses of real labels with bounded slopes have the coefficients of their minimiser, whether labels' range is 4 or 400 times as wide as
// labels vary. Labels are z + 2 + e, e standard normal, so that a quantile of the order τ has the slope 1 and the intercept 2 + Φ⁻¹(τ).
// Noise has a standard deviation of .02 in each of the 32 numbers: that one is .1 off by chance has a probability below 2e-5.
func TestRangesOfLabelsMayBeTooWide(t *testing.T) {
	const n = 8000
	r := rand.New(rand.NewPCG(30, 11))
	x, y := mat.NewDense(n, 3, nil), make([]float64, n)
	for i := range n {
		for j := range 3 {
			x.Set(i, j, math.Min(math.Max(r.NormFloat64(), -3), 3))
		}
		y[i] = 2 + x.At(i, 0) + r.NormFloat64()
	}
	for loss, order := range map[losses.Loss]float64{losses.Absolute{}: 0.5, losses.Quantile{Tau: 0.9}: 0.9, losses.Quantile{Tau: 0.2}: 0.2, losses.Huber{Kappa: 0.5}: 0.5} {
		for _, bound := range []float64{8, 800} {
			d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt(27), Label: bound, Intercept: true})
			m, _ := given.Fit(t, dpglm.AutoConfig{}, d, dpglm.Problem{Loss: loss}, dpglm.ApproxDP(4, 1e-6), 3)
			w := m.Weights()[0]
			for j, want := range []float64{1, 0, 0, 2 + distuv.UnitNormal.Quantile(order)} {
				if math.Abs(w[j]-want) > 0.1 {
					t.Errorf("%s, range ±%g: weight %d is %.3f, want %.3f", loss.Name(), bound, j+1, w[j], want)
				}
			}
		}
	}
}

// Offsets far outside the labels' range have an intercept there, and a loss whose slopes are bounded by an extension alone trains as others do. Labels
// are .2 + .1·x + .1·e, noise in a number is below .003.
func TestOffsetsAndExtendedLossesOfBoundedSlopes(t *testing.T) {
	const n = 4000
	r := rand.New(rand.NewPCG(30, 12))
	x, y, offsets := mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, n)
	for i := range n {
		for j := range 2 {
			x.Set(i, j, math.Min(math.Max(r.NormFloat64(), -3), 3))
		}
		y[i] = 0.2 + 0.1*x.At(i, 0) + 0.1*r.NormFloat64()
		offsets[i] = 20 + 0.1*r.Float64()
	}
	quartic := losses.Custom{Label: "quartic", Domain: losses.Real,
		Phi:              func(z, y float64) float64 { e := z - y; return e*e/2 + e*e*e*e/1200 },
		DPhi:             func(z, y float64) float64 { e := z - y; return e + e*e*e/300 },
		AtZero:           func(b float64) float64 { return b*b/2 + b*b*b*b/1200 },
		SlopeAtZero:      func(b float64) float64 { return b + b*b*b/300 },
		SmoothnessWithin: func(z, b float64) float64 { return 1 + (z+b)*(z+b)/100 }}
	for _, c := range []struct {
		loss      losses.Loss
		offset    bool
		intercept float64
		near      float64
	}{
		{losses.Absolute{}, true, -19.85, 0.02}, {losses.Quantile{Tau: 0.9}, true, -19.85 + 0.128, 0.02}, {losses.Huber{Kappa: 0.05}, true, -19.85, 0.02},
		{quartic, false, 0.2, 0.1}, // whose steps are short for the largest curvature of its extension
	} {
		var more []dpglm.RowDetail
		if c.offset {
			more = append(more, dpglm.Offsets{Of: offsets, Range: [2]float64{20, 20.1}})
		}
		d := given.Dataset(t, x, y, dpglm.Bounds{Feature: math.Sqrt(18), Label: 1, Intercept: true}, more...)
		m, _ := given.Fit(t, dpglm.AutoConfig{}, d, dpglm.Problem{Loss: c.loss}, dpglm.ApproxDP(4, 1e-6), 3)
		w := m.Weights()[0]
		for j, want := range []float64{0.1, 0, c.intercept} {
			if math.Abs(w[j]-want) > c.near {
				t.Errorf("%s: weight %d is %.3f, want %.3f", c.loss.Name(), j+1, w[j], want)
			}
		}
	}
}
