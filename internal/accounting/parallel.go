package accounting

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"slices"
)

// parallel is the maximum of its branches' profiles. The replaced row lies in one
// branch; given how rows were split, only that branch's releases change their law,
// and the hockey-stick divergence is jointly convex.
type parallel struct {
	branches []*Sequence // distinct, none of them a parallel node itself
	name     string      // a digest of their keys
}

// Parallel returns the profile of releases on disjoint sets of rows, at least one,
// split by index. Whatever lies below a Gaussian branch needs no place beside it,
// for one row or for more: a part that is μ-GDP is kμ-GDP for k of its rows.
func Parallel(branches ...*Sequence) *Sequence {
	distinct := make(map[string]*Sequence, len(branches))
	var g gaussian
	for _, s := range branches {
		inner := []*Sequence{s}
		if p, ok := s.single().(parallel); ok {
			inner = p.branches
		}
		for _, b := range inner {
			if b.IsGaussian() {
				g = g.or(b.gauss)
			} else {
				distinct[b.key()] = b
			}
		}
	}
	if g.mu > 0 {
		for key, b := range distinct {
			if h := b.gdp(); h.mu <= g.mu {
				g = g.or(h)
				delete(distinct, key)
			}
		}
		s := newSequence(g)
		distinct[s.key()] = s
	}
	var p parallel
	digest := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(distinct)) {
		p.branches = append(p.branches, distinct[key])
		fmt.Fprintf(digest, "%q", key)
	}
	if len(p.branches) == 1 {
		return p.branches[0]
	}
	p.name = fmt.Sprintf("parallel %x", digest.Sum(nil))
	return one(p)
}

func (p parallel) delta(x float64) float64 {
	return p.largest(func(s *Sequence) float64 { return s.quickDelta(x) }, func(s *Sequence) float64 { return s.Delta(x) })
}

func (p parallel) epsilon(d float64) float64 {
	return p.largest(func(s *Sequence) float64 { return s.quickEpsilon(d) }, func(s *Sequence) float64 { return s.Epsilon(d) })
}

// maxExact limits the branches that are composed numerically for one answer.
const maxExact = 2

// largest returns the largest of what exact says of the branches. It asks those
// first of which quick, which is never less, says the most; where more than a few
// would be composed numerically, what quick says of the others stands.
func (p parallel) largest(quick, exact func(*Sequence) float64) float64 {
	bounds := make([]float64, len(p.branches))
	order := make([]int, len(p.branches))
	for i, s := range p.branches {
		bounds[i], order[i] = quick(s), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(bounds[j], bounds[i]) })
	var v float64
	numerical := 0
	for _, i := range order {
		if bounds[i] <= v {
			break
		}
		if s := p.branches[i]; s.closed() != nil {
			bounds[i] = exact(s)
		} else if numerical++; numerical <= maxExact {
			bounds[i] = math.Min(bounds[i], exact(s))
		}
		v = math.Max(v, bounds[i])
	}
	return v
}

func (p parallel) each(f func(*Sequence) float64) float64 {
	var v float64
	for _, s := range p.branches {
		v = math.Max(v, f(s))
	}
	return v
}

func (p parallel) loss() float64 { return p.each((*Sequence).Loss) }

func (p parallel) gdp() gaussian {
	var g gaussian
	for _, s := range p.branches {
		g = g.or(s.gdp())
	}
	return g
}

func (p parallel) curve(exponent int) func(float64) float64 {
	curves := make([]func(float64) float64, len(p.branches))
	for i, s := range p.branches {
		curves[i] = s.curve(exponent)
	}
	return func(x float64) float64 {
		var d float64
		for _, c := range curves {
			d = math.Max(d, c(x))
		}
		return d
	}
}

func (p parallel) key() string { return p.name }

func (p parallel) spread() float64 {
	return p.each(func(s *Sequence) float64 { return s.numeric.spread() })
}

func (p parallel) weight() int {
	w := 1
	for _, s := range p.branches {
		w += s.numeric.weight()
	}
	return w
}
