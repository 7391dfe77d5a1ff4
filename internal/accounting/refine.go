package accounting

import (
	"math"
	"math/bits"
)

// How finely loss distributions are computed. All of it decides about accuracy and
// work; whatever is chosen here, the bounds hold.

// tight is the accuracy of the profile that ledgers have.
const tight = 2e-5

// maxWeight limits the numerical compositions of a query; a sequence with more has
// the quick bounds.
const maxWeight = 256

// refine shows visit ever finer grids. Visit returns the ε that it is after.
//
// Putting a loss on a grid of step s spreads it over two points, which adds at
// most s²/8·(θ + θ²) to the cumulant at θ, so (θ + 1)·s²/8, and never more than
// s, to ε, where θ = −(log δ)'(ε). The grid is made fine enough for that, over
// all parts and squarings, to be below accuracy·ε (or a hundredth of the spread
// in place of ε, if ε is less). This decides about accuracy only; each grid gives an
// upper bound.
func (c *composition) refine(accuracy float64, visit func(*pld) float64) {
	spread := c.spread()
	if !(spread < 1e100) || c.weight() > maxWeight {
		return
	}
	finest := c.finest()
	exponent := max(finest, math.Ilogb(spread)-4)
	for range 8 {
		p := c.grid(exponent)
		eps := visit(p)
		next := exponent
		if tolerance := accuracy * math.Max(eps, spread/100) / c.splits(); !math.IsInf(tolerance, 1) {
			step := math.Max(tolerance, math.Sqrt(8*tolerance/(p.decline(eps)+1)))
			next = math.Ilogb(step)
		}
		// Not beyond 2^17 cells, fewer where they are gone through often, and not
		// in leaps: a coarse grid exaggerates θ.
		limit := min(17, maxWork-bits.Len(uint(c.weight()-1)))
		next = max(next, finest, exponent-4, exponent+bits.Len(uint(len(p.mass)))-limit)
		if next >= exponent {
			return
		}
		exponent = next
	}
}

// spread estimates the standard deviation of the total privacy loss.
func (c *composition) spread() float64 {
	v := c.gauss.mu
	for _, p := range c.parts {
		v = math.Hypot(v, math.Sqrt(float64(p.copies))*p.spread())
	}
	return v
}

// finest is an exponent below which grids would have too many cells. Where a part is
// repeated, its range grows before what is negligible of it can be dropped.
func (c *composition) finest() int {
	e := -200
	for _, p := range c.parts {
		cells := 15
		if p.copies > 1 {
			cells = 11
		}
		if l := p.loss(); !math.IsInf(l, 1) {
			e = max(e, math.Ilogb(l)-cells+bits.Len64(uint64(p.copies))/2)
		}
	}
	return e
}

// splits counts how often a loss is put on a grid.
func (c *composition) splits() float64 {
	n := 1
	for _, p := range c.parts {
		n += bits.Len64(uint64(p.copies))
	}
	return float64(n)
}

// weight counts the numerical compositions.
func (c *composition) weight() int {
	w := 0
	for _, p := range c.parts {
		w += p.weight() * bits.Len64(uint64(p.copies))
	}
	return w
}

// decline returns −(log δ)'(x).
func (p *pld) decline(x float64) float64 {
	i, gap := p.cell(x)
	if i == len(p.mass) {
		return 0
	}
	return math.Exp(-gap) * p.slope[i] / (p.at[i] - math.Expm1(-gap)*p.slope[i])
}
