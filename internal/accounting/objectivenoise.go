package accounting

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
)

// noisyObjective is the profile of one objective perturbation composed with
// Gaussian releases of (together) μ-GDP, of which the privacy loss ℓ is
// N(μ²/2, μ²):
//
//	δ(x) = E δ_obj(x − ℓ)
//
// It is an upper bound, above the expectation by about 1e-11 of it and what
// logGaussianDelta adds at ν, together 1e-8 at ν = 1e-3. Left of the
// corner δ_obj is a combination of 1 and e^x, and the expectation elementary;
// the mirror image needs nothing new; right of it remains an integral.
type noisyObjective struct {
	of    objective
	noise gaussian
}

func (p noisyObjective) delta(x float64) float64 {
	kappa := p.noise.slack()
	return math.Max(leastDelta, capped(math.Exp(kappa)*p.centred(x-2*kappa)))
}

func (p noisyObjective) epsilon(d float64) float64 { return smallestEpsilon(p.delta, d) }

func (p noisyObjective) centred(x float64) float64 {
	if x < 0 {
		return -math.Expm1(x) + math.Exp(x)*p.centred(-x)
	}
	// The second term of right(−x) is at most its factor at the corner times the
	// probability of getting there.
	mirrored := p.of.top * math.Exp(x+logPhi(-p.z(x+p.of.corner.eps, 1)))
	sum := p.cornered(x) + math.Exp(p.logRight(x))
	if mirrored < 1e-14*sum {
		sum += mirrored
	} else {
		sum += math.Exp(x + p.logRight(-x))
	}
	return math.Min(1, sum*(1+1e-11))
}

// z returns (ℓ ± μ²/2)/μ: beyond ℓ lies the mass Φ(−z) of the loss's law (sign
// −1), or of the same law weighted by e^{−ℓ} (sign 1).
func (p noisyObjective) z(l, sign float64) float64 {
	return l/p.noise.mu + sign*p.noise.mu/2
}

// cornered returns the expectation over x − ℓ < corner. With c the corner, there
// δ_obj is (c, 0)-DP's profile, and in (−c, c) in addition δ(c) times what that
// profile leaves to 1, which is (e^{−c} + e^{x−ℓ−c})/(1 + e^{−c}). The loss of
// (c, 0)-DP is ±c.
func (p noisyObjective) cornered(x float64) float64 {
	c, mu := p.of.corner.eps, p.noise.mu
	near := x - c - 4e-16*(x+c)
	decay := math.Exp(-c)
	exact := math.Exp(logGaussianDelta(mu, near)) + decay*math.Exp(logGaussianDelta(mu, x+c))
	within := decay*(math.Exp(logPhi(-p.z(near, -1)))-(1-1e-12)*math.Exp(logPhi(-p.z(x+c, -1)))) +
		math.Exp(x-c+logPhi(-p.z(near, 1))) - (1-1e-12)*math.Exp(x-c+logPhi(-p.z(x+c, 1)))
	return (exact + p.of.top*math.Max(0, within)*(1+1e-11)) / (1 + decay)
}

// logRight returns the logarithm of ∫ n(ℓ)·2δ_GDP(x − ℓ − d; ν) dℓ over
// x − ℓ ≥ corner, n being the density of ℓ.
//
// Both factors are log-concave in ℓ, the second because δ_GDP convolves two
// log-concave functions. So the integrand g has one peak, and beyond a point at
// which it fell by a factor e^{−D} over a length w, less than w/D times its value
// there. In between, panels of half-width h ≤ κ, 1/κ² = 1/ν² + 1/μ², get Gauss's
// rule with 16 points. Its error is at most (64/15)·h·S·ρ^{−30}/(1 − ρ^{−2}),
// where S bounds |g| in the ellipse of Bernstein with sum of semiaxes ρh
// (Trefethen, Approximation Theory and Approximation Practice, Theorem 19.3). On
// its real part log g lies below its tangent at the centre. Elsewhere |g| is at most e^{τ²/(2κ²)} times its value at the real part, τ being the
// imaginary part: n grows by e^{τ²/(2μ²)}, and
// δ_GDP(y) = ∫_0^∞ (1 − e^{−s})p(y + s) ds, p a normal density of variance ν².
func (p noisyObjective) logRight(x float64) float64 {
	mu := p.noise.mu
	end := x - p.of.corner.eps + 4e-16*(math.Abs(x)+p.of.corner.eps)
	// All of g, over every real ℓ, and the falling factor times the other's mass.
	bound := math.Min(math.Ln2+logGaussianDelta(math.Hypot(p.of.nu, mu)*up, x-p.of.logDet-4e-16*(math.Abs(x)+p.of.logDet)),
		math.Log(p.of.top)+logPhi(p.z(end, -1)))
	if bound < -1000 {
		return bound * (1 - 1e-9)
	}
	peak := p.peak(x, end)
	best := p.logIntegrand(x, peak)
	kappa := 1 / math.Hypot(1/p.of.nu, 1/mu)
	g := func(l float64) float64 { return math.Exp(p.logIntegrand(x, l) - best) }
	sum := p.march(x, kappa, peak, math.Inf(-1), g) + p.march(x, kappa, peak, end, g)
	return best + math.Log(sum) + 1e-15*(1e3+math.Abs(best))
}

