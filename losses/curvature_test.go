package losses

import (
	"math"
	"testing"
)

// The curvatures, at points worked out by hand.
func TestCurvatures(t *testing.T) {
	for _, c := range []struct {
		loss       Loss
		z, y, want float64
	}{
		{Squared{}, 3, 1, 1},
		{Logistic{}, 0, 1, 0.25},
		{Logistic{}, math.Log(3), -1, 0.1875},
		{Logistic{}, 40, 1, math.Exp(-40)},
		{Logistic{}, -40, 1, math.Exp(-40)},
		{Logistic{}, 1e4, 1, 0},
		{SquaredHinge{}, 0.5, 1, 2},
		{SquaredHinge{}, 2, -1, 2},
		{SquaredHinge{}, 2, 1, 0},
		{SmoothedHinge{0.5}, 0.75, 1, 2},
		{SmoothedHinge{0.5}, 0.25, 1, 0},
		{SmoothedHinge{0.5}, 2, 1, 0},
		{Huber{2}, 3, 2, 1},
		{Huber{2}, 3, 0, 0},
		{Huber{2}, -3, 0, 0},
		{Poisson{}, 0, 5, 1},
		{Poisson{}, -2, 0, math.Exp(-2)},
		{CappedPoisson{5}, -2, 0, math.Exp(-2)},
		{CappedPoisson{5}, 1.6, 0, math.Exp(1.6)},
		{CappedPoisson{5}, 1.7, 0, 0},
		{CappedPoisson{5}, 1.7, 6, math.Exp(1.7)},
		{CappedPoisson{5}, 1.8, 6, 0},
		{NegativeBinomial{0.5}, math.Log(6), 1, 1.5 * 6 / 16},
		{NegativeBinomial{0.5}, 800, 1, 0},
		{Gamma{Least: 0.5}, math.Log(4), 2, 0.5},
		{Gamma{Least: 0.5}, math.Log(4), 0, 0.125},
		{Gamma{Least: 0.5, Ratio: 2}, 0, 3, 0},
		{Probit{}, 0, 1, 2 / math.Pi},
		{Ordinal{Thresholds: []float64{0, math.Log(9)}}, math.Log(3), 1, 0.375},
		{Ordinal{Thresholds: []float64{0, math.Log(9)}}, math.Log(3), 2, 0.1875},
		{envelopeOf(Hinge{}, 2), 0, 1, 0.5},
		{envelopeOf(Hinge{}, 2), 3, -1, 0},
		{envelopeOf(Hinge{}, 2), 3, 1, 0},
		{envelopeOf(Quantile{0.75}, 2), 2, 3, 0.5},
		{envelopeOf(Quantile{0.75}, 2), 1, 3, 0},
		{envelopeOf(Quantile{0.75}, 2), 3, 2, 0},
		{extend(Squared{}, 2), 2, 0, 1},
		{extend(Squared{}, 2), 2.1, 0, 0},
		{extend(Poisson{}, 2), -2.1, 0, 0},
		{extend(extend(Poisson{}, 2), 1), 0.5, 0, math.Exp(0.5)},
		{extend(extend(Poisson{}, 2), 1), 1.5, 0, 0},
		{extend(envelopeOf(Absolute{}, 2), 3), 1, 2, 0.5},
	} {
		curvature, ok := CurvatureOf(c.loss)
		if !ok {
			t.Errorf("%s: no curvature", c.loss.Name())
			continue
		}
		if got := curvature(c.z, c.y); math.Abs(got-c.want) > 1e-14*c.want {
			t.Errorf("%s at z = %g, y = %g: %g, want %g", c.loss.Name(), c.z, c.y, got, c.want)
		}
	}
}

// Losses whose derivative jumps have no curvature, nor has a user's.
func TestNoCurvature(t *testing.T) {
	for _, l := range []Loss{Hinge{}, Absolute{}, Quantile{0.3}, userSquared, extend(Hinge{}, 2), extend(userPoisson, 2), extend(extend(Absolute{}, 2), 1), nil} {
		if f, ok := CurvatureOf(l); ok || f != nil {
			t.Errorf("%T has a curvature", l)
		}
	}
}

// The curvature is the slope of φ', from one side at least; it is never negative,
// exceeds Smoothness nowhere, and some point attains that.
func TestCurvatureIsTheSlopeOfTheDerivative(t *testing.T) {
	s := newSearcher(8)
	for _, c := range cases() {
		curvature, ok := CurvatureOf(c.loss)
		if !ok {
			continue
		}
		k := c.loss.Constants(c.z, c.y)
		const step = 1e-4
		for range 100 {
			z, y := c.z*s.uniform(), c.label(s.uniform())
			got, d := curvature(z, y), c.loss.Deriv(z, y)
			right := (c.loss.Deriv(z+step, y) - d) / step
			left := (d - c.loss.Deriv(z-step, y)) / step
			// Where φ'' exists |φ'''| ≤ (1 + |z|)φ'', or without |z| but for the probit
			// loss; rounding moves z and φ' by a few units in the last place.
			tolerance := step*got + 1e-15*(1+math.Abs(d)+(c.z+c.y)*(1+k.Smoothness))/step
			if LinkOf(c.loss) == ProbitLink {
				tolerance += step * got * math.Abs(z)
			}
			if math.Min(math.Abs(got-right), math.Abs(got-left)) > tolerance {
				t.Fatalf("%v: at z = %g, label %g, the curvature is %g, the slope of φ' %g and %g", c, z, y, got, left, right)
			}
		}
		largest := s.maximise(2, 200, func(u []float64) float64 {
			z, y := c.z*u[0], c.label(u[1])
			if c.loss.Labels() == Real && math.Abs(z) <= c.y {
				y = z
			}
			got := curvature(z, y)
			if !(got >= 0 && got <= k.Smoothness) {
				t.Fatalf("%v: at z = %g, label %g, the curvature is %g, not in [0, %g]", c, z, y, got, k.Smoothness)
			}
			return got
		})
		if !c.slack && c.z > 0.6 && largest < 0.99*k.Smoothness {
			t.Errorf("%v: smoothness %g, found only %g", c, k.Smoothness, largest)
		}
	}
}

// Rounding takes the logistic loss's curvature nowhere above ¼.
func TestLogisticCurvatureNearZero(t *testing.T) {
	for e := -18.0; e <= 0; e += 1e-4 {
		if v := (Logistic{}).Curvature(math.Pow(10, e), 1); !(v > 0 && v <= 0.25) {
			t.Fatalf("%g at z = 1e%g", v, e)
		}
	}
}
