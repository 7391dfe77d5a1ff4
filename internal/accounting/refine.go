package accounting

import (
	"math"
	"math/bits"
	"sort"
)

// How finely loss distributions are computed. All of it decides about accuracy and
// work; whatever is chosen here, the bounds hold.

// tight is the accuracy of the profile that ledgers have.
const tight = 2e-5

// maxWeight limits the numerical compositions of a query; a sequence with more has
// the quick bounds. maxWork limits the compositions times the cells of their grid,
// which is some tenths of a second.
const (
	maxWeight = 256
	maxWork   = 18 // log2
)

// refine shows visit ever finer grids. Visit returns the ε that it is after.
//
// Putting a loss on a grid of step s spreads it over two points, which adds at
// most s²/8·(θ + θ²) to the cumulant at θ, so (θ + 1)·s²/8, and never more than
// s, to ε, where θ = −(log δ)'(ε). The grid is made fine enough for that, over
// all parts and squarings, to be below accuracy·ε (or a hundredth of the spread
// in place of ε, if ε is less). This decides about accuracy only; each grid gives an
// upper bound.
func (s *Sequence) refine(accuracy float64, visit func(*pld) float64) {
	spread := s.spread()
	if !(spread < 1e100) || s.weight() > maxWeight {
		return
	}
	finest := s.finest()
	exponent := max(finest, math.Ilogb(spread)-4)
	for range 8 {
		p := s.grid(exponent)
		eps := visit(p)
		next := exponent
		if tolerance := accuracy * math.Max(eps, spread/100) / s.splits(); !math.IsInf(tolerance, 1) {
			step := math.Max(tolerance, math.Sqrt(8*tolerance/(p.decline(eps)+1)))
			next = math.Ilogb(step)
		}
		// Not beyond 2^17 cells, fewer where they are gone through often, and not
		// in leaps: a coarse grid exaggerates θ.
		limit := min(17, maxWork-bits.Len(uint(s.weight()-1)))
		next = max(next, finest, exponent-4, exponent+bits.Len(uint(len(p.mass)))-limit)
		if next >= exponent {
			return
		}
		exponent = next
	}
}

// spread estimates the standard deviation of the total privacy loss.
func (s *Sequence) spread() float64 {
	v := s.gauss.mu
	for _, p := range s.parts {
		v = math.Hypot(v, math.Sqrt(float64(p.copies))*p.spread())
	}
	return v
}

// finest is an exponent below which grids would have too many cells. Where a part is
// repeated, its range grows before what is negligible of it can be dropped.
func (s *Sequence) finest() int {
	e := -200
	for _, p := range s.parts {
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
func (s *Sequence) splits() float64 {
	n := 1
	for _, p := range s.parts {
		n += bits.Len64(uint64(p.copies))
	}
	return float64(n)
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

// decline returns −(log δ)'(x).
func (p *pld) decline(x float64) float64 {
	i, gap := p.cell(x)
	if i == len(p.mass) {
		return 0
	}
	return math.Exp(-gap) * p.slope[i] / (p.at[i] - math.Expm1(-gap)*p.slope[i])
}

// tailTilt returns a θ, per cell, at which the tilted convolution sits where its
// upper tail is about e^-25: with the plain one, good down to about e^-20, that
// serves tails down to 1e-30. Any θ would give upper bounds.
func tailTilt(logA, logB []float64) float64 {
	theta := 16 / float64(len(logA)+len(logB))
	for ; theta < 1; theta *= 1.5 {
		kA, meanA := cumulant(logA, theta)
		kB, meanB := cumulant(logB, theta)
		if kA+kB-theta*(meanA+meanB) < -25 {
			break
		}
	}
	return theta
}

// cumulant returns the logarithm of Σ m_i·e^{θi} and the tilted mean of i.
func cumulant(logs []float64, theta float64) (k, mean float64) {
	_, best := peak(logs, theta)
	var sum, first float64
	for i, l := range logs {
		if v := l + theta*float64(i) - best; v > -40 {
			w := math.Exp(v)
			sum += w
			first += w * float64(i)
		}
	}
	return math.Log(sum) + best, first / sum
}

// peak returns roughly where the integrand is largest on (−∞, end].
func (p noisyObjective) peak(x, end float64) float64 {
	mu := p.noise.mu
	lo, hi := math.Min(end, mu*mu/2), end
	if lo == end || p.slope(x, end) > 0 {
		return end
	}
	tolerance := math.Min(p.nu, mu) / 16 / math.Max(math.Abs(hi), 1e-300)
	at, _ := bisect(lo, hi, hi, tolerance, func(l float64) bool { return p.slope(x, l) > 0 })
	return at
}

// What single releases and parallel ones have for spread and weight, see profile.

func (o objective) spread() float64    { return o.nu + o.corner.eps }
func (p pure) spread() float64         { return pureMu(p.eps) }
func (b boundedRange) spread() float64 { return pureMu(b.eps / 2) }
func (p parallel) spread() float64     { return p.each((*Sequence).spread) }

func (o objective) weight() int    { return 1 }
func (p pure) weight() int         { return 1 }
func (b boundedRange) weight() int { return 1 }

func (p parallel) weight() int {
	w := 1
	for _, s := range p.branches {
		w += s.weight()
	}
	return w
}

// weight counts the numerical compositions.
func (s *Sequence) weight() int {
	w := 0
	for _, p := range s.parts {
		w += p.weight() * bits.Len64(uint64(p.copies))
	}
	return w
}
