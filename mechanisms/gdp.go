package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// GaussianDelta returns the privacy profile of a μ-GDP release, that is of the
// Gaussian mechanism with noise σ = Δ/μ at L2 sensitivity Δ:
//
//	δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)
//
// [BW18, Theorem 8; DRS22, Corollary 2.13]. It is rounded up. Negative ε, where the
// profile is defined too, is allowed.
//
// It fails where μ doesn't lie in [1e-60, 1e60], or ε isn't finite.
func GaussianDelta(mu, epsilon float64) (float64, error) {
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 0) {
		return 0, check.Fail(check.ErrBudget, "epsilon", epsilon, "must be finite")
	}
	return accounting.GaussianDelta(mu, epsilon), nil
}

// GaussianEpsilon returns the smallest ε ≥ 0 for which a μ-GDP release is (ε, δ)-DP, rounded
// up. It fails where μ doesn't lie in [1e-60, 1e60], or δ in (0, 1).
func GaussianEpsilon(mu, delta float64) (float64, error) {
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return accounting.GaussianEpsilon(mu, delta), nil
}
