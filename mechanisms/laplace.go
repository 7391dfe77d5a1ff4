package mechanisms

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dpglm/dpglm/internal/check"
)

// Laplace adds discrete Laplace noise to a vector: at L1 sensitivity Δ each
// coordinate gets noise of scale Δ/Epsilon (standard deviation √2 times that),
// from an exact sampler, on a grid.
//
// # Privacy
//
// Replace-one. A release is Epsilon-DP, with no slack: δ = 0. The caller answers
// for the L1 sensitivity, the largest Σ|v_i − v'_i| that one row can cause. A
// vector of d coordinates that moves by at most Δ₂ in L2 norm moves by at most
// √d·Δ₂ in L1 norm.
//
// Proof. The value is rounded to multiples of g = 2^k, chosen from the
// sensitivity and Epsilon only; that moves each coordinate by at most g/2, hence
// two neighbours' rounded values are at most (Δ + g·d)/g steps apart in L1 norm.
// The noise is g·Y with P(Y = y) ∝ exp(−|y|/s) for the integer
// s ≥ (Δ + g·d)/(g·Epsilon), so on the grid the two probabilities of any output
// differ by a factor of at most exp((Δ + g·d)/(g·s)) ≤ exp(Epsilon)
// [Dwork, McSherry, Nissim and Smith, TCC 2006, for the continuous law]. What
// leaves is the exact sum, rounded once to a float64: post-processing of it, so
// that no low-order bit tells where the value was [M12].
//
// Its curve is δ(x) ≤ 1 − e^{(x−ε)/2} + 2^-83 for |x| < ε = Epsilon, below that of
// any ε-DP release, (1 − e^{x−ε})/(1 + e^{−ε}). At x = 0, where δ is how well one release
// tells neighbours apart, that is 0.39 for 0.46 at ε = 1. Proof. Of all shifts with one L1
// norm, a whole number m ≤ s·Epsilon of steps, that of a single coordinate is told apart most
// easily: in one coordinate the best tests are thresholds, whatever the shift, so that the
// trade-off curves of shifts compose to that of their sum; and a path that shifts one
// coordinate after the other bounds the curve of all by the same composition. For one
// coordinate δ(x) is the largest of 1 − (e^{−(k+1)/s} + e^{x−(m−k)/s})/(1 + e^{−1/s}) over
// thresholds 0 ≤ k ≤ m, at most 1 − e^{(x−m/s)/2}/cosh(1/(2s)), and s ≥ 2^40. The file
// internal/accounting/laplace.go has it step by step, with the μ of Gaussian DP that follows.
type Laplace struct {
	Epsilon float64 // ε of one release, pure; from 1e-100 to 1e100
}

// Release writes value + noise to dst, which may be value itself. It takes about a
// quarter of a microsecond a coordinate. The sensitivity must lie in
// [1e-60, 1e60], the lengths must be equal and the values finite; an error about a value goes to
// the curator and is not part of the guarantee.
func (l Laplace) Release(dst, value []float64, l1Sensitivity float64, src Source) error {
	step, scale, err := l.grid(l1Sensitivity, len(value))
	if err != nil {
		return err
	}
	random, err := vectorWords(dst, value, src)
	if err != nil {
		return err
	}
	for i, v := range value {
		if math.Abs(v) < 0x1p53*step { // larger ones are multiples of the step
			v = math.RoundToEven(v/step) * step
		}
		dst[i] = addSteps(v, discreteLaplace(scale, random), step)
	}
	return random.spent(dst)
}

// grid returns the grid's step, a power of two, and the noise's integer scale
// in steps, rounded up.
func (l Laplace) grid(sensitivity float64, dim int) (step float64, scale uint64, err error) {
	if err := check.Epsilon(l.Epsilon); err != nil {
		return 0, 0, err
	}
	if err := check.Bound("l1Sensitivity", sensitivity); err != nil {
		return 0, 0, err
	}
	ratio := sensitivity / l.Epsilon
	if !(ratio > 1e-200 && ratio < 1e200) {
		return 0, 0, check.Fail(check.ErrBound, "l1Sensitivity/epsilon", ratio, "must lie between 1e-200 and 1e200")
	}
	_, exp := math.Frexp(ratio) // 2^(exp-1) ≤ ratio < 2^exp
	step = math.Ldexp(1, exp-1-gridBits)
	widened := (sensitivity + step*float64(dim)) * (1 + 1e-15)
	steps := math.Ceil(widened / l.Epsilon / step * (1 + 1e-15))
	if !(steps < 0x1p62) {
		return 0, 0, check.Fail(check.ErrBudget, "epsilon", l.Epsilon, fmt.Sprintf("is too small for %d coordinates", dim))
	}
	return step, uint64(steps), nil
}

// Ledger returns the entry for the given number of releases, each of them Epsilon-DP by the
// curve of Laplace noise; values and sensitivities may be chosen from earlier releases. It fails for an ε out of range, and
// for no release.
func (l Laplace) Ledger(label string, releases int) (*Ledger, error) {
	if err := check.Epsilon(l.Epsilon); err != nil {
		return nil, err
	}
	return epsilonLedger(KindLaplace, label, l.Epsilon, releases)
}

// discreteLaplace draws an integer with probability proportional to
// exp(−|y|/scale), of any size.
func discreteLaplace(scale uint64, src *words) *big.Int {
	u, v, negative := discreteLaplaceParts(scale, src)
	y := new(big.Int).SetUint64(v)
	y.Mul(y, new(big.Int).SetUint64(scale))
	y.Add(y, new(big.Int).SetUint64(u))
	if negative {
		y.Neg(y)
	}
	return y
}

// discreteLaplaceParts draws y with probability proportional to exp(−|y|/t) and
// returns |y| = u + t·v with 0 ≤ u < t, and y's sign [CKS20, Algorithm 2].
func discreteLaplaceParts(t uint64, src *words) (u, v uint64, negative bool) {
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

// addSteps returns v + n·step, step a power of two, rounded once. In float64
// alone n would be rounded first where it needs more than 53 bits; that is rarer
// than e^-4096, but would cost the guarantee its δ = 0.
func addSteps(v float64, n *big.Int, step float64) float64 {
	if n.BitLen() <= 53 {
		return v + float64(n.Int64())*step // the product is exact
	}
	noise := new(big.Float).SetInt(n)
	noise.Mul(noise, big.NewFloat(step))
	// v and the step lie in the range of float64: 2200 bits hold their sum.
	sum, _ := new(big.Float).SetPrec(2200).Add(big.NewFloat(v), noise).Float64()
	return sum
}
