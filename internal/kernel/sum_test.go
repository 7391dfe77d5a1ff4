package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Sum has 32 partial sums at each level.
func TestSum(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 200 {
			x := make([]float64, n)
			fill(r, x)
			var s [32]float64
			for i, v := range x {
				s[i%32] += v
			}
			var want float64
			for _, v := range s {
				want += v
			}
			sameBits(t, fmt.Sprintf("%d numbers", n), []float64{Sum(x)}, []float64{want})
		}
	})
}
