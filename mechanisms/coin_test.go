package mechanisms

import (
	"math"
	"math/big"
	"testing"
)

// The coins and the uniform integers that the sampler is made of.
func TestCoinsAreExact(t *testing.T) {
	const draws = 1_000_000
	src := unlimited(NewSeededSource(7))
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
	check("exp(−(5/8)²/2)", math.Exp(-25.0/128), func() bool { return exponent{5, 8, true}.above(0, 0, src) })
	check("4·exp(−1/2) − 2", 4*math.Exp(-0.5)-2, func() bool { return exponent{1, 2, false}.above(2, 2, src) })
	if !coinExp(0, 5, unlimited(constantSource(math.MaxUint64))) {
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
		if got := uniform(n, unlimited(constantSource(math.MaxUint64))); got != n-1 {
			t.Errorf("uniform(%d) at the top = %d", n, got)
		}
	}
	if got := uniform(1<<63+1, unlimited(&script{t, []uint64{0, 1 << 63}})); got != 1<<62 {
		t.Errorf("uniform(2^63 + 1) = %d from a word that is redrawn", got)
	}
}

// script is a source with given words; reading more of them fails the test.
type script struct {
	t     *testing.T
	words []uint64
}

func (s *script) Uint64() uint64 {
	if len(s.words) == 0 {
		s.t.Fatal("more words read than necessary")
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// bigExp returns exp(−x) to about 400 bits, by the power series after halvings.
func bigExp(x *big.Rat) *big.Float {
	const halvings = 40
	y := new(big.Float).SetPrec(500).SetRat(x)
	y.SetMantExp(y, -halvings)
	sum, term := big.NewFloat(1).SetPrec(500), big.NewFloat(1).SetPrec(500)
	for i := int64(1); i < 60; i++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(-i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

func (x exponent) rat() *big.Rat {
	r := new(big.Rat).SetFrac(new(big.Int).SetUint64(x.num), new(big.Int).SetUint64(x.den))
	if x.halfSquare {
		r.Mul(r, r).Mul(r, big.NewRat(1, 2))
	}
	return r
}

// Heights whose first one, two or three words are those of the curve itself are
// decided by the first word that differs, and by no more words.
func TestCoinsDecideTies(t *testing.T) {
	for _, c := range []struct {
		x    exponent
		m, s uint64
	}{
		{exponent{1, 1, false}, 0, 0},
		{exponent{1, 1 << 62, false}, 0, 0},
		{exponent{1, math.MaxUint64, false}, 0, 0}, // ½·2^-128 below a word's end
		{exponent{1, 1 << 32, true}, 1, 1},         // ¼·2^-128 above a word's start
		{exponent{1<<62 - 1, 1 << 61, false}, 0, 0},
		{exponent{40, 1, false}, 0, 0},
		{exponent{63, 1, false}, 0, 64},
		{exponent{65, 1, false}, 0, 90},
		{exponent{1 << 40, 1 << 40, true}, 38, 6},
		{exponent{1<<46 - 1, 1 << 46, true}, 38, 6},
		{exponent{3<<40 + 1, 1<<40 + 12345, true}, 0, 6},
		{exponent{12<<40 + 1, 1<<40 + 12345, true}, 0, 90},
	} {
		f := bigExp(c.x.rat())
		f.SetMantExp(f, int(c.s))
		f.Sub(f, new(big.Float).SetUint64(c.m))
		if f.Sign() < 0 || f.Cmp(big.NewFloat(1)) >= 0 {
			t.Fatalf("%+v: a sure coin", c)
		}
		f.SetMantExp(f, 192)
		bits, _ := f.Int(nil)
		var tie [3]uint64
		for i := range tie {
			tie[i] = new(big.Int).Rsh(bits, uint(128-64*i)).Uint64()
		}
		for last := range tie {
			for _, step := range []int{-1, 1} {
				words := append([]uint64{}, tie[:last+1]...)
				words[last] += uint64(step)
				if (step < 0) == (words[last] > tie[last]) {
					continue // the word is the least or the largest
				}
				src := &script{t, words}
				if got := c.x.above(c.m, c.s, unlimited(src)); got != (step < 0) || len(src.words) > 0 {
					t.Errorf("%+v: word %d moved by %d gives %v, %d words left", c, last, step, got, len(src.words))
				}
			}
		}
	}
}

// expBracket holds exp(−z) for z within the stated distance, with 7/8 of its
// margin to spare.
func TestExpBracket(t *testing.T) {
	src := NewSeededSource(8)
	xs := []float64{0x1p-1000, 0x1p-60, 1, 64, math.Nextafter(64, 0), 0.5 * math.Ln2, 91.5 * math.Ln2}
	for i := range 1500 {
		xs = append(xs, 64*float64(src.Uint64()>>11)*0x1p-53)
		if i < 92 {
			xs = append(xs, math.Nextafter((float64(i)+0.5)*math.Ln2, float64(100*(i%2))))
		}
	}
	for _, x := range xs {
		lo, hi := expBracket(x)
		for _, move := range []float64{-0x1p-50, 0x1p-50} {
			z := new(big.Rat).SetFloat64(x)
			z.Mul(z, new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).SetFloat64(move)))
			e := bigExp(z)
			centre := new(big.Float).SetPrec(500).SetFloat64((lo + hi) / 2)
			off, _ := centre.Quo(centre, e).Sub(centre, big.NewFloat(1)).Float64()
			if math.Abs(off) > 0x1p-43 {
				t.Errorf("x = %v: relative error %g", x, off)
			}
			if e.Cmp(big.NewFloat(lo)) <= 0 || e.Cmp(big.NewFloat(hi)) >= 0 {
				t.Errorf("x = %v: not within the bracket", x)
			}
		}
	}
	for _, x := range []float64{math.Nextafter(64, 65), 1e3, 1e18} {
		if lo, hi := expBracket(x); lo != 0 || !(math.Exp(-x*(1-0x1p-50)) < hi*(1-0x1p-41)) {
			t.Errorf("x = %g: [%g, %g]", x, lo, hi)
		}
	}
}

func TestExpFixed(t *testing.T) {
	src := NewSeededSource(9)
	for range 2000 {
		num, den := src.Uint64()>>uniform(64, unlimited(src)), src.Uint64()>>uniform(64, unlimited(src))+1
		if num/den > 1000 {
			num %= 1000
		}
		width := 64 + uint(uniform(250, unlimited(src)))
		lo, hi := expFixed(new(big.Int).SetUint64(num), new(big.Int).SetUint64(den), width)
		e := bigExp(exponent{num: num, den: den}.rat())
		e.SetMantExp(e, int(width))
		if e.Cmp(new(big.Float).SetPrec(500).SetInt(lo)) < 0 || e.Cmp(new(big.Float).SetPrec(500).SetInt(hi)) > 0 {
			t.Fatalf("exp(−%d/%d): not within the bounds", num, den)
		}
		if apart := new(big.Int).Sub(hi, lo); apart.Cmp(big.NewInt(4)) > 0 {
			t.Fatalf("exp(−%d/%d): bounds %v apart", num, den, apart)
		}
	}
}

// The bounds hold beside a value that they can't tell from e^−x: e^−x < 1 for any
// x > 0, though the series has no term left in the digits that are kept.
func TestExpFixedCountsTheSeries(t *testing.T) {
	for _, digits := range []uint{64, 128} {
		lo, hi := expFixed(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2*digits), digits)
		one := new(big.Int).Lsh(big.NewInt(1), digits)
		if lo.Cmp(one) >= 0 || hi.Cmp(one) < 0 {
			t.Errorf("%d digits: exp(−2^−%d) lies below 1, its bounds are %v and %v in units of 2^−%d", digits, 2*digits, lo, hi, digits)
		}
	}
}
