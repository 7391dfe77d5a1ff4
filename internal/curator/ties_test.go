package curator

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows of equal features stand in the order of their numbers in a walk, however many there are: sorting that is
// stable for a few elements alone, as many algorithms are, shows beyond a dozen of them.
func TestWalkKeepsTiesInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(101, 102))
	for _, n := range []int{11, 12, 13, 19, 20, 21, 49, 50, 51, 63, 64, 65, 100, 101, 300} {
		for _, different := range []int{1, 2, 5} {
			features, labels := make([]float64, n), make([]float64, n)
			for i := range n {
				features[i], labels[i] = float64(r.IntN(different))/8, float64(r.IntN(2))
			}
			const limit = 2
			w := walkOver(t, slices.Clone(features), labels, limit)
			v := 0
			for k := range different { // rows of the least feature, in their order, then those of the next
				at := float64(k) / 8
				for i, x := range features {
					switch {
					case x != at:
					case labels[i] > 0:
						v = min(v+1, limit)
					default:
						v = max(v-1, -limit)
					}
				}
				if got := w.at(at); got != v {
					t.Errorf("%d rows of %d features: the walk is at %d after %g, want %d", n, different, got, at, v)
				}
			}
		}
	}
}
