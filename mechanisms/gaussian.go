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
// coordinates its profile is at most e^κ·δ(ε − 2κ), δ being GaussianDelta and
// κ = N·179·2^-80, which the Ledger includes. The caller answers for the
// sensitivity.
//
// Proof. The value v is rounded to the multiples of g = 2^k with
// σ/g ≥ 2^gridBits; rounding moves it by at most g√d/2, so sensitivity grows by
// g√d, which Release adds before it computes σ. The noise g·Y, Y discrete
// Gaussian of integer scale s = ⌈σ/g⌉, has nearly the law of the rounded
// continuous Gaussian: for |y| ≤ 64s the ratio of the two probabilities is
// within exp(±κ₁), κ₁ = 179/s², because a cell's mean density differs from the
// density at its centre by a factor between 1 − 1/(8s²) and
// 1 + 1.01·64²/(24s²). Beyond 64s lies less than e^-2048, under any δ that a
// float64 can hold. Rounding the continuous Gaussian mechanism's output to the
// grid is post-processing, so the statement follows coordinate by coordinate
// (adaptively too, by the chain rule). At last the float64 sum of two multiples
// of g is the correctly rounded value of their exact sum, hence post-processing
// of it: no low-order bit tells where v was [M12].
type Gaussian struct {
	Mu float64 // sensitivity over standard deviation, of one release
}

// Release writes value + noise to dst, which may be value itself. It needs
// about 25 ns a coordinate. The sensitivity must be positive and finite, the
// lengths equal and the values finite; an error about a value goes to the
// curator and is not part of the guarantee.
func (g Gaussian) Release(dst, value []float64, sensitivity float64, src Source) error {
	if err := check.Mu(g.Mu); err != nil {
		return err
	}
	if len(dst) != len(value) {
		return check.Fail(check.ErrShape, "len(dst)", len(dst), fmt.Sprintf("must equal len(value) = %d", len(value)))
	}
	if err := allFinite("value", value); err != nil {
		return err
	}
	step, scale, err := g.grid(sensitivity, len(value))
	if err != nil {
		return err
	}
	noise := newDiscreteGaussian(scale)
	for i, v := range value {
		if math.Abs(v) < 0x1p53*step { // larger ones are multiples of the step
			v = math.RoundToEven(v/step) * step // exact: step is a power of two
		}
		dst[i] = v + float64(noise.draw(src))*step
	}
	return nil
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

// Sigma returns the standard deviation that Release uses on dim coordinates.
func (g Gaussian) Sigma(sensitivity float64, dim int) (float64, error) {
	step, scale, err := g.grid(sensitivity, dim)
	return step * float64(scale), err
}

// gridSlack returns κ of the doc comment of Gaussian for n coordinates.
func gridSlack(n float64) float64 { return n * 179 * 0x1p-80 }

// CalibrateGaussian returns the mechanism of which the given number of
// (adaptive) releases of dim coordinates each together are (ε, δ)-DP, the
// grid's slack included: Mu = μ(ε, δ)/√releases [DRS22, Corollary 3.3].
func CalibrateGaussian(epsilon, delta float64, releases, dim int) (Gaussian, error) {
	if err := releasesAndDim(releases, dim); err != nil {
		return Gaussian{}, err
	}
	if err := check.Epsilon(epsilon); err != nil {
		return Gaussian{}, err
	}
	if err := check.Delta(delta); err != nil {
		return Gaussian{}, err
	}
	kappa := gridSlack(float64(releases) * float64(dim))
	mu, err := GaussianMu(epsilon-2*kappa, delta*math.Exp(-kappa))
	if err != nil {
		return Gaussian{}, err
	}
	// The margin makes up for those that a Ledger adds and for its rounding, which
	// is as small unless ε and δ are tiny.
	for margin := 1e-11; margin < 0.5; margin *= 4 {
		g := Gaussian{Mu: mu / math.Sqrt(float64(releases)) * (1 - margin)}
		l, err := g.Ledger("", releases, dim)
		if err != nil {
			return Gaussian{}, err
		}
		if l.Within(epsilon, delta) {
			return g, nil
		}
	}
	return Gaussian{}, check.Fail(check.ErrBudget, "epsilon, delta", [2]float64{epsilon, delta}, "are too small to calibrate Gaussian noise")
}

// Ledger returns the entry for the given number of releases of dim coordinates
// each. Each release's noise must have been scaled to its own sensitivity by
// the ratio Mu; sensitivities may be chosen from earlier releases.
func (g Gaussian) Ledger(label string, releases, dim int) (*Ledger, error) {
	if err := check.Mu(g.Mu); err != nil {
		return nil, err
	}
	if err := releasesAndDim(releases, dim); err != nil {
		return nil, err
	}
	return &Ledger{kind: KindGaussian, label: label, mu: g.Mu, releases: releases, dim: dim}, nil
}

func releasesAndDim(releases, dim int) error {
	if releases < 1 {
		return check.Fail(check.ErrConfig, "releases", releases, "must be at least 1")
	}
	if dim < 1 {
		return check.Fail(check.ErrShape, "dim", dim, "must be at least 1")
	}
	return nil
}
