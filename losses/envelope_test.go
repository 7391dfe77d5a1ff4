package losses

import (
	"math"
	"testing"
)

// kinked are the losses that Envelope smooths, with the larger of their slopes.
var kinked = []struct {
	loss  Loss
	slope float64
}{
	{Hinge{}, 1}, {Absolute{}, 1}, {Quantile{0.05}, 0.95}, {Quantile{0.5}, 0.5}, {Quantile{0.8}, 0.8},
}

// The envelope is the minimum that defines it, found here by ternary search, and
// its derivative is (z−u)/h at the minimiser u.
func TestEnvelopeIsItsDefinition(t *testing.T) {
	s := newSearcher(5)
	for _, k := range kinked {
		for _, h := range []float64{0.01, 0.5, 1, 7} {
			e := envelopeOf(k.loss, h)
			b := testCase{e, 6, 4, false}
			for range 200 {
				z, y := b.z*s.uniform(), b.label(s.uniform())
				cost := func(u float64) float64 { return k.loss.Value(u, y) + (u-z)*(u-z)/(2*h) }
				lo, hi := z-2*h, z+2*h
				for range 120 {
					if m := (hi - lo) / 3; cost(lo+m) < cost(hi-m) {
						hi -= m
					} else {
						lo += m
					}
				}
				u := (lo + hi) / 2
				if v := e.Value(z, y); math.Abs(v-cost(u)) > 1e-12*(1+v) {
					t.Fatalf("%s, z = %g, y = %g: %g, the minimum is %g", e.Name(), z, y, v, cost(u))
				}
				// Near its minimum the cost is flat: rounding of 1e-15 in it
				// moves the minimiser by up to √(1e-15·h).
				if d := e.Deriv(z, y); math.Abs(d-(z-u)/h) > 4e-7/math.Sqrt(h) {
					t.Fatalf("%s, z = %g, y = %g: slope %g, the minimiser's is %g", e.Name(), z, y, d, (z-u)/h)
				}
			}
		}
	}
}

// The envelope lies under the loss by at most h·slope²/2, which it nearly
// attains.
func TestEnvelopeGap(t *testing.T) {
	s := newSearcher(6)
	for _, k := range kinked {
		for _, h := range []float64{0.01, 0.5, 7} {
			e := envelopeOf(k.loss, h)
			b := testCase{e, 12, 4, false}
			var largest float64
			for range 2000 {
				z, y := b.z*s.uniform(), b.label(s.uniform())
				gap := k.loss.Value(z, y) - e.Value(z, y)
				if gap < -1e-14 {
					t.Fatalf("%s is above the loss by %g at z = %g, y = %g", e.Name(), -gap, z, y)
				}
				largest = max(largest, gap)
			}
			if bound := h * k.slope * k.slope / 2; largest > bound+1e-14 || largest < 0.99*bound {
				t.Errorf("%s: largest gap %g, want just under %g", e.Name(), largest, bound)
			}
		}
	}
}

// Up to width 1 the hinge loss's envelope is SmoothedHinge.
func TestEnvelopeOfHingeIsSmoothedHinge(t *testing.T) {
	s := newSearcher(7)
	for _, h := range []float64{0.01, 0.5, 1} {
		a, b := envelopeOf(Hinge{}, h), SmoothedHinge{h}
		for range 500 {
			z, y := 4*s.uniform(), math.Copysign(1, s.uniform())
			if v, w := a.Value(z, y), b.Value(z, y); math.Abs(v-w) > 1e-14*(1+w) {
				t.Fatalf("h = %g, z = %g, y = %g: %g, want %g", h, z, y, v, w)
			}
			if v, w := a.Deriv(z, y), b.Deriv(z, y); math.Abs(v-w) > 1e-14 {
				t.Fatalf("h = %g, z = %g, y = %g: slope %g, want %g", h, z, y, v, w)
			}
		}
		if v, w := a.Constants(3, 1), b.Constants(3, 1); v != w || a.Diameter(3, 1) != b.Diameter(3, 1) {
			t.Errorf("h = %g: %+v, diameter %g; want %+v, 2", h, v, a.Diameter(3, 1), w)
		}
	}
}

// Nothing but a bare kinked loss is smoothed.
func TestEnvelopeLeavesOthersAlone(t *testing.T) {
	for _, l := range []Loss{Squared{}, Logistic{}, SquaredHinge{}, SmoothedHinge{0.5}, Huber{1}, Poisson{}, extend(Hinge{}, 2), envelopeOf(Hinge{}, 1), nil} {
		if e, ok := Envelope(l, 0.1); ok || e != l {
			t.Errorf("%T: got %T, %t", l, e, ok)
		}
	}
	if e, ok := Envelope(userLogistic, 0.1); ok || e.Name() != userLogistic.Name() {
		t.Errorf("user's loss: got %T, %t", e, ok)
	}
}
