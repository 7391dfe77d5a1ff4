package mechanisms

import (
	"math"
	"math/big"
	"math/bits"
)

// exponent is the rational number num/den, or (num/den)²/2 if halfSquare is set;
// den > 0.
type exponent struct {
	num, den   uint64
	halfSquare bool
}

// coinExp is true with probability exp(−num/den), exactly.
func coinExp(num, den uint64, src *words) bool {
	return num == 0 || exponent{num: num, den: den}.above(0, 0, src)
}

// above draws f uniformly from [0, 1) and reports whether
//
//	(m + f)/2^s < exp(−x),
//
// exactly, for integers m < 2^53 and s, and x > 0.
//
// One word holds the first 64 bits of f. A bracket of exp(−x) in float64, with a
// proven error, nearly always decides (with a probability of 2^-39 it may not).
// Then integers of any length do: exp(−x) is irrational for a rational x ≠ 0, so
// that it lies strictly on one side of every stretch of f's bits that is long
// enough. No decision depends on how float64 operations round, nor does the number
// of words that it takes.
func (x exponent) above(m, s uint64, src *words) bool {
	word := src.Uint64()
	if s < 1000 {
		scale := math.Float64frombits((1023 + s) << 52)
		least := float64(m) + 0x1p-64*float64(word)
		lo, hi := expBracket(x.float())
		if least+0x1p-64 < lo*scale {
			return true
		}
		if least > hi*scale {
			return false
		}
	}
	return x.aboveExactly(m, s, word, src)
}

// float returns x with a relative error below 2^-50: three roundings, of which
// the square doubles all.
func (x exponent) float() float64 {
	r := float64(x.num) / float64(x.den)
	if x.halfSquare {
		return r * r / 2
	}
	return r
}

// aboveExactly is above, the first 64 bits of f being given. It reads another
// word if and only if exp(−x) lies between the words that are possible so far, but
// for a probability of 2^-60, in which the word decides nothing.
func (x exponent) aboveExactly(m, s, word uint64, src *words) bool {
	num, den := x.rational()
	height := new(big.Int).Lsh(new(big.Int).SetUint64(m), 64)
	height.Add(height, new(big.Int).SetUint64(word)) // in units of 2^-known
	for known := uint(s) + 64; ; known += 64 {
		lo, hi := expFixed(num, den, known+64)
		least := new(big.Int).Lsh(height, 64)
		if least.Cmp(hi) >= 0 {
			return false
		}
		next := new(big.Int).Add(height, big.NewInt(1))
		if next.Lsh(next, 64).Cmp(lo) <= 0 {
			return true
		}
		height.Lsh(height, 64)
		height.Add(height, new(big.Int).SetUint64(src.Uint64()))
	}
}

func (x exponent) rational() (num, den *big.Int) {
	num, den = new(big.Int).SetUint64(x.num), new(big.Int).SetUint64(x.den)
	if x.halfSquare {
		num.Mul(num, num)
		den.Lsh(den.Mul(den, den), 1)
	}
	return num, den
}

// uniform draws an integer from {0, …, n−1}, n ≥ 1, without bias: the high word
// of a 64×64-bit product, redrawn in the 2^64 mod n cases that would be
// counted twice.
func uniform(n uint64, src *words) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}
