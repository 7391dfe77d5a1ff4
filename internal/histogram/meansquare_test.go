package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
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

// Noise rarely makes numbers many times as large as any, nor hides them all: of 5,000 histograms no more than 15 have a mean square that is three times too
// large, nor 150 one of a third, where edges reach far beyond numbers and where noise is a fiftieth of the rows (4 and 73). Were one tail that stands out enough 36
// and 27 would be too large, and by 4.7 deviations of it 1,221 too small.
func TestMeanSquareInNoise(t *testing.T) {
	const n, all = 20_000, 5000
	edges := Geometric(4096, math.Sqrt2, 27)
	for _, c := range []struct{ noise, size float64 }{{n / 333., 10}, {n / 49., 100}} {
		r := rand.New(rand.NewPCG(4, 9))
		exact := make([]float64, len(edges)+1)
		var want float64
		for range n {
			v := c.size * math.Abs(r.NormFloat64())
			want += v * v / n
			exact[slices.IndexFunc(append(slices.Clone(edges), 0), func(edge float64) bool { return v > edge })]++
		}
		large, small := 0, 0
		for range all {
			counts := slices.Clone(exact)
			for k := range counts {
				counts[k] += c.noise * r.NormFloat64()
			}
			switch got := NewTails(edges, counts, c.noise, n).MeanSquare() / want; {
			case got > 3:
				large++
			case got < 1./3:
				small++
			}
		}
		if large > 15 || small > 150 {
			t.Errorf("noise %g: of %d histograms %d have too large a mean square, and %d too small a one", c.noise, all, large, small)
		}
	}
}
