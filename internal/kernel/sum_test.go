package kernel

import (
	"fmt"
	"math/rand/v2"
	"sync"
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

// The plain read of a matrix by two goroutines, the ceiling of any pass.
func BenchmarkRead(b *testing.B) {
	for _, mb := range []int{80, 800} {
		x := make([]float64, mb*1e6/8)
		for i := range x {
			x[i] = 1
		}
		b.Run(fmt.Sprintf("MB=%d", mb), func(b *testing.B) {
			b.SetBytes(int64(8 * len(x)))
			for b.Loop() {
				var wg sync.WaitGroup
				for _, half := range [][]float64{x[:len(x)/2], x[len(x)/2:]} {
					wg.Add(1)
					go func() { defer wg.Done(); Sum(half) }()
				}
				wg.Wait()
			}
		})
	}
}
