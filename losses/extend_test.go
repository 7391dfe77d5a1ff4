package losses

import (
	"math"
	"testing"
)

// Within the limit the extension is the loss, beyond it the tangent at the limit.
func TestExtendIsTheTangentBeyondTheLimit(t *testing.T) {
	for _, l := range builtin {
		const limit = 1.25
		e := extend(l, limit)
		for _, y := range []float64{-1, 1, 2} {
			if l.Labels() == Binary && y == 2 || l.Labels() == Count && y < 0 {
				continue
			}
			for _, z := range []float64{-limit, -0.4, 0, 1, limit} {
				if e.Value(z, y) != l.Value(z, y) || e.Deriv(z, y) != l.Deriv(z, y) {
					t.Errorf("%s, z = %g, y = %g: differs within the limit", e.Name(), z, y)
				}
			}
			for _, z := range []float64{-40, -1.5, 1.5, 40} {
				at := math.Copysign(limit, z)
				want := l.Value(at, y) + l.Deriv(at, y)*(z-at)
				if e.Deriv(z, y) != l.Deriv(at, y) || math.Abs(e.Value(z, y)-want) > 1e-13*(1+math.Abs(want)) {
					t.Errorf("%s, z = %g, y = %g: not the tangent", e.Name(), z, y)
				}
			}
		}
	}
}

// Beyond the limit smoothness and slope stay those at the limit.
func TestExtendBoundsSlopeAndSmoothness(t *testing.T) {
	at, beyond := Poisson{}.Constants(2, 5), extend(Poisson{}, 2).Constants(100, 5)
	if beyond.Slope != at.Slope || beyond.Lipschitz != at.Slope || beyond.Smoothness != at.Smoothness || beyond.AtZero != at.AtZero {
		t.Errorf("beyond the limit %+v, at it %+v", beyond, at)
	}
	if want := at.Value + 98*at.Slope; math.Abs(beyond.Value-want) > 1e-12*want {
		t.Errorf("value bound %g, want %g", beyond.Value, want)
	}
	if k := extend(Logistic{}, 2).Constants(1, 0); k.Lipschitz != sigmoid(2) || k.Slope != sigmoid(1) {
		t.Errorf("logistic: %+v", k)
	}
}

// The documented exception: a falling tangent ends below zero.
func TestExtendedValueMayBeNegative(t *testing.T) {
	if v := extend(Logistic{}, 3).Value(10, 1); v >= 0 {
		t.Errorf("logistic loss extended at 3 is %g at score 10", v)
	}
}

func extend(l Loss, limit float64) Loss { return Extended{Inner: l, Limit: limit} }
