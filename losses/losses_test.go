package losses

import (
	"math"
	"testing"
)

// The formulas of the losses, at points worked out by hand.
func TestValuesAndDerivatives(t *testing.T) {
	for _, c := range []struct {
		loss               Loss
		z, y, value, slope float64
	}{
		{Squared{}, 3, 1, 2, 2},
		{Logistic{}, 0, 1, math.Ln2, -0.5},
		{Logistic{}, 1000, -1, 1000, 1},
		{SquaredHinge{}, 0.5, 1, 0.25, -1},
		{SquaredHinge{}, 2, -1, 9, 6},
		{SquaredHinge{}, 2, 1, 0, 0},
		{SmoothedHinge{0.5}, 2, 1, 0, 0},
		{SmoothedHinge{0.5}, 0.75, 1, 0.0625, -0.5},
		{SmoothedHinge{0.5}, -1, 1, 1.75, -1},
		{Huber{2}, 3, 2, 0.5, 1},
		{Huber{2}, 3, -2, 8, 2},
		{Huber{2}, -3, 2, 8, -2},
		{Poisson{}, 0, 0, 1, 1},
		{Poisson{}, 0, 1, 0, 0},
		{Poisson{}, math.Log(5), 5, 0, 0},
		{Poisson{}, 0, 3, 1 + 3*math.Log(3) - 3, -2},
		{CappedPoisson{5}, 0, 3, 1 + 3*math.Log(3) - 3, -2},
		{CappedPoisson{5}, math.Log(5), 5, 0, 0},
		{CappedPoisson{5}, math.Log(5) + 2, 5, 0, 0},
		{CappedPoisson{5}, math.Log(5) + 2, 1, 5 - math.Log(5) - 1 + 2*4, 4},
		{CappedPoisson{5}, math.Log(7), 7, 0, 0},
		{CappedPoisson{5}, math.Log(6), 7, 6 - 7*math.Log(6) + 7*math.Log(7) - 7, -1},
		{CappedPoisson{5}, 9, 7, 0, 0},
		{NegativeBinomial{0.5}, 0, 0, 2 * math.Log(1.5), 1 / 1.5},
		{NegativeBinomial{0.5}, math.Log(5), 5, 0, 0},
		{NegativeBinomial{0.5}, 0, 4, 6*math.Log(1.5) + 4*math.Log(4) - 6*math.Log(3), -2},
		{NegativeBinomial{0.5}, 2000, 4, 4*math.Log(4) - 6*math.Log(3) + 6*math.Log(0.5) + 2*2000, 2},
		{NegativeBinomial{0.5}, -2000, 4, 4*math.Log(4) - 6*math.Log(3) + 4*2000, -4},
		{NegativeBinomial{1e-40}, 0, 3, 1 + 3*math.Log(3) - 3, -2},
		{Gamma{Least: 0.5}, 0, 2, 1 - math.Ln2, -1},
		{Gamma{Least: 0.5}, math.Log(2), 2, 0, 0},
		{Gamma{Least: 0.5}, 3, 0, 2 + 0.5*math.Exp(-3) + math.Ln2, 1 - 0.5*math.Exp(-3)},
		{Gamma{Least: 0.5, Ratio: 4}, 0, 4, 3 - math.Log(4), -3},
		{Gamma{Least: 0.5, Ratio: 4}, 0, 8, 3 - math.Log(4) + 3*math.Ln2, -3},
		{Gamma{Least: 0.5, Ratio: 4}, -2000, 1, 3 - math.Log(4) + 3*(2000-math.Log(4)), -3},
		{Probit{}, 0, 1, math.Ln2, -math.Sqrt(2 / math.Pi)},
		{Ordinal{Thresholds: []float64{0}}, 0, 0, math.Ln2, 0.5},
		{Ordinal{Thresholds: []float64{0, math.Log(9)}}, math.Log(3), 0, math.Log(4), 0.75},
		{Ordinal{Thresholds: []float64{0, math.Log(9)}}, math.Log(3), 1, math.Ln2, 0},
		{Ordinal{Thresholds: []float64{0, math.Log(9)}}, math.Log(3), 7, math.Log(4), -0.75},
		{Ordinal{Thresholds: []float64{0, 1}}, 2000, 1, 1999 - math.Log1p(-math.Exp(-1)), 1},
		{Hinge{}, 0.5, 1, 0.5, -1},
		{Hinge{}, 0.5, -1, 1.5, 1},
		{Hinge{}, 1, 1, 0, 0},
		{Absolute{}, 3, 1, 2, 1},
		{Absolute{}, -3, 1, 4, -1},
		{Absolute{}, 1, 1, 0, 0},
		{Quantile{0.9}, 1, 3, 1.8, -0.9},
		{Quantile{0.9}, 3, 1, 0.2, 0.1},
		{Quantile{0.9}, 1, 1, 0, 0},
		{envelopeOf(Hinge{}, 2), 0, 1, 0.25, -0.5},
		{envelopeOf(Hinge{}, 2), 3, -1, 3, 1},
		{envelopeOf(Hinge{}, 2), 3, 1, 0, 0},
		{envelopeOf(Absolute{}, 0.5), 3, 1, 1.75, 1},
		{envelopeOf(Absolute{}, 0.5), 0.75, 1, 0.0625, -0.5},
		{envelopeOf(Quantile{0.75}, 2), 0, 3, 1.6875, -0.75},
		{envelopeOf(Quantile{0.75}, 2), 2, 3, 0.25, -0.5},
		{envelopeOf(Quantile{0.75}, 2), 2, 0, 0.4375, 0.25},
		{extend(Squared{}, 2), 3, 0, 4, 2},
		{extend(Squared{}, 2), 1, 0, 0.5, 1},
		{extend(Poisson{}, 1), 3, 2, math.E - 2 + 2*math.Ln2 - 2 + 2*(math.E-2), math.E - 2},
	} {
		value, slope := c.loss.Value(c.z, c.y), c.loss.Deriv(c.z, c.y)
		if math.Abs(value-c.value) > 1e-14*(1+c.value) || math.Abs(slope-c.slope) > 1e-14*(1+math.Abs(c.slope)) {
			t.Errorf("%s at z = %g, y = %g: %g and slope %g, want %g and %g", c.loss.Name(), c.z, c.y, value, slope, c.value, c.slope)
		}
	}
}

