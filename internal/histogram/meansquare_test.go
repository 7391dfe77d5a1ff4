package histogram

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The mean square is that of the numbers themselves, where noise hides nothing: to 5 % in cells whose edges are √2 apart, of each of which it takes the
// geometric mean.
func TestMeanSquareIsTheNumbers(t *testing.T) {
	const n = 20_000
	r := rand.New(rand.NewPCG(2, 7))
	edges := Geometric(16, math.Sqrt2, 16)
	counts := make([]float64, len(edges)+1)
	var want float64
	for range n {
		v := math.Abs(r.NormFloat64()) + 0.2
		want += v * v / n
		k := 0
		for k < len(edges) && v <= edges[k] {
			k++
		}
		counts[k]++
	}
	if got := NewTails(edges, counts, 1e-6, n).MeanSquare(); math.Abs(got/want-1) > 0.05 {
		t.Errorf("%g, want %g", got, want)
	}
}
