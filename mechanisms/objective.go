package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// ObjectivePerturbation accounts for the release of a noisily perturbed minimiser
//
//	θ̂ = argmin_θ Σ ℓ_i(θ) + (λ/2)‖θ‖² + ⟨b, θ⟩,   b ~ N(0, σ²I)
//
// of a generalized linear model, ℓ_i(θ) = φ_i(⟨x_i, θ⟩) convex, with a little
// Gaussian noise on top that covers what separates the computed minimiser from
// the exact one. It holds the public numbers of which the privacy profile is a
// function; the learner draws the noise.
//
// # Privacy
//
// Replace-one. With L ≥ |φ_i'|·‖x_i‖ and H at least the second derivative of each
// φ_i, everywhere, ‖x_i‖ ≤ X,
// a = L/σ and d = log(1 + HX²/λ), the profile of θ̂ is at most, for ν = 2a and
// real ε,
//
//	δ(ε) = E(1 − e^{ε−d−M})₊,   M = ν²/2 + ν|N(0,1)|.
//
// The first half of the proof is the change of variables of [KST12, W21,
// RKW23]: b and θ̂ determine each other, so at θ̂ the laws from two neighbours
// have the log-ratio
//
//	log det-ratio + (2⟨b,w⟩ + ‖w‖²)/(2σ²),   w = αu − βv,
//
// u and v being the directions of the two rows' features and |α|, |β| ≤ L. The
// Hessians are λI plus positive terms, of which two, of rank one, differ: each
// changes the determinant by a factor between 1 and e^d, so the first term is
// within ±d. (A φ' with kinks is Lipschitz, and the area formula serves.) Given
// b, drawn from N(0, σ²I) under the law from the first data set, the second term
// is convex in (α, β), hence at most its largest value at (±L, ±L). There
// w = ±L(u+v) or ±L(u−v); these are orthogonal, with lengths 2L·cosω and 2L·sinω,
// say 0 ≤ ω ≤ π/4. So it is at most
//
//	M_ω = max(2a²cos²ω + 2a·cosω·|N₁|, 2a²sin²ω + 2a·sinω·|N₂|)
//
// with N₁, N₂ independent standard normal, and M_0 = M. The second half, that
// ω = 0 is worst at every ε, is ours. Let A = m/(2a·cosω) − a·cosω,
// B = m/(2a·sinω) − a·sinω and F(r) = P(|N₁| ≤ r), so that
// E(1 − e^{x−M_ω})₊ = ∫_x^∞ e^{x−m}(1 − F(A)F(B)) dm. Differentiating both sides
// by m proves that
//
//	∂/∂ω (1 − F(A)F(B))·e^{−m} = 4a ∂/∂m [ e^{−m}(sinω φ(A)F(B) − cosω φ(B)F(A)) ]
//
// where A ≥ 0 (φ is the normal density; below, the left side is 0). Hence the
// derivative by ω of the expectation is −4a·e^{x−m}·[…] at m = x, or where A = 0
// if that is later. It isn't positive: F/φ is a power series with positive
// coefficients in odd powers, so it grows faster than r, and
// A·cosω ≤ B·sinω with A ≤ B gives cosω·F(A)/φ(A) ≤ sinω·F(B)/φ(B).
//
// The output noise: the computed θ lies within some r of θ̂ whatever the data, so
// adding N(0, s²I) to it, given θ̂, is a release of sensitivity 2r and
// (2r/s)-GDP. The Ledger composes both, and the slack of the grids (see
// Gaussian) of two vectors, b and the output noise.
//
// # Sources
//
// [KST12] Kifer, Smith and Thakurta, Private Convex Empirical Risk Minimization
// and High-dimensional Regression, COLT 2012. [W21] Wang and Redberg, Lecture 10:
// Objective Perturbation, 2021. [RKW23] Redberg, Koskela and Wang, Improving the
// Privacy and Practicality of Objective Perturbation for Differentially Private
// Linear Learners, NeurIPS 2023, Theorem 3.1. [INSTTW19] Iyengar et al., Towards
// Practical Differentially Private Convex Optimization, S&P 2019 (the output
// noise).
type ObjectivePerturbation struct {
	Ratio    float64 // a: the bound on a row's gradient norm over the standard deviation of b
	LogDet   float64 // d = log(1 + HX²/λ)
	OutputMu float64 // μ of the output noise: twice the error of the minimiser, over the noise's standard deviation
}

