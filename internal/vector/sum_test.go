package vector

import "testing"

// Of whole numbers any order of adding has the same sum: on both sides of the four that are added at once.
func TestSum(t *testing.T) {
	var z []float64
	want := 0.0
	for n := range 14 {
		if got := Sum(z); got != want {
			t.Errorf("of %d numbers: %g, want %g", n, got, want)
		}
		z = append(z, float64(1+n*n))
		want += float64(1 + n*n)
	}
}
