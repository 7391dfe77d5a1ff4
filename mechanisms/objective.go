package mechanisms

import "github.com/dpglm/dpglm/internal/check"

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
// The output noise: what is computed lies within some r of a function of θ̂ whatever the data, so
// adding N(0, s²I) to it, given θ̂, is a release of sensitivity 2r and
// (2r/s)-GDP. The [Ledger] composes both, and the slack of the grids (see
// Gaussian) of two vectors, b and the output noise.
//
// A solver can answer for a ball only. The function of θ̂ that is computed is
//
//	f(θ) = θ·min(1, 2 − 2‖θ‖/R)₊,
//
// which is θ up to R/2 and 0 from R on, and nowhere steeper than 2: a point within τ of the
// minimiser over the ball of radius R gives f to 2τ, for every b however long, since from R on
// the minimiser over the ball lies on its sphere.
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

// Ledger returns the entry for one release of a minimiser with dim coordinates. It fails for
// parameters that break their rules, and for no coordinate.
func (o ObjectivePerturbation) Ledger(label string, dim int) (*Ledger, error) {
	return (&Ledger{node: node{Kind: KindObjective, Label: label, Ratio: o.Ratio, LogDet: o.LogDet, Mu: o.OutputMu, Releases: 1, Dim: dim}}).complete()
}

// PureObjectivePerturbation accounts for the release of the minimiser of [ObjectivePerturbation] where
// the coordinates of b are Laplace noise, and so is what is added to the minimiser: it is ε-DP, δ = 0,
// with
//
//	ε = Epsilon + LogDet + OutputEpsilon.
//
// # Privacy
//
// Replace-one. b and θ̂ determine each other: at θ̂ the log-ratio of the densities from two neighbours is
// that of two determinants, at most LogDet = log(1 + HX²/λ) (see ObjectivePerturbation), plus that of
// the two b that lead to θ̂. These differ by two rows' gradients, in L2 norm by 2L and hence by 2L√d in L1 norm
// for d coordinates. Where b's coordinates have density ∝ exp(−|b|/t) with t ≥ 2L√d/Epsilon, that is at
// most Epsilon [CMS11, for noise of density ∝ exp(−‖b‖₂·Epsilon/(2L))]. No event is left out, so that
// there is no δ.
//
// Grids. [Laplace] draws g·Y for b, Y an integer; let U be uniform on the cube of side g. The density of g·Y + U at
// two points that are v apart differs by the factor of at most exp((‖v‖₁ + g·d)/t), which is what Laplace
// chooses t for. So θ̂ is taken to be the minimiser for g·Y + U, from which that for g·Y is g√d/(2λ) away at most:
// it adds to what the output noise covers. What is computed is f, as there; given θ̂, it moves by at most
// 4(τ + g√d/(2λ)) in L2 norm, and Laplace noise for √d times that is OutputEpsilon-DP.
//
// [CMS11] Chaudhuri, Monteleoni and Sarwate, Differentially Private Empirical Risk Minimization, JMLR 2011.
type PureObjectivePerturbation struct {
	Epsilon       float64 // of the linear term
	LogDet        float64 // log(1 + HX²/λ)
	OutputEpsilon float64 // of the output noise
}

// Total is the ε of a release: the sum, rounded up.
func (o PureObjectivePerturbation) Total() float64 {
	return (o.Epsilon + o.LogDet + o.OutputEpsilon) * (1 + 1e-15)
}

// Ledger returns the entry for one release, Total-DP. It fails for an ε that is out of range, and a LogDet
// that is negative or so large that the total is.
func (o PureObjectivePerturbation) Ledger(label string) (*Ledger, error) {
	return (&Ledger{node: node{Kind: KindPureObjective, Label: label, Epsilon: o.Epsilon, LogDet: o.LogDet, Output: o.OutputEpsilon, Releases: 1}}).complete()
}

func (o PureObjectivePerturbation) validate() error {
	if !(o.LogDet >= 0) {
		return check.Fail(check.ErrBudget, "log det", o.LogDet, "must not be negative")
	}
	for _, epsilon := range []float64{o.Epsilon, o.OutputEpsilon, o.Total()} {
		if err := check.Epsilon(epsilon); err != nil {
			return err
		}
	}
	return nil
}
