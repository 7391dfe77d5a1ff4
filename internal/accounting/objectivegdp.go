package accounting

import "math"

// leastGDP returns a μ, close to the least, for which θ̂ is μ-GDP.
func (o objective) leastGDP() gaussian {
	_, hi := bisect(o.nu, 2*o.nu+pureMu(o.corner.eps), 1e9, 1e-9, func(mu float64) bool { return !o.within(mu) })
	return gaussian{mu: hi}
}

// within reports that θ̂ is known to be μ-GDP: that its profile lies below
// δ_GDP(·; μ) everywhere.
//
// On (−corner, corner) it is the profile of a trade-off curve that has its kink at
// P(type I error) = P(type II error) = t, log t = log((1 − δ(corner))/(1 + e^corner)),
// and as δ_GDP(x; μ) ≥ 1 − G_μ(t) − e^x·t, there Φ(−μ/2) ≤ t suffices.
//
// Beyond the corner c it is 2δ_GDP(x − d; ν). With M the Mills ratio,
// −(log δ_GDP)'(x; μ) is 1/(M(v)/M(v+μ) − 1), v = x/μ − μ/2, and
// log M(v)/M(v+μ) is the integral of a falling function over [v, v+μ]. So, for
// μ > ν, once x/μ − μ/2 ≤ (x − d)/ν − ν/2, which remains so, δ_GDP(x; μ) falls
// more slowly than the profile, and a look at one such point is enough. From c to
// there, intervals are searched.
func (o objective) within(mu float64) bool {
	c := o.corner.eps
	t := math.Log1p(-o.top) - c - math.Log1p(math.Exp(-c))
	if !(mu > o.nu*(1+1e-12)) || logPhi(-mu/2) > t-1e-12*(1-t) {
		return false
	}
	last := (o.logDet/o.nu - (mu-o.nu)/2) / (1/o.nu - 1/mu) * (1 + 1e-9)
	looks := maxLooks
	return last <= c || o.below(mu, c, last, &looks)
}

// maxLooks limits the intervals that are searched; after them nothing is claimed.
const maxLooks = 1000

// below reports that 2δ_GDP(x − d; ν) ≤ δ_GDP(x; μ) on [from, to]. Both are
// convex in e^x, so it compares the chord of the one with the tangent of the
// other, and halves the interval if these don't decide.
func (o objective) below(mu, from, to float64, looks *int) bool {
	mid := from + (to-from)/2
	log := logGaussianDelta(mu, mid)
	// What logGaussianDelta may be too high, and more.
	z := mid/mu + mu/2
	margin := 1 - 1e-10 - 1e-12*(10+z)/mu - 4e-15*z*z
	relative := func(x float64) float64 { return math.Exp(o.logFold(x) - log) }
	if *looks--; !(relative(mid) <= margin) || *looks < 0 || mid == from {
		return false
	}
	slope := math.Exp(mid + logPhi(-mu/2-mid/mu) - log)
	left := margin - slope*margin*math.Expm1(from-mid)
	right := margin - slope/margin*math.Expm1(to-mid)
	if relative(from) <= left && relative(to) <= right {
		return true
	}
	return o.below(mu, from, mid, looks) && o.below(mu, mid, to, looks)
}
