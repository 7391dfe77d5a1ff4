package accounting

import (
	"fmt"
	"math"
)

// laplace is the profile of discrete Laplace noise on vectors of integers: coordinates
// y of independent P(y) ∝ e^{−λ|y|}, λ ≤ 2^-40, whose values on neighbours lie at most m
// apart in L1 norm, λm ≤ eps. It is the lesser of that of ε-DP and
//
//	δ(x) = 1 − e^{(x−ε′)/2} on [−ε′, ε′], 0 above, 1 − e^x below,  ε′ = eps + slack,
//
// which is the exact profile of continuous Laplace noise of scale 1 that is moved by ε′.
//
// Proof. One coordinate, moved by an integer m ≥ 0. The likelihood ratio P(y − m)/P(y)
// doesn't fall in y, so that tests that reject for large y, at random in one atom, are
// optimal [Neyman and Pearson]. At x the best S is {y ≤ k}, 0 ≤ k ≤ m, for −λm ≤ x ≤ λm: with
// q = e^{−λ}, P(y > k) = q^{k+1}/(1+q) and P(y ≤ −j) = q^j/(1+q), so that
//
//	δ(x) = max_k 1 − (q^{k+1} + e^x·q^{m−k})/(1+q) ≤ 1 − e^{(x−λm)/2}/cosh(λ/2)
//
// by the inequality of the means, and cosh(λ/2) ≤ e^{λ²/8} makes the last
// 1 − e^{(x−λm−λ²/4)/2}, with λ²/4 ≤ 2^-82 = slack. In the limit λ → 0 it is attained.
//
// Several coordinates, moved by a_1, …, a_d with Σ|a_i| ≤ m. Let f_a be the trade-off
// curve of one coordinate between 0 and a ≥ 0, the least type II error by the type I
// error; as noise is symmetric, −a has the same one. A chain of d steps moves one coordinate at
// a time. A test of level α has power at most 1 − f_{a_1}(α) after the first step, which is
// its level in the second, and so on, so that the curve of the whole is at least
//
//	f_{a_d} ∘ (1 − f_{a_{d−1}}) ∘ … ∘ (1 − f_{a_1}).
//
// In one coordinate there is equality: the optimal test of level α between 0 and a is one
// that rejects for large y, and so is optimal, at its level 1 − f_a(α), between a and a + b.
// Hence f_b ∘ (1 − f_a) = f_{a+b}; it falls in b, as f_b(1 − t) ≤ t. So the curve of the whole
// is at least f_m, and by [DRS22, Proposition 2.12] its δ(x) at most that of f_m, at every x.
//
// For k rows m is km. Of disjoint sets of rows of which k₁ and k₂ are replaced, releases are
// one vector that is moved by (k₁ + k₂)m, with a slack each: slack is kept times k.
type laplace struct{ eps, slack float64 }

// laplaceSlack is λ²/4 for a scale of 2^40 steps.
const laplaceSlack = 0x1p-82

// Laplace returns the profile of releases with discrete Laplace noise of at least 2^40
// steps of scale, each of them ε-DP.
func Laplace(epsilon float64, releases int) *Sequence {
	return newSequence(gaussian{}, part{laplace{epsilon, laplaceSlack}, int64(releases)})
}

func (l laplace) delta(x float64) float64 {
	least := pure{l.eps}.delta(x)
	if !(math.Abs(x) < l.eps) {
		return least
	}
	// 1 − e^{v−slack/2} ≤ 1 − e^v + slack/2 for v ≤ 0.
	return math.Min(least, capped(-math.Expm1((x-l.eps)/2)+l.slack/2))
}

// gdp is the Gaussian profile of the least μ, that of continuous noise that is moved by ε′.
//
// Proof. With F the law of the noise and H = Φ⁻¹∘F, the curve f(α) = F(F⁻¹(1−α) − ε′) lies above
// that of μ-GDP, Φ(Φ⁻¹(1−α) − μ), if and only if H(t) − H(t − ε′) ≤ μ for all t. H is odd, and
// for t ≥ 0, where F′ = 1 − F, H′ = (1 − Φ(H))/φ(H) is the Mills ratio, which falls. So the
// difference is largest at t = ε′/2, where it is 2H(ε′/2) = −2Φ⁻¹(e^{−ε′/2}/2).
func (l laplace) gdp() gaussian {
	return gaussian{mu: math.Min(pureMu(l.eps), laplaceMu((l.eps+l.slack)*up))}
}

// laplaceMu returns an upper bound on −2Φ⁻¹(e^{−ε/2}/2): it solves 2Φ(−μ/2) ≤ e^{−ε/2},
// written erf(μ/√8) ≥ 1 − e^{−ε/2} where ε is small.
func laplaceMu(eps float64) float64 {
	const margin = 1e-14 // as in pureMu
	enough := func(mu float64) bool {
		if eps < 1 {
			return math.Erf(mu/math.Sqrt(8)) >= -math.Expm1(-eps/2)*(1+margin)
		}
		return logPhi(-mu/2) <= -(eps/2+math.Ln2)*(1+margin)
	}
	_, hi := bisect(0, 2*eps, 2*eps, 1e-15, func(mu float64) bool { return !enough(mu) }) // μ ≤ 1.2534ε
	return hi
}

func (l laplace) logDelta(x float64) float64      { return toLog(l.delta(x)) }
func (l laplace) epsilon(d float64) float64       { return math.Min(l.eps, smallestEpsilon(l.delta, d)) }
func (l laplace) loss() float64                   { return l.eps }
func (l laplace) spread() float64                 { return l.gdp().mu }
func (l laplace) curve(int) func(float64) float64 { return l.delta }
func (l laplace) weight() int                     { return 1 }
func (l laplace) key() string                     { return fmt.Sprintf("laplace %x %x", l.eps, l.slack) }

func (l laplace) group(k float64) *Sequence { return one(laplace{k * l.eps * up, k * l.slack * up}) }
