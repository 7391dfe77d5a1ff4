package mechanisms

import (
	"fmt"
	"math"
	"testing"
)

// noisyMinContinuousLaw is the law of argmin x_i + Y_i, Y_i Laplace of scale 1, by
// the trapezoidal rule: P(i) = ∫ f(y) Π_{j≠i} P(Y_j > x_i + y − x_j) dy.
func noisyMinContinuousLaw(x []float64) []float64 {
	survival := func(t float64) float64 {
		if t > 0 {
			return math.Exp(-t) / 2
		}
		return 1 - math.Exp(t)/2
	}
	const h = 1.0 / 512
	p := make([]float64, len(x))
	for i := range x {
		for y := -40.0; y <= 40; y += h {
			term := h / 2 * math.Exp(-math.Abs(y))
			for j := range x {
				if j != i {
					term *= survival(x[i] + y - x[j])
				}
			}
			p[i] += term
		}
	}
	return p
}

// noisyMinLaw is the law of the lexicographic minimum of (k_i + Y_i, i), Y_i
// discrete Laplace, by summation.
func noisyMinLaw(k []int, unit int) []float64 {
	r := math.Exp(-1 / float64(unit))
	mass := func(y int) float64 { return (1 - r) / (1 + r) * math.Pow(r, math.Abs(float64(y))) }
	atLeast := func(y int) float64 { // P(Y ≥ y)
		if y > 0 {
			return math.Pow(r, float64(y)) / (1 + r)
		}
		return 1 - math.Pow(r, float64(1-y))/(1+r)
	}
	p := make([]float64, len(k))
	for i := range k {
		for y := -40 * unit; y <= 40*unit; y++ {
			term := mass(y)
			for j := range k {
				switch {
				case j < i:
					term *= atLeast(k[i] + y - k[j] + 1) // an equal score before i beats it
				case j > i:
					term *= atLeast(k[i] + y - k[j])
				}
			}
			p[i] += term
		}
	}
	return p
}

// Where ties are frequent, the sampler decides them by the index.
func TestNoisyMinLawWithTies(t *testing.T) {
	for _, unit := range []int{1, 2, 5} {
		for _, k := range [][]int{{0, 0}, {0, 1, 1, 0}, {3, 0, 2}, {2, 2, 0, 7}} {
			src := NewSeededSource(uint64(31 * unit))
			gaps := make([]uint64, len(k))
			for i := range k {
				gaps[i] = uint64(k[i])
			}
			law := noisyMinLaw(k, unit)
			for i, p := range law {
				if p*100_000 < 5 {
					t.Fatalf("unit %d, %v: P(%d) = %g is too small to test", unit, k, i, p)
				}
			}
			counts := countSelections(t, 100_000, len(k), func() (int, error) { return noisyMin(gaps, uint64(unit), unlimited(src)), nil })
			chiSquare(t, fmt.Sprint(unit, k), counts, law)
		}
	}
}

// Pure privacy of report-noisy-max on a grid, ties included: over all integer
// scores in a box and all neighbours, exact log-ratios are at most 2D/unit, the
// proof's bound, and nearly reach it.
func TestNoisyMinIsPrivate(t *testing.T) {
	const box = 8
	for _, c := range []struct{ d, unit int }{{1, 1}, {1, 2}, {2, 3}} {
		logs := map[[3]int][]float64{}
		law := func(k [3]int) []float64 {
			low := min(k[0], k[1], k[2]) // only differences count
			for i := range k {
				k[i] -= low
			}
			if logs[k] == nil {
				logs[k] = noisyMinLaw(k[:], c.unit)
				for i, p := range logs[k] {
					logs[k][i] = math.Log(p)
				}
			}
			return logs[k]
		}
		var worst float64
		for at := range box * box * box {
			k := [3]int{at % box, at / box % box, at / box / box}
			side := 2*c.d + 1
			for move := range side * side * side {
				m := [3]int{k[0] + move%side - c.d, k[1] + move/side%side - c.d, k[2] + move/side/side - c.d}
				p, q := law(k), law(m)
				for i := range p {
					worst = math.Max(worst, p[i]-q[i])
				}
			}
		}
		bound := 2 * float64(c.d) / float64(c.unit)
		if worst > bound+1e-9 || worst < 0.95*bound {
			t.Errorf("D = %d, unit = %d: worst log-ratio %g of %g", c.d, c.unit, worst, bound)
		}
	}
}

// A noisy gap is gap ± (u + unit·v) in two parts, with the smaller part in range.
func TestNoisyGapParts(t *testing.T) {
	for seed := range uint64(2000) {
		const gap, unit = 17, 5
		g := drawNoisyGap(gap, unit, unlimited(NewSeededSource(seed)))
		u, v, negative := discreteLaplaceParts(unit, unlimited(NewSeededSource(seed)))
		want := int64(u + unit*v)
		if negative {
			want = -want
		}
		if got := g.units*unit + int64(g.rest); got != gap+want || g.rest >= unit {
			t.Fatalf("seed %d: parts %+v give %d, want %d", seed, g, got, gap+want)
		}
	}
}
