package mechanisms

import (
	"math"
	"math/big"
	"math/bits"
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

// Drawn frequencies against the mass itself, cell by cell.
func TestDiscreteGaussianIsExact(t *testing.T) {
	const draws = 400_000
	for _, sigma := range []uint64{1, 2, 3, 17} {
		src, g := unlimited(NewSeededSource(uint64(sigma))), newDiscreteGaussian(sigma)
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
			y := min(max(g.draw(src), -edge-1), edge+1)
			counts[y+edge+1]++
		}
		chiSquare(t, "σ = "+string(rune('0'+sigma%10)), counts, probs)
	}
}

// At large scales the law is that of a rounded normal; equally likely bins, and
// low-order bits that must be uniform.
func TestDiscreteGaussianAtLargeScales(t *testing.T) {
	const draws, bins = 400_000, 200
	for _, sigma := range []uint64{1000, 1 << 40, 1<<40 + 12345, 1<<46 - 1, 1<<52 - 1} {
		src, g := unlimited(NewSeededSource(sigma)), newDiscreteGaussian(sigma)
		counts, low := make([]float64, bins), make([]float64, 64)
		for range draws {
			y := g.draw(src)
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

// prompter gives its words and then, for ever, one at which a draw ends.
type prompter struct {
	words   []uint64
	last    uint64
	further int
}

func (p *prompter) Uint64() uint64 {
	if len(p.words) == 0 {
		p.further++
		return p.last
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

// drawn returns what the words lead to, and whether they suffice.
func (g *discreteGaussian) drawn(words ...uint64) (y int64, complete bool) {
	src := &prompter{words: words, last: g.wordOf(0, 0)}
	y = g.draw(unlimited(src))
	return y, src.further == 0
}

// wordOf returns the least word that stands for a signed brick and an integer of
// its column.
func (g *discreteGaussian) wordOf(index, offset uint64) uint64 {
	n := signedBricks * g.width
	word, _ := bits.Div64(index*g.width+offset, g.surplus+n-1, n)
	return word
}

// thresholdOf returns how many words are accepted; those are the least ones.
func thresholdOf(accepted func(word uint64) bool) *big.Float {
	if !accepted(0) {
		return new(big.Float)
	}
	lo, hi := uint64(0), uint64(math.MaxUint64)
	if accepted(hi) {
		return big.NewFloat(0x1p64)
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; accepted(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return new(big.Float).SetUint64(hi)
}

// The whole decision tree: scripted words find, to 2^-64, the probability with
// which each brick, sign and integer is kept. For every y they must add up to the
// curve times the number of levels.
func TestDiscreteGaussianDecisionTree(t *testing.T) {
	const blocks = 12
	for _, sigma := range []uint64{1, 2, 3, 17} {
		g := newDiscreteGaussian(sigma)
		sum, tolerance := map[int64]*big.Float{}, map[int64]float64{}
		add := func(y int64, p *big.Float, exponent int) {
			if sum[y] == nil {
				sum[y] = new(big.Float).SetPrec(200)
			}
			sum[y].Add(sum[y], new(big.Float).SetMantExp(p, exponent-64))
			tolerance[y] += math.Ldexp(1, exponent-63)
		}
		for index := range uint64(signedBricks) {
			for offset := range g.width {
				b, sign, first := wall[index/2], 1-2*int64(index%2), g.wordOf(index, offset)
				y := uint64(b.column)*g.width + offset
				if sign < 0 && y == 0 {
					continue
				}
				if b.level != tailLevel {
					add(sign*int64(y), thresholdOf(func(word uint64) bool {
						at, complete := g.drawn(first, word)
						return complete && at == sign*int64(y)
					}), 0)
					continue
				}
				for block := range blocks {
					at := sign * int64(y+uint64(block)*tailColumns*g.width)
					add(at, thresholdOf(func(word uint64) bool {
						y, complete := g.drawn(first, 1<<block, word)
						return complete && y == at
					}), -block-1)
				}
			}
		}
		end := int64((wallColumns + blocks*tailColumns) * g.width)
		for y := 1 - end; y < end; y++ {
			want := bigExp(big.NewRat(y*y, 2*int64(sigma*sigma)))
			want.SetMantExp(want, levelBits)
			got := sum[y]
			if got == nil {
				t.Fatalf("σ = %d: %d is never drawn", sigma, y)
			}
			if off, _ := want.Sub(want, got).Float64(); math.Abs(off) > tolerance[y] {
				t.Errorf("σ = %d, y = %d: weight %g is off by %g", sigma, y, got, off)
			}
		}
		if len(sum) != int(2*end-1) {
			t.Errorf("σ = %d: %d integers, want %d", sigma, len(sum), 2*end-1)
		}
	}
}

// Zero has one sign, and words beyond the largest multiple of the cases are
// drawn again: each case has as many words as any other.
func TestDiscreteGaussianRedraws(t *testing.T) {
	for _, sigma := range []uint64{1, 3, 1<<40 + 12345, 1<<46 - 1} {
		g := newDiscreteGaussian(sigma)
		if y, complete := g.drawn(g.wordOf(0, 0)); y != 0 || !complete {
			t.Errorf("σ = %d: the first brick's 0 is %d, %v", sigma, y, complete)
		}
		if _, complete := g.drawn(g.wordOf(1, 0)); complete {
			t.Errorf("σ = %d: −0 was kept", sigma)
		}
		if _, complete := g.drawn(0); complete { // one of the 2^64 mod n lowest
			t.Errorf("σ = %d: 0 = 2^64 mod n counts twice", sigma)
		}
		n, words := signedBricks*g.width, math.MaxUint64/(signedBricks*g.width)
		if n*words+g.surplus != 0 { // modulo 2^64
			t.Errorf("σ = %d: surplus %d", sigma, g.surplus)
		}
		for _, at := range []struct{ index, offset uint64 }{{0, 0}, {2, g.width - 1}, {signedBricks - 2, 0}} {
			for _, word := range []uint64{g.wordOf(at.index, at.offset), g.wordOf(at.index, at.offset) + words - 1} {
				if hi, lo := bits.Mul64(word, n); hi != at.index*g.width+at.offset || lo < g.surplus {
					t.Errorf("σ = %d: word %d isn't one of the %d of %+v", sigma, word, words, at)
				}
			}
		}
	}
}

// The wall covers the curve, exactly, at every scale; and where a height is not
// drawn, the level lies under it.
func TestWallCoversTheCurve(t *testing.T) {
	columns := map[int]int{}
	for _, b := range wall {
		if b.level < tailLevel && int(b.column) != columns[int(b.level)] {
			t.Fatalf("level %d: column %d is out of order", b.level, b.column)
		}
		columns[int(b.level)]++
	}
	if columns[tailLevel] != 2*tailColumns || columns[0] != wallColumns {
		t.Errorf("tail of %d bricks, lowest level of %d", columns[tailLevel], columns[0])
	}
	halfSquare := func(num, den uint64) *big.Float { return bigExp(exponent{num, den, true}.rat()) }
	for m := 1; m < curveLevels; m++ {
		if top := halfSquare(uint64(columns[m]), sigmaColumns); top.Cmp(big.NewFloat(float64(m)/curveLevels)) > 0 {
			t.Errorf("level %d: the curve passes at column %d", m, columns[m])
		}
		k := sigmaColumns * math.Sqrt(2*math.Log(curveLevels/float64(m)))
		if math.Abs(k-math.Round(k)) < 0.003 {
			t.Errorf("level %d: column %v is close to an integer", m, k)
		}
	}
	for m := range curveLevels {
		x := halfSquare(certain[m], 1<<certainBits)
		if x.Cmp(big.NewFloat(float64(m+1)/curveLevels)) < 0 {
			t.Errorf("level %d: not under the curve", m)
		}
	}
	if certain[tailLevel] != 0 {
		t.Error("the tail is never certain")
	}
	for block := range uint64(60) {
		top := halfSquare(wallColumns+block*tailColumns, sigmaColumns)
		if top.Cmp(big.NewFloat(math.Ldexp(1, -levelBits-int(block)))) > 0 {
			t.Errorf("block %d: the curve passes", block)
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	src, g := unlimited(NewSecureSource()), newDiscreteGaussian(1<<40+12345)
	for b.Loop() {
		g.draw(src)
	}
}
