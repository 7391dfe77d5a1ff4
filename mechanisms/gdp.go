package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// GaussianDelta returns the privacy profile of a μ-GDP release, that is of the
// Gaussian mechanism with noise σ = Δ/μ at L2 sensitivity Δ:
//
//	δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)
//
// [BW18, Theorem 8; DRS22, Corollary 2.13]. The result is an upper bound: the
// evaluation error, about 1e-12 relative for μ ≥ 1e-3, is added. Negative ε,
// where the profile is defined too, is allowed.
func GaussianDelta(mu, epsilon float64) (float64, error) {
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	if math.IsNaN(epsilon) || math.IsInf(epsilon, 0) {
		return 0, check.Fail(check.ErrBudget, "epsilon", epsilon, "must be finite")
	}
	return math.Exp(logGaussianDelta(mu, epsilon)), nil
}

// logGaussianDelta returns an upper bound on log δ(ε). Since
// e^ε φ(μ/2 + ε/μ) = φ(μ/2 − ε/μ), the profile is φ(a)·(M(−a) − M(μ−a)) with
// a = μ/2 − ε/μ and M the Mills ratio: no term overflows, and small δ keep
// their relative accuracy.
func logGaussianDelta(mu, epsilon float64) float64 {
	v := evaluateGaussianDelta(mu, epsilon)
	if math.IsNaN(v) { // overflow far from any use: claim nothing
		return 0
	}
	return math.Min(0, v)
}

func evaluateGaussianDelta(mu, epsilon float64) float64 {
	if epsilon < 0 { // δ(−ε) = 1 − e^{−ε} + e^{−ε}δ(ε), by symmetry of the pair
		sum := -math.Expm1(epsilon) + math.Exp(epsilon+logGaussianDelta(mu, -epsilon))
		return math.Min(0, math.Log(sum*(1+1e-15))+1e-16)
	}
	a := mu/2 - epsilon/mu
	if a < -1e150 { // its square overflows
		return -math.MaxFloat64
	}
	logDensity := -a*a/2 - 0.5*math.Log(2*math.Pi)
	// a carries an absolute error of 2u(μ/2 + ε/μ), which the density amplifies.
	slack := 1e-15 * (4 + math.Abs(a)*(mu/2+epsilon/mu))
	second := mills(mu-a) * (1 - millsError)
	if a > 5 {
		// Φ(a) is nearly one: subtract the two tails from it.
		tails := math.Exp(logPhi(-a)) + math.Exp(logDensity)*second
		return math.Log1p(-tails * math.Max(0, 1-slack-millsError))
	}
	diff := mills(-a)*(1+millsError) - second
	return math.Min(0, logDensity+math.Log(diff)+slack)
}

// GaussianMu returns the largest μ for which a μ-GDP release is (ε, δ)-DP: the
// analytic calibration of [BW18]. It errs downwards (more noise), by a relative
// 1e-12 or so. Any ε from 1e-4 to 1000 and δ from 1e-300 are served. The noise
// to add at sensitivity Δ is Δ/μ.
func GaussianMu(epsilon, delta float64) (float64, error) {
	if err := check.Epsilon(epsilon); err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	logDelta := math.Log(delta)
	logDelta -= 4e-16 * (1 + math.Abs(logDelta)) // the logarithm's own rounding
	private := func(logMu float64) bool { return logGaussianDelta(math.Exp(logMu), epsilon) <= logDelta }
	lo, hi := -1.0, 1.0
	for !private(lo) {
		lo *= 2
		if lo < -600 {
			return 0, check.Fail(check.ErrBudget, "epsilon, delta", [2]float64{epsilon, delta}, "are too small to calibrate Gaussian noise")
		}
	}
	for private(hi) {
		hi *= 2
	}
	for range 100 { // private(lo), not private(hi)
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if private(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	// The margin exceeds the noise of later evaluations, such as that of √Σμ², so
	// that these find the budget kept.
	return math.Exp(lo) * (1 - 1e-12), nil
}

// GaussianEpsilon returns the smallest ε ≥ 0 for which a μ-GDP release is
// (ε, δ)-DP, erring upwards.
func GaussianEpsilon(mu, delta float64) (float64, error) {
	if err := check.Mu(mu); err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return smallestEpsilon(func(eps float64) float64 { return math.Exp(logGaussianDelta(mu, eps)) }, delta), nil
}

// smallestEpsilon inverts a decreasing profile: it returns an ε ≥ 0 with
// profile(ε) ≤ delta, above the least one by at most 1e-12 relative, or +Inf
// where no finite ε serves.
func smallestEpsilon(profile func(float64) float64, delta float64) float64 {
	if profile(0) <= delta {
		return 0
	}
	lo, hi := 0.0, 1.0
	for profile(hi) > delta {
		lo, hi = hi, 2*hi
		if hi > 1e15 {
			return math.Inf(1)
		}
	}
	for hi-lo > 1e-13*hi {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if profile(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
