package accounting

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// GaussianMu returns the largest μ for which a μ-GDP release is (ε, δ)-DP: the
// analytic calibration of [BW18]. It errs downwards (more noise), by a relative
// 1e-12 or so. Any ε from 1e-4 to 1000 and δ from 1e-300 are served.
func GaussianMu(epsilon, delta float64) (float64, error) {
	if err := check.EpsilonDelta(epsilon, delta); err != nil {
		return 0, err
	}
	log := math.Log(delta)
	log -= 4e-16 * (1 + math.Abs(log)) // the logarithm's own rounding
	lo, _ := bisect(0, 1, 1e300, 1e-16, func(mu float64) bool { return logGaussianDelta(mu, epsilon) <= log })
	if lo < 1e-260 {
		return 0, check.Fail(check.ErrBudget, "epsilon, delta", [2]float64{epsilon, delta}, "are too small to calibrate Gaussian noise")
	}
	// The margin exceeds the noise of later evaluations, such as that of √Σμ², so
	// that these find the budget kept.
	return lo * (1 - 1e-12), nil
}

// PureEpsilonWithin returns the largest ε for which every ε-DP release is μ-GDP,
// rounded down: μ = −2Φ⁻¹(1/(1+e^ε)) solved for ε [DRS22, Proposition 2.12 with
// the trade-off function of randomized response].
func PureEpsilonWithin(mu float64) float64 {
	return (logPhi(mu/2) - logPhi(-mu/2)) * (1 - 1e-11)
}
