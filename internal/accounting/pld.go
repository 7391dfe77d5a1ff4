package accounting

import (
	"math"
	"sort"
)

// A pld is a privacy loss distribution: mass[i] lies at loss (low+i)·2^exponent
// and top at +∞. Its profile
//
//	δ(x) = top + Σ mass_j·(1 − e^{x−l_j})₊
//
// is an upper bound on that of the releases it stands for, at every real x.
// Masses need not add up to one: rounding only ever adds to them. Composing
// profiles, δ(x) = ∫ δ₂(x − l) dP₁(l), is linear in each distribution and
// increasing in each profile, so replacing factors by larger ones, normalised
// or not, leaves an upper bound.
//
// In α = e^x the profile is convex and piecewise linear with kinks at the
// losses' exponentials. A pair of laws with the larger profile at every α ≥ 0
// dominates: it may replace the other in adaptive compositions [ZDW22]. Any
// profile is convex in α, starts at 1 for α = 0 and falls, so linear
// interpolation between points at or above it, continued by a constant on the
// right, is again a profile, lies above it, and belongs to a discrete pair
// [DGKKM22]. That is how every profile enters (discretise), and how grids get
// coarser.
type pld struct {
	exponent int
	low      int
	mass     []float64
	top      float64
	// Filled by tabulate: the profile at the i-th loss, and Σ_{j≥i} of
	// mass_j·e^{l_i−l_j}, its slope there in units of e^{−l_i}.
	at, slope []float64
}

// The tails that truncation may move: from above to +∞, which adds to δ, and
// from below to the lowest loss that is kept, which adds a part of itself.
const (
	topTail = 1e-40
	lowTail = 1e-13
)

// maxCells limits the grid on which one profile is put, and maxLength a
// distribution that was composed.
const (
	maxCells  = 1 << 18
	maxLength = 1 << 20
)

// atInfinity has all its mass at +∞: true of everything.
func atInfinity(exponent int) *pld {
	p := &pld{exponent: exponent, mass: []float64{0}, top: 1}
	p.tabulate()
	return p
}

// discretise puts a profile on the grid of multiples of 2^exponent.
func discretise(curve func(float64) float64, exponent int) *pld {
	step := math.Ldexp(1, exponent)
	floor := curve(maxCells * step) // a profile may have a constant part
	high := firstIndex(func(i int) bool { return curve(float64(i)*step) <= topTail+1.001*floor })
	// By symmetry P(loss ≤ −z) ≤ e^{−z}·P(loss ≥ z), which δ(z) stands for; the
	// choice matters to accuracy only.
	low := -firstIndex(func(i int) bool { z := float64(i) * step; return math.Exp(-z)*curve(z) <= lowTail/1e2 })
	h := make([]float64, max(high, 1)-low+1)
	last := 1.0
	for i := range h {
		// The true profile falls, so an earlier bound on it is one here.
		last = math.Min(last, curve(float64(low+i)*step))
		h[i] = last
	}
	p := &pld{exponent: exponent, low: low, mass: make([]float64, len(h)), top: last}
	if !p.cover(h, p.fromHull(h)) {
		return atInfinity(exponent)
	}
	return p
}

// fromHull sets the masses of the lower convex hull, in α, of the points
// (e^{l_i}, h_i) and (0, 1), and returns the indices of its corners. Only points
// of h matter: leaving any out leaves an interpolation above the profile, and
// the hull leaves out those that would need negative mass. Between u and v the
// line falls by (h_u − h_v)/(1 − e^{l_u−l_v}) in units of e^{−l_v}.
func (p *pld) fromHull(h []float64) []int {
	step := math.Ldexp(1, p.exponent)
	fall := func(u, v int) float64 {
		if u < 0 {
			return 1 - h[v]
		}
		return (h[u] - h[v]) / -math.Expm1(float64(u-v)*step)
	}
	massAt := func(u, v, w int) float64 { return fall(u, v) - math.Exp(float64(v-w)*step)*fall(v, w) }
	var corners []int
	before := func() (u, v int) {
		u, v = -1, corners[len(corners)-1]
		if len(corners) > 1 {
			u = corners[len(corners)-2]
		}
		return u, v
	}
	for w := range h {
		for len(corners) > 0 {
			u, v := before()
			if p.mass[v] = massAt(u, v, w); p.mass[v] >= 0 {
				break
			}
			p.mass[v] = 0
			corners = corners[:len(corners)-1]
		}
		corners = append(corners, w)
	}
	u, v := before()
	p.mass[v] = math.Max(0, fall(u, v))
	return corners
}

