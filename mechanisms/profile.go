package mechanisms

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
)

// A profile is what accounting needs to know of one release, or of one set of
// parallel releases: an upper bound on the hockey-stick divergence
//
//	δ(x) = sup_S P(S) − e^x Q(S)
//
// of its output laws P, Q on neighbours, in either order, at each real x. The
// bound for x ≥ 0 gives that for x < 0, because the order may be exchanged:
// δ(x) ≤ 1 − e^x + e^x δ(−x). Values are rounded up.
type profile interface {
	delta(x float64) float64
	// epsilon returns an ε ≥ 0 with delta(ε) ≤ d, +Inf where none is known.
	epsilon(d float64) float64
	// loss is the largest privacy loss: δ(x) = 0 from there on.
	loss() float64
	// gdp is a Gaussian profile above this one; its μ is +Inf if none is known.
	gdp() gaussian
	// spread is a rough standard deviation of the privacy loss, to start a grid.
	spread() float64
	// curve returns delta, or a bound on it that is quick to evaluate at
	// multiples of 2^exponent.
	curve(exponent int) func(x float64) float64
	// group returns the profile for neighbours that differ in k rows.
	group(k float64) profile
	// weight counts the numerical compositions inside, with this one.
	weight() int
	// key is equal for equal profiles.
	key() string
}

// up is a factor that covers the rounding of a few operations.
const up = 1 + 8e-16

// addUp and multiplyUp round up, and not where the result is exact.
func addUp(a, b float64) float64 {
	s := a + b
	bb := s - a
	return above(s, (a-(s-bb))+(b-bb))
}

func multiplyUp(a, b float64) float64 {
	p := a * b
	return above(p, math.FMA(a, b, -p))
}

func above(v, rounded float64) float64 {
	if rounded > 0 {
		return math.Nextafter(v, math.Inf(1))
	}
	return v
}

// gaussian is the profile e^κ·δ_GDP(x − 2κ; μ) that all ledgers of Gaussian
// releases have.
type gaussian struct{ mu, kappa float64 }

func (g gaussian) delta(x float64) float64 {
	if math.IsInf(g.mu, 1) {
		return 1
	}
	return math.Min(1, math.Exp(g.kappa+logGaussianDelta(g.mu, x-2*g.kappa))*up)
}

func (g gaussian) epsilon(d float64) float64 {
	if math.IsInf(g.mu, 1) {
		return math.Inf(1)
	}
	return smallestEpsilon(g.delta, d)
}

// then composes two Gaussian profiles [DRS22, Corollary 3.3].
func (g gaussian) then(h gaussian) gaussian {
	return gaussian{mu: math.Hypot(g.mu, h.mu) * up, kappa: (g.kappa + h.kappa) * up}
}

// pure is the profile of ε-DP. Randomized response, with losses ±ε, dominates
// every ε-DP release [KOV17].
type pure struct{ eps float64 }

func (p pure) delta(x float64) float64 {
	switch {
	case x >= p.eps:
		return 0
	case x <= -p.eps:
		return -math.Expm1(x) * up
	}
	return -math.Expm1(x-p.eps) / (1 + math.Exp(-p.eps)) * up
}

func (p pure) epsilon(d float64) float64       { return math.Min(p.eps, smallestEpsilon(p.delta, d)) }
func (p pure) loss() float64                   { return p.eps }
func (p pure) gdp() gaussian                   { return gaussian{mu: pureMu(p.eps)} }
func (p pure) spread() float64                 { return pureMu(p.eps) }
func (p pure) curve(int) func(float64) float64 { return p.delta }
func (p pure) group(k float64) profile         { return pure{k * p.eps * up} }
func (p pure) weight() int                     { return 1 }
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
type boundedRange struct{ eps float64 }

func (b boundedRange) delta(x float64) float64 {
	switch {
	case x >= b.eps:
		return 0
	case x <= -b.eps:
		return -math.Expm1(x) * up
	}
	root := math.Expm1((x - b.eps) / 2)
	return root * root / -math.Expm1(-b.eps) * up
}

func (b boundedRange) epsilon(d float64) float64       { return math.Min(b.eps, smallestEpsilon(b.delta, d)) }
func (b boundedRange) loss() float64                   { return b.eps }
func (b boundedRange) gdp() gaussian                   { return gaussian{mu: pureMu(b.eps / 2)} }
func (b boundedRange) spread() float64                 { return pureMu(b.eps / 2) }
func (b boundedRange) curve(int) func(float64) float64 { return b.delta }
func (b boundedRange) group(k float64) profile         { return boundedRange{k * b.eps * up} }
func (b boundedRange) weight() int                     { return 1 }
func (b boundedRange) key() string                     { return fmt.Sprintf("range %x", b.eps) }

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
	lo, hi := 0.0, 2*eps // μ ≤ 1.2534ε for all ε
	for range 60 {
		if mid := lo + (hi-lo)/2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// parallel is the maximum of its branches' profiles.
type parallel struct {
	branches []*sequence // distinct
	name     string      // a digest of their keys
}

// newParallel returns the profile of branches, at least one.
func newParallel(branches []*sequence) *sequence {
	distinct := make(map[string]*sequence, len(branches))
	for _, s := range branches {
		distinct[s.key()] = s
	}
	if len(distinct) == 1 {
		return branches[0]
	}
	var p parallel
	digest := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(distinct)) {
		p.branches = append(p.branches, distinct[key])
		fmt.Fprintf(digest, "%q", key)
	}
	p.name = fmt.Sprintf("parallel %x", digest.Sum(nil))
	return newSequence(gaussian{}, part{p, 1})
}

func (p parallel) delta(x float64) float64 {
	return p.largest(func(s *sequence) float64 { return s.delta(x) })
}

func (p parallel) epsilon(d float64) float64 {
	return p.largest(func(s *sequence) float64 { return s.epsilon(d) })
}

func (p parallel) spread() float64 { return p.largest((*sequence).spread) }
func (p parallel) loss() float64   { return p.largest((*sequence).loss) }

// gdp takes the largest μ and the largest slack, as Gaussian profiles are
// ordered by both.
func (p parallel) gdp() gaussian {
	return gaussian{
		mu:    p.largest(func(s *sequence) float64 { return s.gdp().mu }),
		kappa: p.largest(func(s *sequence) float64 { return s.gdp().kappa }),
	}
}

func (p parallel) curve(exponent int) func(float64) float64 {
	curves := make([]func(float64) float64, len(p.branches))
	for i, s := range p.branches {
		curves[i] = s.curve(exponent)
	}
	return func(x float64) float64 {
		var d float64
		for _, c := range curves {
			d = math.Max(d, c(x))
		}
		return d
	}
}

// group: k rows may lie in several branches, so the branches' own group
// profiles don't serve.
func (p parallel) group(k float64) profile { return grouped{p, k} }

func (p parallel) weight() int {
	w := 1
	for _, s := range p.branches {
		w += s.weight()
	}
	return w
}

func (p parallel) key() string { return p.name }

func (p parallel) largest(f func(*sequence) float64) float64 {
	var v float64
	for _, s := range p.branches {
		v = math.Max(v, f(s))
	}
	return v
}
