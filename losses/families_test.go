package losses

import (
	"math"
	"testing"
)

// A level's probability is that between two thresholds; all sum to 1, and the most likely
// level rises with the score.
func TestOrdinalProbabilities(t *testing.T) {
	l := Ordinal{Thresholds: []float64{-2, 0, 0.5}}
	for _, z := range []float64{-300, -4, -1, 0.2, 3, 300} {
		var sum, last float64
		for k, p := range l.Probabilities(z) {
			above := 0.0
			if k < len(l.Thresholds) {
				above = sigmoid(z - l.Thresholds[k])
			}
			sum += p
			if math.Abs(sum-(1-above)) > 1e-14 || p < 0 {
				t.Errorf("score %g, level %d: %g so far, want %g", z, k, sum, 1-above)
			}
			last = p
		}
		if z > 3 && last < 0.99 || z < -3 && last > 0.02 {
			t.Errorf("score %g: the last level has %g", z, last)
		}
	}
}

// With two levels the ordinal loss is the logistic one; a level between is the one below, and
// what is beyond the last one counts as it.
func TestOrdinalOfTwoLevels(t *testing.T) {
	l := Ordinal{Thresholds: []float64{0}}
	for _, z := range []float64{-40, -3, 0, 0.7, 12} {
		for _, y := range []float64{0, 0.9, 1, 1.5, 70} {
			sign := 1.0
			if y < 1 {
				sign = -1
			}
			if l.Value(z, y) != (Logistic{}).Value(z, sign) || l.Deriv(z, y) != (Logistic{}).Deriv(z, sign) || l.Curvature(z, y) != (Logistic{}).Curvature(z, sign) {
				t.Errorf("z = %g, y = %g: %g, %g", z, y, l.Value(z, y), l.Deriv(z, y))
			}
		}
	}
}

// As the dispersion vanishes the negative binomial loss becomes Poisson's.
func TestNegativeBinomialTendsToPoisson(t *testing.T) {
	for _, alpha := range []float64{1e-6, 1e-9, 1e-12} {
		l := NegativeBinomial{alpha}
		for _, z := range []float64{-3, 0, 1, 4} {
			for _, y := range []float64{0, 1, 7, 60} {
				scale := 1 + (Poisson{}).Value(z, y) + y
				if v, want := l.Value(z, y), (Poisson{}).Value(z, y); math.Abs(v-want) > (100*alpha*scale+1e-13)*scale {
					t.Errorf("α = %g, z = %g, y = %g: %g, want %g", alpha, z, y, v, want)
				}
				if d, want := l.Deriv(z, y), (Poisson{}).Deriv(z, y); math.Abs(d-want) > (100*alpha*scale+1e-13)*scale {
					t.Errorf("α = %g, z = %g, y = %g: slope %g, want %g", alpha, z, y, d, want)
				}
			}
		}
	}
}

// A diameter is the same number whether it was remembered or computed anew, after another
// took its slot or another loss of the kind was asked.
func TestDiametersAreDeterministic(t *testing.T) {
	for _, pair := range [][2]Loss{{NegativeBinomial{0.5}, NegativeBinomial{2}}, {Gamma{Least: 0.1}, Gamma{Least: 0.1, Ratio: 30}},
		{Ordinal{Thresholds: []float64{0, 1}}, Ordinal{Thresholds: []float64{0, 2}}}, {Probit{}, Probit{}}} {
		a, b := pair[0].Diameter(3.5, 3), pair[1].Diameter(3.5, 3)
		if a2, b2 := pair[0].Diameter(3.5-1.0/1024, 3), pair[1].Diameter(3.5, 3); a != a2 || b != b2 {
			t.Errorf("%s: %g and %g, %s: %g and %g", pair[0].Name(), a, a2, pair[1].Name(), b, b2)
		}
		if pair[0].Name() != pair[1].Name() && a == b {
			t.Errorf("%s and %s have the same diameter", pair[0].Name(), pair[1].Name())
		}
	}
}
