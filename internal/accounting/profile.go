package accounting

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
	// logDelta bounds log δ(x), also where δ(x) is too small for a float64. It is
	// −Inf only where δ(x) is 0.
	logDelta(x float64) float64
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
	// group returns the releases' profile for neighbours that differ in k rows.
	group(k float64) *Sequence
	// weight counts the numerical compositions inside, with this one.
	weight() int
	// key is equal for equal profiles.
	key() string
}
