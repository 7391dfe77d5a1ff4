package labelsonly

import (
	"math"
	"testing"
)

// Slopes are the derivatives of means, and, as links are canonical, variances; of one column growths are those of slopes.
func TestFamilies(t *testing.T) {
	const h, off = 1e-5, 1e-7
	for name, f := range map[string]family{"two classes": twoClasses{}, "numbers": numbers{}, "counts": counts{50}, "several": newSeveral(4)} {
		c := f.columns()
		at := []float64{.3, -.7, 1.1}[:c]
		mean, slope, variance := make([]float64, c), make([]float64, c*c), make([]float64, c*c)
		above, below, rest := make([]float64, c), make([]float64, c), make([]float64, c*c)
		f.tell(at, mean, slope, variance)
		for j := range at {
			was := at[j]
			at[j] = was + h
			f.tell(at, above, rest, variance)
			grown := rest[0]
			at[j] = was - h
			f.tell(at, below, rest, variance)
			if f, one := f.(single); one {
				if got, want := f.growth(mean[0], slope[0]), (grown-rest[0])/(2*h); math.Abs(got-want) > off {
					t.Errorf("%s: growth is %g, want %g", name, got, want)
				}
			}
			at[j] = was
			f.tell(at, mean, slope, variance)
			for i := range c {
				if got, want := slope[i*c+j], (above[i]-below[i])/(2*h); math.Abs(got-want) > off {
					t.Errorf("%s: slope %d, %d is %g, want %g", name, i, j, got, want)
				}
				if variance[i*c+j] != slope[i*c+j] {
					t.Errorf("%s: variance %d, %d is %g, want %g", name, i, j, variance[i*c+j], slope[i*c+j])
				}
			}
		}
	}
}

// Means of counts grow to where the loss holds them, whatever scores are, and stay numbers.
func TestCountsAreHeld(t *testing.T) {
	var mean, slope, variance [1]float64
	for _, c := range []struct{ score, mean, slope float64 }{{math.Log(7), 7, 7}, {math.Log(9), 8, 0}, {1e6, 8, 0}, {-1e6, 0, 0}, {math.NaN(), 8, 0}} {
		counts{8}.tell([]float64{c.score}, mean[:], slope[:], variance[:])
		if !alikeTo(mean[0], c.mean) || !alikeTo(slope[0], c.slope) || !alikeTo(variance[0], c.mean) {
			t.Errorf("at %g: mean %g, slope %g, variance %g, want %g, %g, %g", c.score, mean[0], slope[0], variance[0], c.mean, c.slope, c.mean)
		}
	}
}
