package losses

import (
	"math"
	"testing"
)

// Far out in the tails, to 17 digits by exact arithmetic: log Φ(t) and φ(t)/Φ(t).
func TestProbitTails(t *testing.T) {
	for _, c := range []struct{ t, value, slope float64 }{
		{5, 2.8665161296376359e-7, 1.4867199409049057e-6},
		{-10, 53.231285150512471, 10.098093233962512},
		{-20, 203.91715537109726, 20.049753068527850},
		{-40, 804.60844201375379, 40.024968847207264},
		{-1e8, 5e15, 1e8},
	} {
		if v := (Probit{}).Value(-c.t, -1); math.Abs(v-c.value) > 1e-14*c.value {
			t.Errorf("−log Φ(%g) = %.17g, want %.17g", c.t, v, c.value)
		}
		if d := (Probit{}).Deriv(c.t, 1); math.Abs(d+c.slope) > 3e-14*c.slope {
			t.Errorf("slope %.17g at %g, want −%.17g", d, c.t, c.slope)
		}
	}
	if h := (Probit{}).Curvature(-1e6, 1); !(1-h < 2e-12 && h <= 1) {
		t.Errorf("curvature %.17g far out, want 1 − 1e-12", h)
	}
	if d := (Probit{}).Deriv(60, 1); d != 0 {
		t.Errorf("slope %g at 60", d)
	}
}

// In the middle the functions agree with the standard library's, across the seams of their
// forms, and the curvature falls everywhere.
func TestProbitInTheMiddle(t *testing.T) {
	last := 1.0
	for k := -5000; k <= 5000; k++ {
		x := float64(k) / 1000
		cdf := math.Erfc(-x/math.Sqrt2) / 2
		value, slope := -math.Log(cdf), math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)/cdf
		if x > 1 {
			value = -math.Log1p(-math.Erfc(x/math.Sqrt2) / 2)
		}
		if v := (Probit{}).Value(x, 1); math.Abs(v-value) > 2e-14*value {
			t.Fatalf("value %.17g at %g, want %.17g", v, x, value)
		}
		if d := (Probit{}).Deriv(x, 1); math.Abs(d+slope) > 1e-13*slope {
			t.Fatalf("slope %.17g at %g, want −%.17g", d, x, slope)
		}
		h := (Probit{}).Curvature(x, 1)
		if !(h < last*(1+1e-13)) {
			t.Fatalf("curvature %.17g at %g, after %.17g", h, x, last)
		}
		last = h
	}
}

// A mean is the probability that the loss is of.
func TestProbitLinkIsTheLoss(t *testing.T) {
	for _, z := range []float64{-30, -3, -0.5, 0, 2, 9} {
		for _, sign := range []float64{1, -1} {
			p := ProbitLink.Mean(sign * z)
			if want := math.Exp(-Probit{}.Value(z, sign)); math.Abs(p-want) > 1e-12*want {
				t.Errorf("Φ(%g) = %g, by the loss %g", sign*z, p, want)
			}
		}
	}
}
