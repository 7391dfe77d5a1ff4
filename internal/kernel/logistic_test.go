package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// steps is AddLogistic by the operations that define it.
func steps(g []float64, m matrix, n, tile int, y, norm, shrink []float64, limit, offset, intercept float64) {
	for lo := 0; lo < n; lo += tile {
		hi := min(lo+tile, n)
		z := make([]float64, hi-lo)
		Dots(z, m.data[lo*m.stride:], m.stride, m.w)
		factor := func(k int) float64 {
			if shrink == nil {
				return 1
			}
			return shrink[lo+k]
		}
		for k := range z {
			z[k] = float64(factor(k)*(z[k]+offset)) + intercept
		}
		LogisticSlopes(z, y[lo:])
		Clip(z, norm[lo:], limit)
		var slopes, factors [4]float64
		for k := range z {
			slopes[k%4] += z[k]
			z[k] *= factor(k)
			factors[k%4] += z[k]
		}
		AddScaled(g[:m.cols], m.data[lo*m.stride:], m.stride, z)
		g[m.cols] += (factors[0] + factors[1]) + (factors[2] + factors[3])
		g[m.cols+1] += (slopes[0] + slopes[1]) + (slopes[2] + slopes[3])
	}
}

// signed are norms with the signs of labels.
func signed(y, norm []float64) []float64 {
	v := make([]float64, len(y))
	for k, label := range y {
		v[k] = math.Copysign(norm[k], label)
	}
	return v
}

// AddLogistic has the bits of its steps, for all lengths of rows that it takes, and touches
// nothing but the sums.
func TestAddLogistic(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for cols := range 19 {
			for _, n := range []int{0, 1, 7, 8, 9, 16, 23, 24, 31, 32, 40, 95, 96, 97, 192, 200, 203} {
				for i, tile := range []int{8, 24, 96, 20} {
					m := newMatrix(r, kinds[(n+i)%2], n, cols, r.IntN(3))
					y, norm, g := make([]float64, n), make([]float64, n), make([]float64, cols+8)
					kinds[1].fill(r, g)
					shrink, limit := make([]float64, n), []float64{0.5, 1e-3, math.Inf(1)}[r.IntN(3)]
					for k := range y {
						y[k], norm[k], shrink[k] = math.Copysign(1, r.Float64()-0.5), 2*r.Float64(), 1-r.Float64()*float64(r.IntN(2))
					}
					if r.IntN(2) == 0 {
						shrink = nil
					}
					offset, intercept := float64(r.IntN(2))*r.NormFloat64(), float64(r.IntN(2))*r.NormFloat64()
					what := fmt.Sprintf("%v, tiles of %d, shrunk %v", m, tile, shrink != nil)

					want := append([]float64{}, g...)
					done := AddLogistic(g, m.data, m.stride, n, tile, m.w, signed(y, norm), shrink, make([]float64, 8), limit, offset, intercept)
					whole := n
					if n%tile%8 > 0 {
						whole -= n % tile
					}
					if active != avx512 || tile%8 > 0 || cols == 0 || cols > 16 {
						whole = 0
					}
					if done != whole {
						t.Fatalf("%s: %d rows are done, want %d", what, done, whole)
					}
					steps(want, m, done, tile, y, norm, shrink, limit, offset, intercept)
					sameBits(t, what, g, want)
				}
			}
		}
	})
}

// A block's rows, at once and by steps.
func BenchmarkLogistic(b *testing.B) {
	for _, cols := range []int{4, 10, 16} {
		const n, tile = 960, 96
		m := newTile(n, cols)
		y, norm, g, scratch := make([]float64, n), make([]float64, n), make([]float64, cols+2), make([]float64, 8)
		for k := range y {
			y[k], norm[k] = 1, 1
		}
		held := signed(y, norm)
		if !AddsLogistic(cols) {
			b.Skip("has no faster way")
		}
		for name, f := range map[string]func(){
			"at once": func() { AddLogistic(g, m.data, m.stride, n, tile, m.w, held, nil, scratch, 0.5, 0, 0) },
			"steps":   func() { steps(g, m, n, tile, y, norm, nil, 0.5, 0, 0) },
		} {
			b.Run(fmt.Sprintf("d=%d/%s", cols, name), func(b *testing.B) {
				b.SetBytes(int64(8 * n * cols))
				for b.Loop() {
					f()
				}
			})
		}
	}
}
