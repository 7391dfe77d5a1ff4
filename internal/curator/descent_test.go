package curator

import (
	"math"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// A continued loss stays above −descent·|z|, and far out it falls about that fast
// where it is Poisson's; others don't fall below zero.
func TestDescent(t *testing.T) {
	steep := losses.Custom{
		Label: "steep", Domain: losses.Binary,
		Phi:              func(z, y float64) float64 { return math.Exp(-y * z) },
		DPhi:             func(z, y float64) float64 { return -y * math.Exp(-y*z) },
		AtZero:           func(float64) float64 { return 1 },
		SlopeAtZero:      func(float64) float64 { return 1 },
		SmoothnessWithin: func(z, _ float64) float64 { return math.Exp(z) },
	}
	for _, c := range []struct {
		l          losses.Loss
		labelBound float64
		labels     []float64
		least      float64 // fraction of descent that is reached
	}{
		{losses.Poisson{}, 0.5, []float64{0, 0.5}, 0.9},
		{losses.Poisson{}, 50, []float64{0, 5, 50}, 0.9},
		{steep, 0, []float64{-1, 1}, 0.001},
		{losses.Logistic{}, 0, []float64{-1, 1}, 0.05},
		{losses.Squared{}, 2, []float64{-2, 0, 2}, 0},
	} {
		if d := descent(c.l, c.labelBound); d != 0 {
			t.Errorf("%s: %g, but it isn't negative", c.l.Name(), d)
		}
		for _, limit := range []float64{0.5, 1, 3} {
			l, fastest := losses.Extended{Inner: c.l, Limit: limit}, 0.0
			d := descent(l, c.labelBound)
			for _, y := range c.labels {
				for _, z := range []float64{-1e9, -10, -limit, limit, 10, 1e9} {
					fastest = math.Max(fastest, -l.Value(z, y)/math.Abs(z))
				}
			}
			if fastest > d*(1+1e-12) || fastest < c.least*d {
				t.Errorf("%s: falls at %g, descent %g", l.Name(), fastest, d)
			}
		}
	}
}
