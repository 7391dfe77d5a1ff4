package table

import (
	"math"
	"testing"
)

// truncated is the B-spline that begins at knot i, by the recurrence as textbooks have
// it, for knots of any multiplicity.
func truncated(knots []float64, i, degree int, u float64) float64 {
	if degree == 0 {
		last := knots[i+1] == knots[len(knots)-1] && u == knots[i+1] && knots[i] < knots[i+1]
		return indicator(knots[i] <= u && u < knots[i+1] || last)
	}
	var v float64
	if w := knots[i+degree] - knots[i]; w > 0 {
		v += (u - knots[i]) / w * truncated(knots, i, degree-1, u)
	}
	if w := knots[i+degree+1] - knots[i+1]; w > 0 {
		v += (knots[i+degree+1] - u) / w * truncated(knots, i+1, degree-1, u)
	}
	return v
}

// The splines are the textbook's, are not negative, and sum to 1.
func TestSplines(t *testing.T) {
	for _, inner := range [][]float64{{0}, {-.9, -.85, .3}, {-.5, -.25, 0, .25, .5, .999}} {
		b := newBasis(inner)
		for k := range 401 {
			u := min(1, -1+float64(k)/200)
			first, values := b.at(u)
			var sum float64
			for i := range len(inner) + degree + 1 {
				var got float64
				if j := i - first; j >= 0 && j <= degree {
					got = values[j]
				}
				sum += got
				if want := truncated(b.knots, i, degree, u); math.Abs(got-want) > 1e-13 || got < 0 {
					t.Fatalf("knots %v: function %d at %g is %g, want %g", inner, i, u, got, want)
				}
			}
			if math.Abs(sum-1) > 1e-13 {
				t.Fatalf("knots %v: the functions sum to %g at %g", inner, sum, u)
			}
		}
	}
}

// The bends are where the schema puts them: the logarithm's at the knots' logarithms.
func TestKnotsAreInTheColumnsUnits(t *testing.T) {
	e := encoder(t, `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[1,10000],"log":true,"knots":[10,1000]}]}`)
	if got := e.splines[0].knots[4:6]; math.Abs(got[0]+.5) > 1e-15 || math.Abs(got[1]-.5) > 1e-15 {
		t.Errorf("knots %v, want ±0.5", got)
	}
}
