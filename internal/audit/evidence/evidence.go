// Package evidence tells how much privacy two samples refute, at whatever moment one looks. In go
// outcomes of an event on two neighbouring data sets, out comes a confidence bound on the μ or ε that
// the event shows. Only tests import it.
//
// Read this file; stream.go draws until there is enough.
package evidence

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Unit is what a guarantee is measured in.
type Unit string

const (
	Mu      Unit = "μ" // Gaussian differential privacy
	Epsilon Unit = "ε" // pure differential privacy
)

// Counts are how often an event occurred in so many runs on either of two neighbours.
type Counts struct{ First, Second, Runs int }

// Lower is a lower confidence bound on the parameter for which an event of these counts is
// evidence: for Mu Φ⁻¹(p) − Φ⁻¹(q), for Epsilon log(p/q), where the event has the probabilities p and
// q on the two neighbours. μ-GDP and ε-DP allow no event with a larger one. It is 0 at least.
//
// # Method
//
// For fixed p and q let M be the likelihood of the outcomes, mixed over all rates by Jeffreys' prior for each of the
// two, divided by that at p and q. M is a martingale with mean 1, so that it ever reaches 1/alpha with
// probability alpha at most (Ville 1939; Robbins 1970). The bound is the largest parameter such
// that M exceeds 1/alpha for all p and q with a smaller one. Hence
//
//	P(some bound of a growing sample exceeds the truth) ≤ alpha,
//
// whoever chose the moment to stop, as long as the event was fixed before its runs. Sequential audits of ε and
// of whole trade-off curves are González, Dulce-Rubio, Ramdas, Ribero (arXiv:2509.07055) and Kutta, Dunsche, Wei,
// Zikas (arXiv:2602.06518); here one event stands for the curve, which for Gaussian noise loses nothing
// where the event is a threshold on the likelihood ratio.
//
// Cost: some 2,500 evaluations of a likelihood.
func (u Unit) Lower(c Counts, alpha float64) float64 {
	limit := c.mixed() + math.Log(alpha)
	return u.edge(func(parameter float64) bool { return u.most(c, parameter, false) < limit })
}

// Upper is likewise an upper confidence bound on what the event shows, valid at all
// moments at once: not on the guarantee, as another event may show more.
func (u Unit) Upper(c Counts, alpha float64) float64 {
	limit := c.mixed() + math.Log(alpha)
	return u.edge(func(parameter float64) bool { return u.most(c, parameter, true) >= limit })
}

// far is beyond all that can be told.
const far = 40.0

// edge is where a condition ceases to hold that holds below some parameter, by bisection; 0 where it
// never holds.
func (u Unit) edge(holds func(parameter float64) bool) float64 {
	const halvings = 26
	lo, hi := 0.0, far
	for range halvings {
		if mid := lo + (hi-lo)/2; holds(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// mixed is the logarithm of the likelihood of counts under Jeffreys' prior on either rate.
func (c Counts) mixed() float64 {
	beta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	of := func(k int) float64 {
		return beta(float64(k)+0.5, float64(c.Runs-k)+0.5) - beta(0.5, 0.5)
	}
	return of(c.First) + of(c.Second)
}

// times is a·log p, 0 where nothing was counted.
func times(count int, logarithm float64) float64 {
	if count == 0 {
		return 0
	}
	return float64(count) * logarithm
}

// most is the largest log-likelihood of counts over rates whose parameter is at most the given one, or
// at least that much. Along rates of one parameter it is concave in what is searched here.
func (u Unit) most(c Counts, parameter float64, atLeast bool) float64 {
	p, q := float64(c.First)/float64(c.Runs), float64(c.Second)/float64(c.Runs)
	if shown := u.of(p, q); shown == parameter || (shown > parameter) == atLeast {
		return times(c.First, math.Log(p)) + times(c.Runs-c.First, math.Log1p(-p)) + times(c.Second, math.Log(q)) + times(c.Runs-c.Second, math.Log1p(-q))
	}
	at := func(x float64) float64 { // of quantiles
		return times(c.First, logPhi(x+parameter)) + times(c.Runs-c.First, logPhi(-x-parameter)) + times(c.Second, logPhi(x)) + times(c.Runs-c.Second, logPhi(-x))
	}
	lo, hi := -far, far
	if u == Epsilon {
		at = func(x float64) float64 { // of logarithms
			return times(c.First, x+parameter) + times(c.Runs-c.First, logRest(x+parameter)) + times(c.Second, x) + times(c.Runs-c.Second, logRest(x))
		}
		lo, hi = -far, -parameter
	}
	const cuts = 50 // each takes a third of what is left
	for range cuts {
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if at(a) < at(b) {
			lo = a
		} else {
			hi = b
		}
	}
	return at(lo + (hi-lo)/2)
}

// of is the parameter that two rates show.
func (u Unit) of(p, q float64) float64 {
	switch {
	case p == q:
		return 0
	case u == Epsilon:
		return math.Log(p / q)
	}
	return distuv.UnitNormal.Quantile(p) - distuv.UnitNormal.Quantile(q)
}

// logPhi is the logarithm of the normal law's distribution function: beyond the range of erfc by Mills' ratio, x being so
// far out that what it leaves is of no weight here.
func logPhi(x float64) float64 {
	const tail = -30.0
	if x > tail {
		return math.Log(math.Erfc(-x/math.Sqrt2) / 2)
	}
	return -float64(x*x)/2 - math.Log(-x*math.Sqrt(2*math.Pi))
}

// logRest is log(1 − eˣ).
func logRest(x float64) float64 { return math.Log(-math.Expm1(x)) }
