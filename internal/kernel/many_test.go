package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Several products, and several sums, have the bits of each alone at each level, and
// nothing between the sums changes.
func TestManyAreAsOne(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 1))
		for _, cols := range []int{1, 16, 17, 20, 24, 31, 40, 100} {
			for n := range groups + 1 {
				for many := 1; many <= 9; many++ {
					m, gap := newMatrix(r, kinds[n%2], n, cols, r.IntN(3)), r.IntN(5)
					what := fmt.Sprintf("%v, %d vectors", m, many)
					w, c, g := make([]float64, many*cols), make([]float64, many*n), make([]float64, many*(cols+gap))
					for _, v := range [][]float64{w, c, g} {
						kinds[n%2].fill(r, v)
					}
					z, want := make([]float64, many*n), make([]float64, many*n)
					sums := append([]float64{}, g...)
					for j := range many {
						Dots(want[j*n:(j+1)*n], m.data, m.stride, w[j*cols:(j+1)*cols])
						AddScaled(sums[j*(cols+gap):][:cols], m.data, m.stride, c[j*n:(j+1)*n])
					}
					DotsMany(z, m.data, m.stride, w, cols)
					sameBits(t, what, z, want)
					AddScaledMany(g, cols+gap, cols, m.data, m.stride, c, n)
					sameBits(t, what, g, sums)
				}
			}
		}
	})
}

// A tile's products with 32 vectors of weights, and as many sums, one by one and together.
func BenchmarkMany(b *testing.B) {
	const many = 32
	for _, s := range shapes {
		m := newTile(s.n, s.cols)
		z, w := make([]float64, many*s.n), make([]float64, many*s.cols)
		for _, c := range []struct {
			name string
			pass func()
		}{
			{"dots, one by one", func() {
				for j := range many {
					Dots(z[j*s.n:(j+1)*s.n], m.data, m.stride, w[j*s.cols:(j+1)*s.cols])
				}
			}},
			{"dots", func() { DotsMany(z, m.data, m.stride, w, s.cols) }},
			{"sums, one by one", func() {
				for j := range many {
					AddScaled(w[j*s.cols:(j+1)*s.cols], m.data, m.stride, z[j*s.n:(j+1)*s.n])
				}
			}},
			{"sums", func() { AddScaledMany(w, s.cols, s.cols, m.data, m.stride, z, s.n) }},
		} {
			b.Run(fmt.Sprintf("d=%d/%s", s.cols, c.name), func(b *testing.B) {
				b.SetBytes(int64(8 * many * s.n * s.cols))
				for b.Loop() {
					c.pass()
				}
			})
		}
	}
}
