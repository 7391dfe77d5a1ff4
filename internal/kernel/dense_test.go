package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is random rows with a stride, and a vector for its columns and its rows.
type matrix struct {
	n, cols, stride int
	data, w, c      []float64
}

func newMatrix(r *rand.Rand, k kind, n, cols, gap int) matrix {
	m := matrix{n: n, cols: cols, stride: cols + gap}
	m.data = make([]float64, max(0, (n-1)*m.stride+cols))
	m.w, m.c = make([]float64, cols), make([]float64, n)
	for _, v := range [][]float64{m.data, m.w, m.c} {
		k.fill(r, v)
	}
	return m
}

func (m matrix) String() string { return fmt.Sprintf("%d×%d, stride %d", m.n, m.cols, m.stride) }

func (m matrix) row(k int) []float64 { return m.data[k*m.stride : k*m.stride+m.cols] }

// mostLength is up to which all lengths of rows are tested.
const mostLength = 200

// heights are those of the tiles that passes make: all up to twice the assembly's groups
// of rows, which all lengths are tested with, and the others up to the tallest.
const groups, tallest = 17, 96

// eachMatrix calls f for all lengths of rows and heights of tiles, and for long rows.
func eachMatrix(f func(m matrix)) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, k := range kinds {
		for cols := range mostLength + 1 {
			for n := range groups + 1 {
				f(newMatrix(r, k, n, cols, r.IntN(3)))
			}
		}
		for n := groups + 1; n <= tallest; n++ {
			for _, cols := range []int{1, 8, 13, 16, 21, 100} {
				f(newMatrix(r, k, n, cols, r.IntN(3)))
			}
		}
		for _, cols := range []int{1000, 4097} {
			for n := range groups + 1 {
				f(newMatrix(r, k, n, cols, r.IntN(9)))
			}
		}
	}
}

// Dots follows its definition, bit for bit, at each level.
func TestDots(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		eachMatrix(func(m matrix) {
			got, want := make([]float64, m.n), make([]float64, m.n)
			for k := range want {
				var s [8]float64
				for j := range (m.cols + 7) / 8 * 8 {
					var a, b float64
					if j < m.cols {
						a, b = m.row(k)[j], m.w[j]
					}
					s[j%8] = math.FMA(a, b, s[j%8])
				}
				want[k] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
			}
			Dots(got, m.data, m.stride, m.w)
			sameBits(t, m.String(), got, want)
		})
	})
}

// AddScaled follows its definition, bit for bit, at each level, and touches
// nothing but g.
func TestAddScaled(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		eachMatrix(func(m matrix) {
			got := make([]float64, m.cols+8)
			kinds[1].fill(rand.New(rand.NewPCG(3, 4)), got)
			want := append([]float64{}, got...)
			for j := range m.cols {
				if m.cols > 16 {
					for k, c := range m.c {
						want[j] = math.FMA(c, m.row(k)[j], want[j])
					}
					continue
				}
				var s [8]float64
				for k, c := range m.c {
					s[k%8] = math.FMA(c, m.row(k)[j], s[k%8])
				}
				want[j] += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
			}
			AddScaled(got[:m.cols], m.data, m.stride, m.c)
			sameBits(t, m.String(), got, want)
		})
	})
}

// A dot product's error is within the stated bound.
func TestDotsError(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		m := newMatrix(r, nasty, 1, 1+r.IntN(300), 0)
		var exact, size float64 // integers below 2^53 add exactly
		for j := range m.w {
			m.data[j], m.w[j] = float64(r.IntN(1<<20)-1<<19), float64(r.IntN(1<<20)-1<<19)
			exact += m.data[j] * m.w[j]
			size += math.Abs(m.data[j] * m.w[j])
		}
		for j := range m.w { // not so after scaling each product alike
			m.data[j] *= math.Pi
		}
		z := make([]float64, 1)
		Dots(z, m.data, m.stride, m.w)
		if e := math.Abs(z[0] - exact*math.Pi); e > (float64(len(m.w))/8+6)*0x1p-53*size*math.Pi {
			t.Errorf("%d columns: error %g", m.cols, e)
		}
	}
}

func TestRowsBeyondTheData(t *testing.T) {
	for _, c := range []struct{ rows, n, stride, cols int }{
		{1, 3, 4, 4}, {2, 7, 4, 4}, {2, 8, 3, 4}, {math.MaxInt, 1 << 10, 4, 4}, {2, 8, -4, 4},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v: accepted", c)
				}
			}()
			fits(c.rows, c.n, c.stride, c.cols)
		}()
	}
}

// shapes that a pass meets: tiles that stay in L1.
var shapes = []struct{ n, cols int }{{256, 10}, {32, 100}, {4, 1000}}

// newTile is a matrix of ordinary numbers, whose sums stay ordinary.
func newTile(n, cols int) matrix {
	m := newMatrix(rand.New(rand.NewPCG(1, 1)), nasty, n, cols, 0)
	for i := range m.data {
		m.data[i] = float64(i%7) - 3
	}
	clear(m.w)
	clear(m.c)
	return m
}

func BenchmarkDots(b *testing.B) {
	benchmarkTiles(b, func(m matrix) { Dots(m.c, m.data, m.stride, m.w) })
}

func BenchmarkAddScaled(b *testing.B) {
	benchmarkTiles(b, func(m matrix) { AddScaled(m.w, m.data, m.stride, m.c) })
}

func benchmarkTiles(b *testing.B, pass func(m matrix)) {
	for _, s := range shapes {
		for l := portable; l <= detect(); l++ {
			b.Run(fmt.Sprintf("d=%d/level=%d", s.cols, l), func(b *testing.B) {
				at(b, l)
				m := newTile(s.n, s.cols)
				b.SetBytes(int64(8 * s.n * s.cols))
				for b.Loop() {
					pass(m)
				}
			})
		}
	}
}