func TestNamesDomainsAndLinks(t *testing.T) {
	for _, c := range []struct {
		loss   Loss
		name   string
		labels Labels
		link   Link
	}{
		{Squared{}, "squared", Real, Identity},
		{Logistic{}, "logistic", Binary, Logit},
		{SquaredHinge{}, "squared hinge", Binary, Identity},
		{SmoothedHinge{0.5}, "smoothed hinge(0.5)", Binary, Identity},
		{Huber{1.345}, "huber(1.345)", Real, Identity},
		{Poisson{}, "poisson", Count, Log},
		{CappedPoisson{5}, "poisson capped at 5", Count, Log},
		{Probit{}, "probit", Binary, ProbitLink},
		{NegativeBinomial{0.5}, "negative binomial(0.5)", Count, Log},
		{Gamma{Least: 0.5}, "gamma above 0.5", Amount, Log},
		{Gamma{Least: 0.5, Ratio: 20}, "gamma above 0.5, linear beyond 20 means", Amount, Log},
		{Ordinal{Thresholds: []float64{-1, 0.5}}, "ordinal[-1 0.5]", Count, Identity},
		{extend(Probit{}, 3), "probit extended at 3", Binary, ProbitLink},
		{Hinge{}, "hinge", Binary, Identity},
		{Absolute{}, "absolute", Real, Identity},
		{Quantile{0.9}, "quantile(0.9)", Real, Identity},
		{envelopeOf(Hinge{}, 0.1), "hinge smoothed over 0.1", Binary, Identity},
		{envelopeOf(Absolute{}, 0.01), "absolute smoothed over 0.01", Real, Identity},
		{extend(Poisson{}, 3), "poisson extended at 3", Count, Log},
		{userPoisson, "user's poisson", Count, Identity},
	} {
		if c.loss.Name() != c.name || c.loss.Labels() != c.labels || LinkOf(c.loss) != c.link {
			t.Errorf("%s, %s, %s; want %s, %s, %s", c.loss.Name(), c.loss.Labels(), LinkOf(c.loss), c.name, c.labels, c.link)
		}
	}
}

