package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// gridBits is the resolution of Gaussian noise: its standard deviation spans at
// least 2^gridBits steps of the grid that values and noise lie on.
const gridBits = 40

// Gaussian adds Gaussian noise to a vector: at L2 sensitivity Δ each coordinate
// gets standard deviation σ = Δ/Mu, from an exact sampler, on a grid.
//
// # Privacy
//
// Replace-one. A release is Mu-GDP up to the grid's slack: over N released
// coordinates its profile is at most e^κ·δ(ε − 2κ), δ being [GaussianDelta] and
// κ = N·(178 + 1.4·Mu²)·2^-80, which the [Ledger] includes. The caller answers for
// the sensitivity.
//
// Proof. The value v is rounded to the multiples of g = 2^k with
// σ/g ≥ 2^gridBits; rounding moves it by at most g√d/2, so sensitivity grows by
// g√d, which Release adds before it computes σ. The noise g·Y, Y discrete
// Gaussian of integer scale s = ⌈σ/g⌉, has nearly the law of the rounded
// continuous Gaussian: within 64s of the one value, hence within (64 + Mu)s of the
// neighbour's, the probabilities differ by factors that κ covers, and beyond lies
// less than e^-2048 (internal/accounting, gaussian.slack). Rounding the continuous
// Gaussian mechanism's output to the grid is post-processing, so the statement
// follows coordinate by coordinate (adaptively too, by the chain rule). At last the
// float64 sum of two multiples of g is the correctly rounded value of their exact
// sum, hence post-processing of it: no low-order bit tells where v was [M12].
type Gaussian struct {
	Mu float64 // sensitivity over standard deviation, of one release; from 1e-60 to 1e60
}

// Release writes value + noise to dst, which may be value itself. It needs
// about 25 ns a coordinate. The sensitivity must be positive and finite, the
// lengths equal and the values finite; an error about a value goes to the
// curator and is not part of the guarantee.
func (g Gaussian) Release(dst, value []float64, sensitivity float64, src Source) error {
	if err := check.Mu(g.Mu); err != nil {
		return err
	}
	step, scale, err := g.grid(sensitivity, len(value))
	if err != nil {
		return err
	}
	random, err := vectorWords(dst, value, src)
	if err != nil {
		return err
	}
	noise := newDiscreteGaussian(scale)
	for i, v := range value {
		if math.Abs(v) < 0x1p53*step { // larger ones are multiples of the step
			v = math.RoundToEven(v/step) * step // exact: step is a power of two
		}
		dst[i] = v + float64(noise.draw(random))*step // an exact product
	}
	return random.spent(dst)
}

// grid returns the grid's step, a power of two, and the noise's integer scale
// in steps, rounded up.
func (g Gaussian) grid(sensitivity float64, dim int) (step float64, scale uint64, err error) {
	sigma := sensitivity / g.Mu
	if !(sensitivity > 0 && sigma > 1e-200 && sigma < 1e200) {
		return 0, 0, check.Fail(check.ErrBound, "sensitivity", sensitivity, fmt.Sprintf("must be positive, and sensitivity/mu = %g between 1e-200 and 1e200", sigma))
	}
	_, exp := math.Frexp(sigma) // 2^(exp-1) ≤ sigma < 2^exp
	step = math.Ldexp(1, exp-1-gridBits)
	widened := (sensitivity + step*math.Sqrt(float64(dim))) * (1 + 1e-15)
	steps := math.Ceil(widened / g.Mu / step * (1 + 1e-15))
	if !(steps < 0x1p46) { // beyond, 64 scales would not fit in the 53 bits of a float64
		return 0, 0, check.Fail(check.ErrBudget, "mu", g.Mu, fmt.Sprintf("is too small for %d coordinates", dim))
	}
	return step, uint64(steps), nil
}

// Sigma returns the standard deviation that Release uses on dim coordinates. It fails where μ
// or the sensitivity isn't positive and finite, or the noise would leave the range of float64.
func (g Gaussian) Sigma(sensitivity float64, dim int) (float64, error) {
	step, scale, err := g.grid(sensitivity, dim)
	return step * float64(scale), err
}

// Ledger returns the entry for the given number of releases of dim coordinates
// each. Each release's noise must have been scaled to its own sensitivity by
// the ratio Mu; sensitivities may be chosen from earlier releases. It fails for a Mu
// out of range, and for no release or coordinate.
func (g Gaussian) Ledger(label string, releases, dim int) (*Ledger, error) {
	return (&Ledger{node: node{Kind: KindGaussian, Label: label, Mu: g.Mu, Releases: releases, Dim: dim}}).complete()
}
