package estimate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// Means over a normal law are those of its density times the function, summed over a fine grid, which errs by no more than rounding for functions as
// smooth as these; and the score that has a given mean has it.
func TestLogisticNormalByQuadrature(t *testing.T) {
	for _, r := range []float64{0, 0.5, 1, 2, 4} {
		for _, b := range []float64{-3, 0, 0.7, 2} {
			l := logistic{b, r}
			var mean, projection, curvature float64
			const step = 1.0 / 64
			for z := -12.0; z <= 12; z += step {
				p, weight := 1/(1+math.Exp(-b-r*z)), step*distuv.UnitNormal.Prob(z)
				mean += weight * p
				projection += weight * z * p
				curvature += weight * p * (1 - p)
			}
			room := 1e-12
			if r > 1 { // poles come near the real line
				room = 1e-4
			}
			for name, c := range map[string][2]float64{"mean": {l.mean(), mean}, "projection": {l.projection(), projection}, "curvature": {l.curvature(), curvature}} {
				if math.Abs(c[0]-c[1]) > room {
					t.Errorf("b = %g, r = %g: a %s of %.14g, by quadrature %.14g", b, r, name, c[0], c[1])
				}
			}
			if of := l.withMean(0.3, r); of.r != r || math.Abs(of.mean()-0.3) > 1e-9 {
				t.Errorf("b = %g, r = %g: %+v has a mean of %g", b, r, of, of.mean())
			}
		}
	}
}

// The quantile is that of the χ² law, within a fortieth over its dimension, and a thousandth.
func TestChiSquaredQuantile(t *testing.T) {
	for _, dim := range []int{1, 2, 3, 10, 100, 1000} {
		room := 0.025/float64(dim) + 1e-3
		if got, want := chiSquared95(dim), (distuv.ChiSquared{K: float64(dim)}).Quantile(0.95); math.Abs(got/want-1) > room {
			t.Errorf("%d: %g, want %g", dim, got, want)
		}
	}
}
