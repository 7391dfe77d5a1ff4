package accounting

import (
	"math"
	"sync"
)

// ranges is the curve of k releases of range ε each, of which an adversary chooses at each, by what was released before, where it lies.
//
// With n releases left the adversary gains at most
//
//	δ_n(x) = max_t p_t·δ_{n−1}(x − t) + (1 − p_t)·δ_{n−1}(x − t + ε),  p_t = (1 − e^{t−ε})/(1 − e^{−ε}),  0 ≤ t ≤ ε,
//
// δ_0(x) = (1 − e^x)₊.
//
// Proof. Let what follows an outcome of loss l gain F(x − l), F = δ_{n−1}: then the release gains E_P F(x − l) = E_Q e^l·F(x − l). F is
// a supremum of E(e^l' − e^y)₊-like divergences, hence convex in e^y, and falls; so e^l·F(x − l), the perspective of it, is convex in e^l. Losses
// lie in [t − ε, t] and E_Q e^l = 1, so that it is most where they lie at both ends, which have p_t and 1 − p_t under P. ∎
//
// Beside other releases. Let other parts be dominated by pairs whose losses, L, are independent of what is chosen. By induction on all that is left, in whatever
// order, an adversary gains at most W_n(x) = E δ_n(x − L): after a release of range ε it gains E_P W_{n−1}(x − l) = E_L[E_P δ_{n−1}(x − L − l)] ≤
// E_L δ_n(x − L); after another part of loss l', W_n of what is left of L at x − l', whose mean over l' is W_n(x). So the curve is a part's, though
// releases of other kinds, or of other ranges, come between, and which comes next is chosen by results; what is fixed is how many of each there are.
//
// On the grid of multiples of h = ε/m: between grid points in e^y a convex function is below its chord. For t from jh to (j+1)h, and u = e^t, what is maximised is
// const + a·u + b/u, b ≤ 0, with chords in both places; it is above the greater of its ends by no more than |b|·(u_j^{−½} − u_{j+1}^{−½})².
type ranges struct {
	step   float64
	values []float64 // bounds on δ_k at multiples of step from 0 on
}

const (
	// rangeLot is how many releases are taken together at most.
	rangeLot = 64
	// rangeWork is about how many values of t are tried for all x and releases; leastSteps and mostSteps of ε are.
	rangeWork, leastSteps, mostSteps = 3e6, 16, 512
	// mostTables is how many are kept, of some 20 kB each.
	mostTables = 256
	// mostRange is the largest ε of which the table's steps are small; others are composed.
	mostRange = 4
	// rangeTail is how many deviations beyond the mean loss the table goes: what is beyond counts as its last value.
	rangeTail = 12
)

// table is a table of ranges, by which it is kept.
type table struct {
	eps   float64
	k     int
	steps int // of ε
}

// tables keeps the latest, for the compositions of a search. It is safe for concurrent use.
var tables = struct {
	lock  sync.Mutex
	kept  map[table]*ranges
	order []table // the latest last
}{kept: map[table]*ranges{}}

// rangesFor is the curve of k releases among so many parts of a sequence, which share the work.
func rangesFor(eps float64, k, parts int) *ranges {
	steps := math.Sqrt(rangeWork / (float64(parts) * rangeTail / 2 * math.Pow(float64(k), 1.5)))
	of := table{eps, k, int(min(max(steps, leastSteps), mostSteps))}
	tables.lock.Lock()
	defer tables.lock.Unlock()
	if r := tables.kept[of]; r != nil {
		return r
	}
	r := newRanges(of)
	if len(tables.order) == mostTables {
		delete(tables.kept, tables.order[0])
		tables.order = tables.order[1:]
	}
	tables.kept[of], tables.order = r, append(tables.order, of)
	return r
}

func newRanges(of table) *ranges {
	eps, k, m := of.eps, of.k, of.steps
	h := eps / float64(m)
	size := int(math.Ceil(math.Min(float64(k)*eps, float64(k)*eps*eps/8+rangeTail*eps*math.Sqrt(float64(k))/2)/h)) + 1
	one := boundedRange{eps: eps}
	r := &ranges{h, make([]float64, size+1)}
	for i := range r.values {
		r.values[i] = one.delta(float64(i) * h * (1 - 4e-16)) // places are exact multiples, up to here
	}
	// Places from −m−1 to the table's end.
	at := func(v []float64, i int) float64 {
		switch {
		case i < 0: // by symmetry
			z := float64(i) * h
			return math.Min(1, -math.Expm1(z)+math.Exp(z)*v[-i])
		case i < len(v):
			return v[i]
		}
		return v[len(v)-1]
	}
	c := -1 / math.Expm1(-eps)
	bump := c * math.Pow(math.Expm1(-h/2), 2) / -math.Expm1(-h)
	damp := math.Exp(-eps)
	p := make([]float64, m+1)
	for j := range p {
		p[j] = -math.Expm1(float64(j-m)*h) * c
	}
	below := make([]float64, size+1+2*m+2)
	for range k - 1 {
		for i := range below {
			below[i] = at(r.values, i-m-1)
		}
		next := make([]float64, size+1)
		for i := range next {
			y := i + m + 1 // in below
			last := p[0]*below[y] + (1-p[0])*below[y+m]
			most := last
			for j := 1; j <= m; j++ {
				lower, upper := below[y-j], below[y-j+m]
				this := p[j]*lower + (1-p[j])*upper
				between := bump * math.Max(0, (lower-below[y-j+1])-damp*(upper-below[y-j+1+m]))
				most = math.Max(most, math.Max(this, last)+between)
				last = this
			}
			next[i] = math.Min(1, most*(1+4e-15))
		}
		r.values = next
	}
	return r
}

// delta is the chord in e^x.
func (r *ranges) delta(x float64) float64 {
	if x < 0 {
		return capped(-math.Expm1(x) + math.Exp(x)*r.delta(-x))
	}
	if !(x < r.step*float64(len(r.values)-1)) {
		return r.values[len(r.values)-1]
	}
	i := min(int(x/r.step), len(r.values)-2)
	low := float64(i) * r.step
	part := math.Expm1(x-low) / math.Expm1(r.step)
	part = math.Min(math.Max(part, 0), 1)
	return math.Min(1, (r.values[i]+part*(r.values[i+1]-r.values[i]))*(1+1e-11))
}
