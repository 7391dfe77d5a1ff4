package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// GaussianMu returns the largest μ for which a μ-GDP release is (ε, δ)-DP: the analytic
// calibration of [BW18]. It errs downwards (more noise), by a relative 1e-12 or so. Any ε from
// 1e-4 to 1000 and δ from 1e-300 are served. The noise to add at sensitivity Δ is Δ/μ. It
// fails where ε isn't positive and finite, or δ doesn't lie strictly between 0 and 1.
func GaussianMu(epsilon, delta float64) (float64, error) {
	return accounting.GaussianMu(epsilon, delta)
}

// CalibrateGaussian returns the mechanism of which the given number of (adaptive) releases of
// dim coordinates each together are (ε, δ)-DP, the grid's slack included: Mu = μ(ε,
// δ)/√releases [DRS22, Corollary 3.3]. It fails where [GaussianMu] does, for no
// release or coordinate, and for budgets too small for the grid's slack.
func CalibrateGaussian(epsilon, delta float64, releases, dim int) (Gaussian, error) {
	if err := check.Releases(releases, dim); err != nil {
		return Gaussian{}, err
	}
	mu, err := GaussianMu(epsilon, delta)
	if err != nil {
		return Gaussian{}, err
	}
	mu /= math.Sqrt(float64(releases))
	// The first margin makes up for those that a Ledger adds and for its rounding, the
	// later ones for the slack of very many coordinates, or a tiny budget.
	for margin := 1e-11; margin < 1; margin *= 2 {
		g := Gaussian{Mu: mu * (1 - margin)}
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