// No point in the box breaks a constant, and some point nearly attains each
// constant of the built-in losses.
func TestConstantsAreBoundsAndTight(t *testing.T) {
	s := newSearcher(1)
	for _, c := range cases() {
		k := c.loss.Constants(c.z, c.y)
		verify := func(what string, found, bound float64, attained bool) {
			t.Helper()
			if !(found <= bound*(1+1e-9)) || math.IsNaN(bound) {
				t.Errorf("%v: %s is %g, found %g", c, what, bound, found)
			}
			if attained && !c.slack && found < 0.99*bound {
				t.Errorf("%v: %s is %g, found only %g", c, what, bound, found)
			}
		}
		verify("AtZero", s.maximise(1, 100, func(u []float64) float64 {
			return c.loss.Value(0, c.label(u[0]))
		}), k.AtZero, true)
		verify("Value", s.maximise(2, 200, func(u []float64) float64 {
			return c.loss.Value(c.z*u[0], c.label(u[1]))
		}), k.Value, true)
		verify("Slope", s.maximise(2, 200, func(u []float64) float64 {
			return math.Abs(c.loss.Deriv(c.z*u[0], c.label(u[1])))
		}), k.Slope, true)
		if c.smooth() {
			h := 1e-4 * c.z
			verify("Smoothness", s.maximise(2, 300, func(u []float64) float64 {
				z, y := (c.z-h)*u[0], c.label(u[1])
				if c.loss.Labels() == Real && math.Abs(z) <= c.y {
					y = z
				}
				return (c.loss.Deriv(z+h, y) - c.loss.Deriv(z-h, y) - 1e-12*k.Slope) / (2 * h)
			}), k.Smoothness, c.z > 0.6)
		}
		if !math.IsInf(k.Lipschitz, 1) {
			verify("Lipschitz", s.maximise(2, 200, func(u []float64) float64 {
				return math.Abs(c.loss.Deriv(math.Copysign(math.Exp(10*math.Abs(u[0])), u[0])*(c.z+c.y), c.label(u[1])))
			}), k.Lipschitz, true)
		}
	}
}

// φ lies above its tangents, which with φ' nowhere decreasing makes it convex
// and φ' a (sub)gradient, and it is not negative.
func TestConvexAndNonNegative(t *testing.T) {
	s := newSearcher(2)
	for _, c := range cases() {
		k := c.loss.Constants(c.z, c.y)
		tolerance := 1e-13 * (k.Value + k.Slope*c.z)
		for range 500 {
			a, b, y := c.z*s.uniform(), c.z*s.uniform(), c.label(s.uniform())
			if gap := c.loss.Value(b, y) - c.loss.Value(a, y) - c.loss.Deriv(a, y)*(b-a); gap < -tolerance {
				t.Fatalf("%v: at %g, label %g, the loss is %g under its tangent from %g", c, b, y, -gap, a)
			}
			e, extends := c.loss.(Extended)
			if c.loss.Value(a, y) < 0 && !(extends && math.Abs(a) > e.Limit) {
				t.Fatalf("%v: negative at score %g, label %g", c, a, y)
			}
		}
	}
}

// Constants stay finite for wide score ranges, or become +Inf where Poisson's
// overflow; none is ever NaN.
func TestConstantsOfWideRanges(t *testing.T) {
	for _, l := range append([]Loss{extend(Poisson{}, 5), CappedPoisson{1}, CappedPoisson{1e60}, userSquared, userLogistic, userPoisson}, builtin...) {
		for _, z := range []float64{0, 1e-300, 1e-9, 1, 300, 1000} {
			for _, y := range []float64{1e-60, 1, 1e60} {
				k := l.Constants(z, y)
				d := l.Diameter(z, y)
				overflows := l.Labels() == Count && z > 700 && LinkOf(l) == Log && l.Name() == "poisson" || z > 700 && l.Labels() == Amount || l.Name() == "user's poisson" && z > 700
				for _, v := range []float64{k.AtZero, k.Value, k.Slope, d} {
					if math.IsNaN(v) || v < 0 || math.IsInf(v, 1) && !overflows {
						t.Errorf("%s, z = %g, y = %g: %+v, diameter %g", l.Name(), z, y, k, d)
						break
					}
				}
				if math.IsNaN(k.Smoothness) || math.IsNaN(k.Lipschitz) {
					t.Errorf("%s, z = %g, y = %g: %+v", l.Name(), z, y, k)
				}
			}
		}
	}
}

// At any size of z opposite rows across w, tilted by 60/z, attain a diameter of 2.
func TestLogisticDiameterAtLargeScores(t *testing.T) {
	for _, z := range []float64{1e6, 1e19, 1e25, 1e60} {
		if d := (Logistic{}).Diameter(z, 0); !(d >= 2*(1-2*60/z)) || d > 2*(1+1e-12) {
			t.Errorf("Diameter(%g) = %.15g", z, d)
		}
	}
}
