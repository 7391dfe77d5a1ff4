package mechanisms

import (
	"math"
	"math/big"
)

// expBracket returns lo ≤ exp(−z) ≤ hi for each z within a relative 2^-50 of
// x ≥ 0, with room for a few roundings to float64 on either side of a comparison.
// Up to x = 64 it is a relative 2^-39 wide; beyond, it says little.
//
// Proof, for x ≤ 64. With n the integer next to x/ln 2 and t = x − n·ln 2,
// exp(−x) = 2^-n·exp(−t), |t| ≤ 0.3466. The relative error of the returned centre
// is at most the sum of
//
//	2^-44    for x itself, 64·2^-50
//	2^-46.1  for t: n ≤ 93 times the error of ln 2, 2^-54.7, a product below 128
//	         rounded, 2^-47, and a difference below 1/2 rounded, 2^-55
//	2^-46    for the rest of the series, √2·e^|t|·|t|^12/12!
//	2^-50    for rounded coefficients and operations: those of a polynomial whose
//	         terms sum to at most √2 in magnitude, on a result of at least 1/√2
//
// which is below 2^-43 (e^z − 1 < 1.01z here), and the margin is 2^-40. Fusing a
// product and a sum saves a rounding, so the proof covers every platform.
func expBracket(x float64) (lo, hi float64) {
	if x > 64 {
		return 0, 0x1p-92 // exp(−64) = 2^-92.3
	}
	n := int(x*(1/math.Ln2) + 0.5)
	t := x - float64(n)*math.Ln2
	q := t * t
	even := 1 + q*(1./2+q*(1./24+q*(1./720+q*(1./40320+q*(1./3628800)))))
	odd := 1 + q*(1./6+q*(1./120+q*(1./5040+q*(1./362880+q*(1./39916800)))))
	e := (even - t*odd) * math.Float64frombits(uint64(1023-n)<<52)
	return e * (1 - 0x1p-40), e * (1 + 0x1p-40)
}

// expFixed returns integers lo ≤ 2^bits·exp(−num/den) ≤ hi that are at most a few
// units apart, for num ≥ 0 and den > 0.
//
// With y = num/(2^s·den) ≤ 1/2 the partial sums of exp(−y) are formed in units of
// 2^-work. A term is too small by less than 2 units, because it inherits at most
// half of the error of the one before and adds less than 1 by rounding; what
// follows the first term of 0 is below 2 too. Then s squarings, rounded outwards,
// lead to exp(−num/den); each of them at most doubles the width and adds 2 units,
// and the s + 24 extra bits make up for both.
func expFixed(num, den *big.Int, bits uint) (lo, hi *big.Int) {
	s := uint(max(0, num.BitLen()-den.BitLen()+2))
	work := bits + s + 24
	scaled := new(big.Int).Lsh(den, s)
	term := new(big.Int).Lsh(big.NewInt(1), work)
	sum, slack := new(big.Int).Set(term), int64(2)
	for i := int64(1); term.Sign() > 0; i++ {
		term.Mul(term, num)
		term.Quo(term, new(big.Int).Mul(scaled, big.NewInt(i)))
		if i%2 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
		slack += 2
	}
	lo = new(big.Int).Sub(sum, big.NewInt(slack))
	hi = new(big.Int).Add(sum, big.NewInt(slack))
	one := big.NewInt(1)
	for range s {
		lo.Rsh(lo.Mul(lo, lo), work)
		hi.Add(hi.Rsh(hi.Mul(hi, hi), work), one)
	}
	return lo.Rsh(lo, s+24), hi.Add(hi.Rsh(hi, s+24), one)
}