// cover makes good what rounding took from the masses: it evaluates their
// profile and scales it up until it lies above every corner (α, h) of the hull,
// α = 0 included. Both are linear in between, so it then lies above the hull. It
// reports failure where masses vanished in underflow.
func (p *pld) cover(h []float64, corners []int) bool {
	p.tabulate()
	ratio := 1 / (p.at[0] + p.slope[0])
	for _, i := range corners {
		if h[i] > 0 {
			ratio = math.Max(ratio, h[i]/p.at[i])
		}
	}
	ratio = math.Max(1, ratio) * (1 + p.rounding())
	for i := range p.mass {
		p.mass[i] *= ratio
	}
	p.top *= ratio
	p.tabulate()
	return !math.IsInf(ratio, 1)
}

// rounding bounds the relative error of a table: two recursions of sums and
// products of positive numbers, six roundings each a step.
func (p *pld) rounding() float64 { return 2e-15 * float64(len(p.mass)+1) }

func (p *pld) tabulate() {
	n := len(p.mass)
	step := math.Ldexp(1, p.exponent)
	decay, rest := math.Exp(-step), -math.Expm1(-step)
	p.at, p.slope = make([]float64, n), make([]float64, n)
	at, slope := p.top, 0.0
	for i := n - 1; i >= 0; i-- {
		at += rest * slope
		slope = p.mass[i] + decay*slope
		p.at[i], p.slope[i] = at, slope
	}
}

// cell returns the first loss ≥ x, by index, and its distance from x.
func (p *pld) cell(x float64) (i int, gap float64) {
	units := math.Ceil(math.Ldexp(x, -p.exponent)) - float64(p.low)
	if units >= float64(len(p.mass)) {
		return len(p.mass), 0
	}
	i = int(math.Max(0, units))
	return i, math.Ldexp(float64(p.low+i), p.exponent) - x
}

// delta evaluates the profile at any x, rounded up.
func (p *pld) delta(x float64) float64 {
	i, gap := p.cell(x)
	d := p.top
	if i < len(p.mass) {
		d = p.at[i] - math.Expm1(-gap)*p.slope[i]
	}
	return math.Min(1, d*(1+p.rounding()))
}

// coarsen moves the distribution to the grid of multiples of 2^exponent. A mass
// m between two points of the next grid goes to them in the shares m/(1+e^s)
// and m/(1+e^{−s}), s = 2^p.exponent, which interpolates its profile.
func (p *pld) coarsen(exponent int) *pld {
	for p.exponent < exponent {
		e := math.Exp(-math.Ldexp(1, p.exponent))
		down, above := e/(1+e)*up, 1/(1+e)*up
		q := &pld{exponent: p.exponent + 1, low: p.low >> 1, top: p.top}
		q.mass = make([]float64, (p.low+len(p.mass))>>1-q.low+1)
		for i, m := range p.mass {
			switch j := (p.low+i)>>1 - q.low; {
			case (p.low+i)&1 == 0:
				q.mass[j] += m * up
			default:
				q.mass[j] += m * down * up
				q.mass[j+1] += m * above * up
			}
		}
		p = q
	}
	return p
}

// trim drops the tails.
func (p *pld) trim() {
	n := len(p.mass)
	for top := 0.0; n > 1 && top+p.mass[n-1] <= topTail; n-- {
		top += p.mass[n-1]
		p.top += p.mass[n-1] * up
	}
	first, low := 0, 0.0
	for first < n-1 && low+p.mass[first] <= lowTail {
		low += p.mass[first]
		first++
	}
	p.mass = p.mass[first:n]
	p.mass[0] += low * (1 + 1e-15*float64(first+1))
	p.low += first
}

// firstIndex returns the first i ≥ 0 at which ok, which stays true once it is,
// or a limit.
func firstIndex(ok func(int) bool) int {
	n := 1
	for n < maxCells/2 && !ok(n) {
		n *= 2
	}
	return sort.Search(n, ok)
}