// slope returns (log g)'(ℓ).
func (p noisyObjective) slope(x, l float64) float64 {
	y := x - l - p.of.logDet
	fall := math.Exp(y + logPhi(-p.of.nu/2-y/p.of.nu) - logGaussianDelta(p.of.nu, y)) // −(log δ_GDP)'
	return fall - p.z(l, -1)/p.noise.mu
}

// logIntegrand returns log n(ℓ)·2δ_GDP(x − ℓ − d; ν), at most 1e-11 too high.
func (p noisyObjective) logIntegrand(x, l float64) float64 {
	z := p.z(l, -1)
	slack := 4e-16 * (4 + z*z + math.Abs(z)*(math.Abs(l)/p.noise.mu+p.noise.mu))
	y := x - l - 4e-16*(math.Abs(x)+math.Abs(l))
	return -z*z/2 + slack - math.Log(p.noise.mu) - 0.5*math.Log(2*math.Pi) + p.of.logFold(y)
}

// The nodes and weights of Gauss's rule on [−1, 1], and the constants of its
// error: the ellipse's semiaxes are 17/8 and 15/8 for ρ = 4.
var gaussNodes, gaussWeights = func() (x, w [16]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

const (
	ellipseReal      = 17.0 / 8
	ellipseImaginary = 15.0 / 8
	gaussError       = 64.0 / 15 / (1 - 1.0/16) / (1 << 60) // 4^-30
	negligible       = 36                                   // e^-36 = 2e-16
	maxPanels        = 200
)

// march integrates g, which is e^{−best} times the integrand, from the peak to
// end, panel by panel until the rest is negligible, and bounds that.
func (p noisyObjective) march(x, kappa, peak, end float64, g func(float64) float64) float64 {
	sum, at := 0.0, peak
	for range maxPanels {
		if at == end {
			return sum
		}
		// Few panels even where g falls steeply from a peak at the corner.
		width := 2 * math.Min(kappa, 8/math.Abs(p.slope(x, at)))
		next := math.Min(end, at+width)
		if end < at {
			next = at - width
		}
		lo, hi := math.Min(at, next), math.Max(at, next)
		if hi == lo { // narrower than the numbers' resolution
			return math.Inf(1)
		}
		sum += p.panel(x, kappa, lo, hi, g)
		at = next
		if drop := p.logIntegrand(x, peak) - p.logIntegrand(x, at); drop > negligible {
			return sum + g(at)*math.Abs(at-peak)/drop*(1+1e-9)
		}
	}
	return math.Inf(1)
}

func (p noisyObjective) panel(x, kappa, lo, hi float64, g func(float64) float64) float64 {
	centre, half := lo+(hi-lo)/2, (hi-lo)/2
	var sum float64
	for i, t := range gaussNodes {
		sum += gaussWeights[i] * g(centre+half*t)
	}
	tau := ellipseImaginary * half / kappa
	growth := math.Exp(math.Abs(p.slope(x, centre))*ellipseReal*half + tau*tau/2)
	return half * (sum + gaussError*g(centre)*growth*(1+1e-6)) * (1 + 1e-13)
}

// peak returns roughly where the integrand is largest on (−∞, end].
func (p noisyObjective) peak(x, end float64) float64 {
	mu := p.noise.mu
	lo, hi := math.Min(end, mu*mu/2), end
	if lo == end || p.slope(x, end) > 0 {
		return end
	}
	tolerance := math.Min(p.of.nu, mu) / 16 / math.Max(math.Abs(hi), 1e-300)
	at, _ := bisect(lo, hi, hi, tolerance, func(l float64) bool { return p.slope(x, l) > 0 })
	return at
}
