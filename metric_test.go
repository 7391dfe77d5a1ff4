package dpglm

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// A step solves with the damped matrix, its negative eigenvalues set to zero: here
// (2, 1; 1, 2) has 3 and 1, (0, 2; 2, 0) has 2 and −2.
func TestMetric(t *testing.T) {
	for _, c := range []struct {
		m              []float64
		scale, damping float64
		ridge          float64
		g, want        []float64
	}{
		{[]float64{2, 1, 1, 2}, 1, 0, 0, []float64{3, 3}, []float64{1, 1}},
		{[]float64{2, 1, 1, 2}, 2, 1, 4, []float64{3, 3}, []float64{0.25, 0.25}},
		{[]float64{0, 2, 2, 0}, 1, 1, 0, []float64{3, 3}, []float64{1, 1}},
		{[]float64{0, 2, 2, 0}, 1, 1, 0, []float64{3, -3}, []float64{3, -3}},
		{nil, 4, 0, 2, []float64{3, -6}, []float64{0.5, -1}},
	} {
		v := roundMetric(c.scale)
		if c.m != nil {
			var ok bool
			if v, ok = newMetric(mat.NewSymDense(2, c.m), c.scale, c.damping); !ok {
				t.Fatal("no eigenvalues")
			}
		}
		w := []float64{10, 20}
		v.step(w, slices.Clone(c.g), c.ridge)
		if got := []float64{10 - w[0], 20 - w[1]}; !floats.EqualApprox(got, c.want, 1e-14) {
			t.Errorf("%+v: step %v", c, got)
		}
	}
}
