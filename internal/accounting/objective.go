package accounting

import (
	"fmt"
	"math"
	"sync"
)

// Objective describes releases of noisily perturbed minimisers. What its numbers
// mean, and the proof of the profile, is in the comment of
// mechanisms.ObjectivePerturbation.
type Objective struct {
	Ratio    float64 // a: the bound on a row's gradient norm over the standard deviation of b
	LogDet   float64 // d = log(1 + HX²/λ)
	OutputMu float64 // μ of the output noise of one release
	Dim      int
	Releases int
}

// Profile returns the releases' profile. Two vectors are on grids: the output, and b,
// of which the value that leads to a given θ̂ moves by at most 2a·σ.
func (o Objective) Profile() *Sequence {
	g, b := noise(o.OutputMu, o.Releases, o.Dim), noise(2*o.Ratio, o.Releases, o.Dim)
	g.coordinates, g.moved = g.coordinates+b.coordinates, g.moved+b.moved
	return newSequence(g, part{newObjective(o.Ratio, o.LogDet), int64(o.Releases)})
}

// objective is the profile of a minimiser θ̂ (see Objective). Where x ≥ d + ν²/2 the
// expectation there is 2δ_GDP(x − d; ν), as two halves of a normal law. That
// bound, with its mirror image for x < 0, isn't convex in e^x, which the true
// profile is: between −corner and corner, where a line in e^x touches both, the
// line is taken. It is the profile of (corner, δ(corner))-DP.
type objective struct {
	nu, logDet float64
	corner     pure
	top        float64 // δ(corner)
	above      func() gaussian
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
	_, hi := bisect(0, 1, 1e300, 1e-12, func(z float64) bool { return rises(from + z*o.nu) })
	o.corner = pure{from + hi*o.nu}
	o.top = o.fold(o.corner.eps)
	o.above = sync.OnceValue(objective{nu: o.nu, logDet: o.logDet, corner: o.corner, top: o.top}.leastGDP)
	return o
}

// logFold returns an upper bound on log 2δ_GDP(x − d; ν).
func (o objective) logFold(x float64) float64 {
	y := x - o.logDet
	y -= 2e-16 * math.Abs(x) // the profile falls
	return math.Ln2 + 4e-16 + logGaussianDelta(o.nu, y)
}

func (o objective) fold(x float64) float64 { return fromLog(o.logFold(x)) }

func (o objective) delta(x float64) float64 {
	switch {
	case x >= o.corner.eps:
		return o.fold(x)
	case x > -o.corner.eps:
		return capped(o.top + (1-o.top)*o.corner.delta(x))
	}
	return capped(-math.Expm1(x) + math.Exp(x+o.logFold(-x)))
}

func (o objective) epsilon(d float64) float64       { return smallestEpsilon(o.delta, d) }
func (o objective) gdp() gaussian                   { return o.above() }
func (o objective) loss() float64                   { return math.Inf(1) }
func (o objective) curve(int) func(float64) float64 { return o.delta }
func (o objective) key() string                     { return fmt.Sprintf("objective %x, %x", o.nu, o.logDet) }
