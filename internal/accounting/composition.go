package accounting

import (
	"slices"
	"sync"
)

// composition composes Gaussian releases and parts numerically.
type composition struct {
	gauss gaussian
	parts []part // distinct

	lock  sync.Mutex
	grids map[int]*pld // by exponent; a cache
}

// grid composes everything on the grid of step 2^exponent, short distributions
// first.
func (c *composition) grid(exponent int) *pld {
	c.lock.Lock()
	defer c.lock.Unlock()
	if p := c.grids[exponent]; p != nil {
		return p
	}
	var all []*pld
	if c.gauss.mu > 0 {
		all = append(all, discretise(c.gauss.delta, exponent))
	}
	for _, p := range c.parts {
		if b, ok := p.profile.(boundedRange); ok && p.copies > 1 && !b.apart && b.eps <= mostRange {
			all = append(all, c.ofRanges(b.eps, p.copies, exponent)...)
		} else {
			all = append(all, power(p.curve, p.copies, exponent))
		}
	}
	slices.SortStableFunc(all, func(p, q *pld) int { return len(p.mass) - len(q.mass) })
	sum := all[0]
	for _, p := range all[1:] {
		sum = convolve(sum, p)
	}
	sum.tabulate()
	c.grids[exponent] = sum
	return sum
}

// ofRanges are the distributions of releases of one range, which are taken together in lots.
func (c *composition) ofRanges(eps float64, copies int64, exponent int) (all []*pld) {
	curve := func(k int64) func(int) func(float64) float64 {
		r := rangesFor(eps, int(k), len(c.parts))
		return func(int) func(float64) float64 { return r.delta }
	}
	if lots := copies / rangeLot; lots > 0 {
		all = append(all, power(curve(rangeLot), lots, exponent))
	}
	if left := copies % rangeLot; left > 0 {
		all = append(all, power(curve(left), 1, exponent))
	}
	return all
}

// partsLoss is the largest privacy loss of all but the Gaussian releases.
func (c *composition) partsLoss() float64 {
	var sum float64
	for _, p := range c.parts {
		sum = addUp(sum, multiplyUp(float64(p.copies), p.loss()))
	}
	return sum
}

// part is a number of releases with one profile.
type part struct {
	profile
	copies int64
}
