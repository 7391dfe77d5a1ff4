package mechanisms

import "math/bits"

// discreteGaussian draws an integer with probability proportional to
// exp(−y²/(2σ²)), exactly, for an integer scale 1 ≤ σ < 2^52 [CKS20,
// Algorithm 3 with t = σ].
//
// A discrete Laplace proposal |y| = u + σv (0 ≤ u < σ) is accepted with
// probability exp(−(|y|−σ)²/(2σ²)). With r = u/σ and m = v−1 the exponent is
// m²/2 + m·r + r²/2 for v ≥ 1 and (1−r)²/2 for v = 0, so the acceptance is a
// product of coins with probabilities exp(−1/2), exp(−r) and exp(−r²/2), and
// each of those needs only comparisons of 64-bit integers.
func discreteGaussian(sigma uint64, src Source) int64 {
	for {
		u, v, negative := discreteLaplaceParts(sigma, src)
		if acceptGaussian(u, v, sigma, src) {
			y := int64(u + sigma*v)
			if negative {
				return -y
			}
			return y
		}
	}
}

func acceptGaussian(u, v, sigma uint64, src Source) bool {
	if v == 0 {
		return coinExpHalfSquare(sigma-u, sigma, src)
	}
	m := v - 1
	for range m * m {
		if !coinExp(1, 2, src) {
			return false
		}
	}
	for range m {
		if !coinExp(u, sigma, src) {
			return false
		}
	}
	return coinExpHalfSquare(u, sigma, src)
}

// discreteLaplaceParts draws y with probability proportional to exp(−|y|/t) and
// returns |y| = u + t·v with 0 ≤ u < t, and y's sign [CKS20, Algorithm 2].
func discreteLaplaceParts(t uint64, src Source) (u, v uint64, negative bool) {
	for {
		u = uniform(t, src)
		if !coinExp(u, t, src) {
			continue
		}
		for v = 0; coinExp(1, 1, src); v++ {
		}
		negative = src.Uint64()>>63 == 1
		if negative && u == 0 && v == 0 {
			continue // zero has one sign
		}
		return u, v, negative
	}
}

// coinExp is true with probability exp(−num/den), for 0 ≤ num ≤ den: the
// number of successes in a row of coins num/den, num/(2den), num/(3den), … is
// even with that probability [CKS20, Algorithm 1].
func coinExp(num, den uint64, src Source) bool {
	for k := uint64(1); ; k++ {
		if uniform(den, src) >= num || (k > 1 && uniform(k, src) != 0) {
			return k%2 == 1
		}
	}
}

// coinExpHalfSquare is true with probability exp(−(num/den)²/2), 0 ≤ num ≤ den.
func coinExpHalfSquare(num, den uint64, src Source) bool {
	for k := uint64(1); ; k++ {
		if uniform(2*k, src) != 0 || uniform(den, src) >= num || uniform(den, src) >= num {
			return k%2 == 1
		}
	}
}

// uniform draws an integer from {0, …, n−1}, n ≥ 1, without bias: the high word
// of a 64×64-bit product, redrawn in the 2^64 mod n cases that would be
// counted twice.
func uniform(n uint64, src Source) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for threshold := -n % n; lo < threshold; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}
