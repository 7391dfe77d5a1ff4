package mechanisms

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// alpha is the false-positive rate of each statistical check here. Seeds are
// fixed, so a passing check keeps passing.
const alpha = 1e-6

// chiSquare fails the test when counts don't fit the cell probabilities.
func chiSquare(t *testing.T, name string, counts, probs []float64) {
	t.Helper()
	var n float64
	for _, c := range counts {
		n += c
	}
	want := make([]float64, len(probs))
	for i, p := range probs {
		want[i] = n * p
		if want[i] < 5 {
			t.Fatalf("%s: cell %d expects only %g draws", name, i, want[i])
		}
	}
	x := stat.ChiSquare(counts, want)
	limit := distuv.ChiSquared{K: float64(len(probs) - 1)}.Quantile(1 - alpha)
	if x > limit {
		t.Errorf("%s: chi-square %.1f exceeds %.1f (%d cells, %g draws, seed fixed)", name, x, limit, len(probs), n)
	}
}

// [CKS20, Algorithm 3] draws y with probability ∝ exp(−y²/(2σ²)): compared with
// that mass itself, cell by cell.
func TestDiscreteGaussianIsExact(t *testing.T) {
	const draws = 400_000
	for _, sigma := range []uint64{1, 2, 3, 17} {
		src := NewSeededSource(uint64(sigma))
		edge := int64(3*sigma + 1) // beyond: one cell a side
		mass := func(y int64) float64 { r := float64(y) / float64(sigma); return math.Exp(-r * r / 2) }
		var total, beyond float64
		for y := -40 * int64(sigma); y <= 40*int64(sigma); y++ {
			total += mass(y)
			if y > edge {
				beyond += mass(y)
			}
		}
		probs := make([]float64, 2*edge+3)
		probs[0], probs[len(probs)-1] = beyond/total, beyond/total
		for y := -edge; y <= edge; y++ {
			probs[y+edge+1] = mass(y) / total
		}
		if beyond/total*draws < 5 { // fold the outermost cells together
			probs[1] += probs[0]
			probs[len(probs)-2] += probs[len(probs)-1]
			probs = probs[1 : len(probs)-1]
			edge--
		}
		counts := make([]float64, len(probs))
		for range draws {
			y := min(max(discreteGaussian(sigma, src), -edge-1), edge+1)
			counts[y+edge+1]++
		}
		chiSquare(t, "σ = "+string(rune('0'+sigma%10)), counts, probs)
	}
}

// At large scales the law is that of a rounded normal; equally likely bins, and
// low-order bits that must be uniform.
func TestDiscreteGaussianAtLargeScales(t *testing.T) {
	const draws, bins = 400_000, 200
	for _, sigma := range []uint64{1000, 1<<40 + 12345, 1<<41 - 1} {
		src := NewSeededSource(sigma)
		counts, low := make([]float64, bins), make([]float64, 64)
		for range draws {
			y := discreteGaussian(sigma, src)
			u := distuv.UnitNormal.CDF(float64(y) / float64(sigma))
			counts[min(int(u*bins), bins-1)]++
			low[uint64(y)%64]++
		}
		probs := make([]float64, bins)
		if sigma == 1000 {
			integerBins(probs, float64(sigma))
		} else {
			for i := range probs {
				probs[i] = 1.0 / bins
			}
		}
		chiSquare(t, "bins", counts, probs)
		for i := range probs[:64] {
			probs[i] = 1.0 / 64
		}
		chiSquare(t, "low bits", low, probs[:64])
	}
}

// integerBins sets probs to the mass of the integers in each bin.
func integerBins(probs []float64, sigma float64) {
	var total float64
	for y := -10 * sigma; y <= 10*sigma; y++ {
		m := math.Exp(-y * y / (2 * sigma * sigma))
		u := distuv.UnitNormal.CDF(y / sigma)
		probs[min(int(u*float64(len(probs))), len(probs)-1)] += m
		total += m
	}
	for i := range probs {
		probs[i] /= total
	}
}

// The coins and the uniform integers that the sampler is made of.
func TestCoinsAreExact(t *testing.T) {
	const draws = 1_000_000
	src := NewSeededSource(7)
	check := func(name string, p float64, coin func() bool) {
		heads := 0.0
		for range draws {
			if coin() {
				heads++
			}
		}
		chiSquare(t, name, []float64{heads, draws - heads}, []float64{p, 1 - p})
	}
	check("exp(−1)", math.Exp(-1), func() bool { return coinExp(1, 1, src) })
	check("exp(−1/2)", math.Exp(-0.5), func() bool { return coinExp(1, 2, src) })
	check("exp(−2/7)", math.Exp(-2.0/7), func() bool { return coinExp(2, 7, src) })
	check("exp(−(5/8)²/2)", math.Exp(-25.0/128), func() bool { return coinExpHalfSquare(5, 8, src) })
	check("exp(−1/2) by squares", math.Exp(-0.5), func() bool { return coinExpHalfSquare(3, 3, src) })
	if !coinExp(0, 5, src) {
		t.Error("exp(0) must be certain")
	}
	counts := make([]float64, 6)
	for range draws {
		counts[uniform(6, src)]++
	}
	chiSquare(t, "uniform", counts, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6})
}

// A source whose words are all ones or zeros must not hang or bias uniform.
type constantSource uint64

func (c constantSource) Uint64() uint64 { return uint64(c) }

func TestUniformEdges(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 1 << 41, 1<<63 + 1} {
		if got := uniform(n, constantSource(math.MaxUint64)); got != n-1 {
			t.Errorf("uniform(%d) at the top = %d", n, got)
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	src := NewSecureSource()
	for b.Loop() {
		discreteGaussian(1<<40+12345, src)
	}
}
