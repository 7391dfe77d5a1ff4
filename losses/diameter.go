package losses

import (
	"math"
	"sync/atomic"
)

// spread bounds the distance between two gradients φ'₁x₁ and φ'₂x₂ at one w of
// norm z > 0, over all rows ‖x‖ ≤ 1, where the slope at the score t is any number
// in [lo(t), hi(t)] and neither end decreases in t. z must be a multiple of leaf,
// and leaf a power of two; the smaller it is, the tighter the bound.
//
// A row whose component along w is sin α, that is whose score is z·sin α, has a
// component of at most cos α across w. For fixed scores the squared distance is
// largest with both components across w at their bounds, on opposite sides in
// the gradients; it is then
//
//	E = φ'₁² + φ'₂² + 2|φ'₁φ'₂|·cos(α + sβ),  s the sign of φ'₁φ'₂.
//
// E is convex in either slope, so only the ends lo and hi matter.
//
// Longer w. For fixed scores and slopes E does not decrease in z: α and β shrink
// as arcsin(t/z) does, and |α + sβ| shrinks with them whether they add or
// subtract, since the larger angle shrinks faster. As the range of scores only
// grows, the diameter of any loss does not decrease in z.
//
// The search is a branch and bound over pairs of score intervals. For a pair,
// corners of the slopes' ranges and the smallest |α + sβ| bound E from above; the
// result is the largest such bound over pairs of intervals of length leaf. It
// exceeds the diameter by the change of slope over one leaf, and by what was
// said about longer w it does not decrease in z.
func spread(lo, hi func(t float64) float64, z, leaf float64) float64 {
	s := search{lo: lo, hi: hi, z: z, leaf: leaf, scale: 1}
	whole := span{s.at(-z), s.at(z)}
	s.scale = math.Max(math.Abs(whole.left.lo), math.Abs(whole.right.hi))
	if s.scale == 0 || math.IsInf(s.scale, 1) {
		return 2 * s.scale
	}
	whole = span{s.at(-z), s.at(z)}
	s.visit(whole, whole, whole.bound(whole))
	return s.scale * math.Sqrt(s.best) * (1 + 1e-13)
}

// search is the state of spread's branch and bound.
type search struct {
	lo, hi         func(t float64) float64
	z, leaf, scale float64
	best           float64 // the largest bound of a pair of leaves so far
}

// point is a score with the sine and cosine of its angle and the ends of the
// slope's range in units of the largest slope.
type point struct{ t, sin, cos, lo, hi float64 }

func (s *search) at(t float64) point {
	a := t / s.z
	return point{t, a, math.Sqrt((1 - a) * (1 + a)), s.lo(t) / s.scale, s.hi(t) / s.scale}
}

// span is an interval of scores.
type span struct{ left, right point }

func (a span) width() float64 { return a.right.t - a.left.t }

// visit refines the pair a, b, whose bound is u, as long as that can raise best.
func (s *search) visit(a, b span, u float64) {
	if u <= s.best {
		return
	}
	if a == b && a.width() > s.leaf {
		c, d := s.halve(a)
		s.visit(c, d, c.bound(d))
		s.visit(c, c, c.bound(c))
		s.visit(d, d, d.bound(d))
		return
	}
	if a.width() < b.width() {
		a, b = b, a
	}
	if a.width() <= s.leaf {
		s.best = u
		return
	}
	c, d := s.halve(a)
	uc, ud := c.bound(b), d.bound(b)
	if uc < ud {
		c, d, uc, ud = d, c, ud, uc
	}
	s.visit(c, b, uc)
	s.visit(d, b, ud)
}

// halve cuts a at a multiple of leaf.
func (s *search) halve(a span) (span, span) {
	m := s.at(a.left.t + float64(s.leaf*math.Ceil(a.width()/s.leaf/2)))
	return span{a.left, m}, span{m, a.right}
}

// bound is an upper bound on E over the two intervals.
func (a span) bound(b span) float64 {
	sum, diff := a.cosSum(b), a.cosDiff(b)
	return max(
		squaredDistance(a.left.lo, b.left.lo, sum, diff),
		squaredDistance(a.left.lo, b.right.hi, sum, diff),
		squaredDistance(a.right.hi, b.left.lo, sum, diff),
		squaredDistance(a.right.hi, b.right.hi, sum, diff))
}

// squaredDistance is E for two slopes, given cos(α+β) and cos(α−β).
func squaredDistance(f, g, sum, diff float64) float64 {
	if f*g > 0 {
		return float64(f*f) + float64(g*g) + float64(2*f*g*sum)
	}
	return float64(f*f) + float64(g*g) - float64(2*f*g*diff)
}

// cosSum is the largest cos(α+β).
func (a span) cosSum(b span) float64 {
	switch {
	case a.left.sin+b.left.sin > 0:
		return float64(a.left.cos*b.left.cos) - float64(a.left.sin*b.left.sin)
	case a.right.sin+b.right.sin < 0:
		return float64(a.right.cos*b.right.cos) - float64(a.right.sin*b.right.sin)
	}
	return 1
}

// cosDiff is the largest cos(α−β).
func (a span) cosDiff(b span) float64 {
	switch {
	case a.left.sin > b.right.sin:
		return float64(a.left.cos*b.right.cos) + float64(a.left.sin*b.right.sin)
	case a.right.sin < b.left.sin:
		return float64(a.right.cos*b.left.cos) + float64(a.right.sin*b.left.sin)
	}
	return 1
}

// memo keeps values of a pure function of two numbers, one in each slot, so that
// a fit, whose w moves little between two steps, computes few of them.
type memo [1 << 12]atomic.Pointer[memoized]

type memoized struct{ k, y, value float64 }

// get returns the value at (k, y), k a whole number.
func (m *memo) get(k, y float64, compute func() float64) float64 {
	slot := &m[uint64(k)%uint64(len(m))]
	if e := slot.Load(); e != nil && e.k == k && e.y == y {
		return e.value
	}
	v := compute()
	slot.Store(&memoized{k, y, v})
	return v
}
