package labelsonly

import (
	"math"
	"testing"
)

// Slopes are the derivatives of means, and, as links are canonical, variances.
func TestFamilies(t *testing.T) {
	const h, off = 1e-5, 1e-7
	for name, f := range map[string]family{"two classes": twoClasses{}, "numbers": numbers{}, "several": newSeveral(4)} {
		c := f.columns()
		at := []float64{.3, -.7, 1.1}[:c]
		mean, slope, variance := make([]float64, c), make([]float64, c*c), make([]float64, c*c)
		above, below, rest := make([]float64, c), make([]float64, c), make([]float64, c*c)
		f.tell(at, mean, slope, variance)
		for j := range at {
			was := at[j]
			at[j] = was + h
			f.tell(at, above, rest, rest)
			at[j] = was - h
			f.tell(at, below, rest, rest)
			at[j] = was
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
