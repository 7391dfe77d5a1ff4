package accounting

import (
	"fmt"
	"math"
)

// pure is the profile of ε-DP. Randomized response, with losses ±ε, dominates
// every ε-DP release [KOV17].
type pure struct{ eps float64 }

func (p pure) delta(x float64) float64 {
	switch {
	case x >= p.eps:
		return 0
	case x <= -p.eps:
		return capped(-math.Expm1(x))
	}
	return capped(-math.Expm1(x-p.eps) / (1 + math.Exp(-p.eps)))
}

func (p pure) epsilon(d float64) float64       { return math.Min(p.eps, smallestEpsilon(p.delta, d)) }
func (p pure) loss() float64                   { return p.eps }
func (p pure) gdp() gaussian                   { return gaussian{mu: pureMu(p.eps)} }
func (p pure) curve(int) func(float64) float64 { return p.delta }
func (p pure) key() string                     { return fmt.Sprintf("pure %x", p.eps) }

// boundedRange is the profile of releases whose log-likelihood ratio between
// neighbours varies by at most eps over the outcomes: the exponential mechanism
// and its kin. If the losses lie in [t − ε, t], then E_Q(e^L − e^x)₊ under the
// constraint E_Q e^L = 1 is largest with all mass at the two ends [DDR20], where
//
//	δ_t(x) = (1 − e^{t−ε})(1 − e^{x−t})/(1 − e^{−ε}),  t − ε ≤ x ≤ t
//
// and the maximum over t is at t = (x + ε)/2: (1 − e^{(x−ε)/2})²/(1 − e^{−ε}). A
// maximum of profiles is the profile of a pair that dominates them all (see
// pld), so it composes, even when t depends on what was released before.
//
// Several of one sequence come to less than their composition: see ranges. Where apart is set they are composed.
type boundedRange struct {
	eps   float64
	apart bool
}

func (b boundedRange) delta(x float64) float64 {
	switch {
	case x >= b.eps:
		return 0
	case x <= -b.eps:
		return capped(-math.Expm1(x))
	}
	root := math.Expm1((x - b.eps) / 2)
	return capped(root * root / -math.Expm1(-b.eps))
}

func (b boundedRange) epsilon(d float64) float64       { return math.Min(b.eps, smallestEpsilon(b.delta, d)) }
func (b boundedRange) loss() float64                   { return b.eps }
func (b boundedRange) gdp() gaussian                   { return gaussian{mu: pureMu(b.eps / 2)} }
func (b boundedRange) curve(int) func(float64) float64 { return b.delta }
func (b boundedRange) key() string                     { return fmt.Sprintf("range %x %v", b.eps, b.apart) }

// pureMu returns an upper bound on −2Φ⁻¹(1/(1+e^ε)), the least μ for which
// μ-GDP follows from ε-DP, and from range 2ε: the Gaussian trade-off curve of
// that μ touches that of randomized response in its corner and, being convex,
// lies below it elsewhere.
//
// It solves Φ(−μ/2) ≤ 1/(1+e^ε), written erf(μ/√8) ≥ tanh(ε/2) where ε is small.
func pureMu(eps float64) float64 {
	const margin = 1e-14 // many times the error of erf, tanh and logPhi
	enough := func(mu float64) bool {
		if eps < 1 {
			return math.Erf(mu/math.Sqrt(8)) >= math.Tanh(eps/2)*(1+margin)
		}
		return logPhi(-mu/2) <= -(eps+math.Log1p(math.Exp(-eps)))*(1+margin)
	}
	_, hi := bisect(0, 2*eps, 2*eps, 1e-15, func(mu float64) bool { return !enough(mu) }) // μ ≤ 1.2534ε
	return hi
}

func (p pure) spread() float64 { return pureMu(p.eps) }

func (p pure) weight() int { return 1 }

func (b boundedRange) spread() float64 { return pureMu(b.eps / 2) }

func (b boundedRange) weight() int { return 1 }
