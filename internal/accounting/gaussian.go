package accounting

import "math"

// GaussianDelta returns the profile of a μ-GDP release,
//
//	δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ),
//
// at any real ε [BW18, Theorem 8; DRS22, Corollary 2.13], rounded up: the
// evaluation error, about 1e-12 relative for μ ≥ 1e-3, is added.
func GaussianDelta(mu, epsilon float64) float64 { return fromLog(logGaussianDelta(mu, epsilon)) }

// GaussianEpsilon returns the smallest ε ≥ 0 for which a μ-GDP release is
// (ε, δ)-DP, rounded up; +Inf where it is beyond 1e15.
func GaussianEpsilon(mu, delta float64) float64 { return gaussian{mu: mu}.epsilon(delta) }

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
	if a < -1e150 { // its square may overflow; the profile is below e^{−a²/2}
		return -1e299
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

// gaussian is the profile e^κ·δ_GDP(x − 2κ; μ) of Gaussian releases on a grid, κ
// being their slack. (μ = 0: there are none.)
type gaussian struct {
	mu          float64
	coordinates float64 // of all released vectors together
	moved       float64 // the sum, over these, of how far a row may move them, in σ, squared
}

// slack returns κ, a bound on the log-ratio between the probabilities of the
// noise's exact law and those of a rounded normal one.
//
// A release has noise g·Y on a grid of step g, Y discrete Gaussian of scale s ≥ 2^40,
// and neighbouring values lie, in one coordinate, m·s steps apart. Let P, P' be the
// laws of the released multiple of g on the two sides, and R, R' those with rounded
// normal noise of the same s: R(y) is the mean of a density over the cell of y, P(y)
// is proportional to that density at its middle. (Sum and integral of the density
// agree to e^{−2π²s²}.) At a distance t from the centre the mean is at least
// e^{−1/(24s²)} times the middle's value, by Jensen's inequality, and at most
// sinh(a)/a ≤ e^{a²/6} times it, a = t/(2s²). For a set S, with A the outputs within
// 64s of the first centre, hence within (64 + m)s of the second,
//
//	P(S) ≤ P(S∩A) + tail ≤ e^{1/(24s²)}·R(S∩A) + tail,
//	R(S∩A) ≤ e^ε·R'(S∩A) + δ_GDP(ε),   R'(S∩A) ≤ e^{(64+m)²/(24s²)}·P'(S).
//
// Both factors together are within e^κ for κ = (178 + 1.4m²)·2^-80, as
// (64 + m)² ≤ 64²·33/32 + 33m². Over the coordinates of all releases κ adds up, with m
// at most the μ of the release. The tail, 2e^-2048 a coordinate, is in logDelta.
func (g gaussian) slack() float64 { return (178*g.coordinates + 1.4*g.moved) * 0x1p-80 }

// noise is the profile of Gaussian releases of dim coordinates each.
func noise(mu float64, releases, dim int) gaussian {
	d := float64(dim)
	return gaussian{mu, d * up, d * mu * mu * up}.times(int64(releases))
}

func (g gaussian) delta(x float64) float64 { return fromLog(g.logDelta(x)) }

func (g gaussian) logDelta(x float64) float64 {
	if math.IsInf(g.mu, 1) {
		return 0
	}
	kappa := g.slack()
	v := kappa + logGaussianDelta(g.mu, x-2*kappa) + 4e-16
	if g.coordinates > 0 { // at most 2^127 of them: the tail is below e^-1900·e^-50
		v = math.Max(v, -1900) + 4e-16
	}
	return math.Min(0, v)
}

func (g gaussian) epsilon(d float64) float64 {
	if math.IsInf(g.mu, 1) {
		return math.Inf(1)
	}
	log := math.Log(d)
	return smallestEpsilon(g.logDelta, log-4e-16*math.Abs(log))
}

// then composes two Gaussian profiles [DRS22, Corollary 3.3].
func (g gaussian) then(h gaussian) gaussian {
	return gaussian{math.Hypot(g.mu, h.mu) * up, (g.coordinates + h.coordinates) * up, (g.moved + h.moved) * up}
}

// times composes copies.
func (g gaussian) times(copies int64) gaussian {
	n := float64(copies)
	return gaussian{g.mu * math.Sqrt(n) * up, g.coordinates * n * up, g.moved * n * up}
}

// or is above both, as Gaussian profiles are ordered by μ and by slack.
func (g gaussian) or(h gaussian) gaussian {
	return gaussian{math.Max(g.mu, h.mu), math.Max(g.coordinates, h.coordinates), math.Max(g.moved, h.moved)}
}
