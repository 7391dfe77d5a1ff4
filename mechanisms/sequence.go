package mechanisms

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// A sequence composes a Gaussian profile (μ = 0: none) with parts of any other
// kind. All-Gaussian sequences, single parts and objective perturbation beside
// Gaussian releases have their exact profiles; other mixed ones go through privacy loss distributions, on grids that are refined
// until the bound is tight to about 1e-5 of ε.
type sequence struct {
	gauss gaussian
	parts []part // distinct

	lock  sync.Mutex
	grids map[int]*pld // by exponent; a cache
}

// part is a number of releases with one profile.
type part struct {
	profile
	copies int64
}

// newSequence merges parts of equal profiles.
func newSequence(g gaussian, parts ...part) *sequence {
	keys := make(map[string]int64, len(parts))
	s := &sequence{gauss: g, grids: map[int]*pld{}}
	for _, p := range parts {
		key := p.key()
		if keys[key] == 0 {
			s.parts = append(s.parts, p)
		}
		keys[key] += p.copies
	}
	for i, p := range s.parts {
		s.parts[i].copies = keys[p.key()]
	}
	return s
}

// single returns the only part if it is a single release, else nil.
func (s *sequence) single() profile {
	if len(s.parts) == 1 && s.parts[0].copies == 1 && s.gauss.mu == 0 {
		return s.parts[0].profile
	}
	return nil
}

// noisy returns the sequence as one objective perturbation with Gaussian
// releases, if it is that.
func (s *sequence) noisy() (noisyObjective, bool) {
	if len(s.parts) != 1 || s.parts[0].copies != 1 || s.gauss.mu == 0 {
		return noisyObjective{}, false
	}
	o, ok := s.parts[0].profile.(objective)
	return noisyObjective{o, s.gauss}, ok
}

// loss is the largest privacy loss, +Inf with a Gaussian part.
func (s *sequence) loss() float64 {
	if s.gauss.mu > 0 {
		return math.Inf(1)
	}
	var sum float64
	for _, p := range s.parts {
		sum = addUp(sum, multiplyUp(float64(p.copies), p.loss()))
	}
	return sum
}

// gdp bounds the sequence by a Gaussian profile.
func (s *sequence) gdp() gaussian {
	g := s.gauss
	for _, p := range s.parts {
		h := p.gdp()
		n := float64(p.copies)
		g = g.then(gaussian{mu: h.mu * math.Sqrt(n) * up, kappa: h.kappa * n * up})
	}
	return g
}

// weight counts the numerical compositions.
func (s *sequence) weight() int {
	w := 0
	for _, p := range s.parts {
		w += p.weight() * bits.Len64(uint64(p.copies))
	}
	return w
}

func (s *sequence) key() string {
	keys := make([]string, len(s.parts))
	for i, p := range s.parts {
		keys[i] = fmt.Sprintf("%d × %s", p.copies, p.key())
	}
	slices.Sort(keys)
	return fmt.Sprintf("gaussian %x, %x; %s", s.gauss.mu, s.gauss.kappa, strings.Join(keys, "; "))
}

func (s *sequence) delta(x float64) float64 { return s.deltaTo(tight, x) }

// deltaTo is delta, where it is numerical to about the given accuracy of ε.
func (s *sequence) deltaTo(accuracy, x float64) float64 {
	if len(s.parts) == 0 {
		return s.gauss.delta(x)
	}
	if p := s.single(); p != nil {
		return p.delta(x)
	}
	if p, ok := s.noisy(); ok {
		return p.delta(x)
	}
	if x >= s.loss() {
		return 0
	}
	best := s.gdp().delta(x)
	s.refine(accuracy, func(p *pld) float64 {
		best = math.Min(best, p.delta(x))
		return x
	})
	return best
}

func (s *sequence) epsilon(d float64) float64 {
	if len(s.parts) == 0 {
		return s.gauss.epsilon(d)
	}
	if p := s.single(); p != nil {
		return p.epsilon(d)
	}
	if p, ok := s.noisy(); ok {
		return p.epsilon(d)
	}
	best := math.Min(s.loss(), s.gdp().epsilon(d))
	s.refine(tight, func(p *pld) float64 {
		e := smallestEpsilon(p.delta, d)
		best = math.Min(best, e)
		return e
	})
	return best
}

// curve returns the exact profile where it is quick, else that of a grid.
func (s *sequence) curve(exponent int) func(float64) float64 {
	if len(s.parts) == 0 {
		return s.gauss.delta
	}
	if p := s.single(); p != nil {
		return p.curve(exponent)
	}
	return s.grid(exponent).delta
}

// tight is the accuracy of the profile that ledgers have.
const tight = 2e-5

// maxWeight limits the numerical compositions of a query, milliseconds each; a
// sequence with more has the bounds of loss and gdp.
const maxWeight = 1000

// refine shows visit ever finer grids. Visit returns the ε that it is after.
//
// Putting a loss on a grid of step s spreads it over two points, which adds at
// most s²/8·(θ + θ²) to the cumulant at θ, so (θ + 1)·s²/8, and never more than
// s, to ε, where θ = −(log δ)'(ε). The grid is made fine enough for that, over
// all parts and squarings, to be below accuracy·ε (or a hundredth of the spread
// in place of ε, if ε is less). This decides about accuracy only; each grid gives an
// upper bound.
func (s *sequence) refine(accuracy float64, visit func(*pld) float64) {
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
		limit := 17 - math.Ilogb(s.splits())/2
		next = max(next, finest, exponent-4, exponent+bits.Len(uint(len(p.mass)))-limit)
		if next >= exponent {
			return
		}
		exponent = next
	}
}

// spread estimates the standard deviation of the total privacy loss.
func (s *sequence) spread() float64 {
	v := s.gauss.mu
	for _, p := range s.parts {
		v = math.Hypot(v, math.Sqrt(float64(p.copies))*p.spread())
	}
	return v
}

// finest is an exponent below which grids would have too many cells.
func (s *sequence) finest() int {
	e := -200
	for _, p := range s.parts {
		if l := p.loss(); !math.IsInf(l, 1) {
			e = max(e, math.Ilogb(l)-15+bits.Len64(uint64(p.copies))/2)
		}
	}
	return e
}

// splits counts how often a loss is put on a grid.
func (s *sequence) splits() float64 {
	n := 1
	for _, p := range s.parts {
		n += bits.Len64(uint64(p.copies))
	}
	return float64(n)
}

// grid composes everything on the grid of step 2^exponent, short distributions
// first.
func (s *sequence) grid(exponent int) *pld {
	s.lock.Lock()
	defer s.lock.Unlock()
	if p := s.grids[exponent]; p != nil {
		return p
	}
	var all []*pld
	if s.gauss.mu > 0 {
		all = append(all, discretise(s.gauss.delta, exponent))
	}
	for _, p := range s.parts {
		all = append(all, power(p.curve, p.copies, exponent))
	}
	slices.SortStableFunc(all, func(p, q *pld) int { return len(p.mass) - len(q.mass) })
	sum := all[0]
	for _, p := range all[1:] {
		sum = convolve(sum, p)
	}
	sum.tabulate()
	s.grids[exponent] = sum
	return sum
}
