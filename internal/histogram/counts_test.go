package histogram

import (
	"math"
	"testing"
)

// An area counts pairs of a one above a zero, and half of those within a cell.
func TestAUC(t *testing.T) {
	for _, c := range []struct {
		ones, zeros []float64
		want        float64
	}{
		{[]float64{0, 3}, []float64{5, 0}, 1},
		{[]float64{3, 0}, []float64{0, 5}, 0},
		{[]float64{2}, []float64{7}, 0.5},
		{[]float64{1, 2, 1}, []float64{2, 1, 1}, (1*1 + 2*2.5 + 1*3.5) / 16.0},
	} {
		if got := AUC(c.ones, c.zeros); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("ones %v, zeros %v: %g, want %g", c.ones, c.zeros, got, c.want)
		}
	}
}

// The nearest counts that are not negative keep the sum, and take the same from all that stay.
func TestNonnegative(t *testing.T) {
	got := Nonnegative([]float64{5, -2, 1, 4}, 8)
	var sum float64
	for _, v := range got {
		sum += v
	}
	if want := [4]float64{5 - 2.0/3, 0, 1 - 2.0/3, 4 - 2.0/3}; math.Abs(sum-8) > 1e-12 || math.Abs(got[0]-want[0]) > 1e-12 || got[1] != 0 || math.Abs(got[2]-want[2]) > 1e-12 || math.Abs(got[3]-want[3]) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}