// Limits of the numbers, so that none of the sums here overflows or vanishes.
const (
	minObjective = 1e-12
	maxObjective = 1e6
)

func (o ObjectivePerturbation) validate() error {
	for _, c := range []struct {
		param      string
		value, min float64
	}{{"ratio", o.Ratio, minObjective}, {"log det", o.LogDet, 0}, {"output mu", o.OutputMu, minObjective}} {
		if !(c.value >= c.min && c.value <= maxObjective) {
			return check.Fail(check.ErrBudget, c.param, c.value, fmt.Sprintf("must lie between %g and %g", c.min, maxObjective))
		}
	}
	return nil
}

// Ledger returns the entry for one release of a minimiser with dim coordinates.
func (o ObjectivePerturbation) Ledger(label string, dim int) (*Ledger, error) {
	return (&Ledger{kind: KindObjective, label: label, ratio: o.Ratio, logDet: o.LogDet, mu: o.OutputMu, releases: 1, dim: dim}).complete()
}

// sequence returns the profile of the given number of releases.
func (o ObjectivePerturbation) sequence(releases, dim int) *sequence {
	r := float64(releases)
	return newSequence(
		gaussian{mu: o.OutputMu * math.Sqrt(r) * up, kappa: gridSlack(2 * r * float64(dim))},
		part{newObjective(o.Ratio, o.LogDet), int64(releases)})
}

// objective is the profile of θ̂. Where x ≥ d + ν²/2 the expectation in
// ObjectivePerturbation is 2δ_GDP(x − d; ν), as two halves of a normal law. That
// bound, with its mirror image for x < 0, isn't convex in e^x, which the true
// profile is: between −corner and corner, where a line in e^x touches both, the
// line is taken. It is the profile of (corner, δ(corner))-DP.
type objective struct {
	nu, logDet float64
	corner     pure
	top        float64 // δ(corner)
}

// newObjective finds the corner, at the least (1 − δ(x))/(1 + e^x). Any other
// point beyond d + ν²/2 would serve too.
func newObjective(ratio, logDet float64) objective {
	o := objective{nu: 2 * ratio, logDet: logDet}
	from := (logDet + o.nu*o.nu/2) * up
	rises := func(x float64) bool {
		y := x - logDet
		slope := 2 * math.Exp(y+logPhi(-o.nu/2-y/o.nu)) // −δ'
		return slope*(1+math.Exp(-x)) > 1-o.fold(x)
	}
	lo, hi := 0.0, 1.0
	for rises(from + hi*o.nu) {
		lo, hi = hi, 2*hi
	}
	for range 40 {
		if mid := lo + (hi-lo)/2; rises(from + mid*o.nu) {
			lo = mid
		} else {
			hi = mid
		}
	}
	o.corner = pure{from + hi*o.nu}
	o.top = o.fold(o.corner.eps)
	return o
}

// logFold returns an upper bound on log 2δ_GDP(x − d; ν).
func (o objective) logFold(x float64) float64 {
	y := x - o.logDet
	y -= 2e-16 * math.Abs(x) // the profile falls
	return math.Ln2 + 4e-16 + logGaussianDelta(o.nu, y)
}

func (o objective) fold(x float64) float64 { return math.Min(1, math.Exp(o.logFold(x))*up) }

func (o objective) delta(x float64) float64 {
	switch {
	case x >= o.corner.eps:
		return o.fold(x)
	case x > -o.corner.eps:
		return math.Min(1, (o.top+(1-o.top)*o.corner.delta(x))*up)
	}
	return math.Min(1, (-math.Expm1(x)+math.Exp(x+o.logFold(-x)))*up)
}

func (o objective) epsilon(d float64) float64       { return smallestEpsilon(o.delta, d) }
func (o objective) loss() float64                   { return math.Inf(1) }
func (o objective) spread() float64                 { return o.nu + o.corner.eps }
func (o objective) curve(int) func(float64) float64 { return o.delta }
func (o objective) group(k float64) profile         { return grouped{o, k} }
func (o objective) weight() int                     { return 1 }
func (o objective) key() string                     { return fmt.Sprintf("objective %x, %x", o.nu, o.logDet) }
