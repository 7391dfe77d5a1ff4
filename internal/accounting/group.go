package accounting

import (
	"fmt"
	"math"
	"slices"
)

// Group returns the profile for neighbours that differ in k ≥ 1 rows.
//
// Along a chain of k replacements a μ-GDP release is kμ-GDP [DRS22, Theorem
// 2.14], an ε-DP one is kε-DP and a range of ε becomes one of kε; sequences
// compose these.
func (s *Sequence) Group(k float64) *Sequence {
	if k == 1 {
		return s
	}
	g := s.gauss.group(k)
	var parts []part
	for _, p := range s.parts {
		of := p.group(k)
		g = g.then(of.gauss.times(p.copies))
		for _, q := range of.parts {
			parts = append(parts, part{q.profile, q.copies * p.copies})
		}
	}
	return newSequence(g, parts...)
}

// GroupWithin reports whether the releases are known to be (epsilon, delta)-DP for
// neighbours that differ in k rows: by Group or by what holds for any releases, that
// ε-DP ones are kε-DP and μ-GDP ones kμ-GDP. Group may be above these where it takes
// rows in lots.
func (s *Sequence) GroupWithin(k, epsilon, delta float64) bool {
	if k == 1 {
		return s.Within(epsilon, delta)
	}
	return multiplyUp(k, s.Loss()) <= epsilon || delta > 0 && s.gdp().group(k).delta(epsilon) <= delta || s.Group(k).Within(epsilon, delta)
}

// GroupMu is Mu for neighbours that differ in k rows.
func (s *Sequence) GroupMu(k float64) float64 {
	return math.Min(s.Group(k).Mu(), s.gdp().group(k).mu)
}

// maxSplits limits the ways in which the rows of a group are taken to fall into
// the branches of a parallel node.
const maxSplits = 40

// group takes the maximum over how k rows fall into the branches: k_i of them into
// branch i, Σk_i = k. Given the split by index, the branches' releases are
// independent of each other, and those of branch i have the profile for k_i rows:
// together that of a sequence of these.
//
// Parts with the same profile are one branch here, which covers every way in which
// their k_i rows fall into them. Say two have k₁ and k₂. Releases that are k₁μ- and
// k₂μ-GDP together are √(k₁² + k₂²)μ-GDP, less than (k₁ + k₂)μ; ranges, and values of
// ε, add up; the chain of one-row bounds (see grouped) doesn't ask where a row lies.
// Sequences of releases are taken release by release, given what came before.
//
// Where there are too many splits, rows go in lots: every k_i is rounded up to a
// whole number of lots, except where all k rows lie in one branch. With too many
// branches for that, the bound for any profile remains.
func (p parallel) group(k float64) *Sequence {
	m := len(p.branches)
	for lot := 1.0; ; lot *= 2 {
		ways, lots := 1.0, math.Ceil(k/lot)+1
		for i := 1; i < m; i++ { // compositions of lots into m parts, at most
			ways *= (lots + float64(i)) / float64(i)
		}
		if ways <= maxSplits {
			return Parallel(splits(p.branches, k, lot)...)
		}
		if lot >= k {
			return one(grouped{p, k})
		}
	}
}

func splits(branches []*Sequence, k, lot float64) []*Sequence {
	var all []*Sequence
	var fall func(i int, left float64, chosen []*Sequence)
	fall = func(i int, left float64, chosen []*Sequence) {
		with := func(rows float64) []*Sequence {
			if rows == 0 {
				return chosen
			}
			return append(slices.Clip(chosen), branches[i].Group(rows))
		}
		if i == len(branches)-1 || left == 0 {
			all = append(all, Compose(with(left)...))
			return
		}
		fall(i+1, left, chosen)
		for least := 1.0; least < left; least += lot {
			fall(i+1, left-least, with(math.Min(least+lot-1, left-1)))
		}
		fall(i+1, 0, with(left))
	}
	fall(0, k, nil)
	return all
}

// grouped is the bound for k rows and any profile,
//
//	δ_k(ε) = δ(ε/k)·(e^ε − 1)/(e^{ε/k} − 1),
//
// which is k inequalities P_j(S) ≤ e^{ε/k}P_{j+1}(S) + δ(ε/k) in a row; or that of
// kμ-GDP where it is lower. It is computed in logarithms, because its factors
// overflow and underflow.
type grouped struct {
	of profile
	k  float64
}

func (g grouped) delta(x float64) float64 { return fromLog(g.logDelta(x)) }

func (g grouped) logDelta(x float64) float64 {
	return math.Min(g.chain(g.of.logDelta, x), g.gdp().logDelta(x))
}

func (g grouped) chain(logDelta func(float64) float64, x float64) float64 {
	if x < 0 {
		return toLog(capped(-math.Expm1(x) + fromLog(x+g.chain(logDelta, -x))))
	}
	each := x / g.k / up // rounded down, so that the falling profile is rounded up
	log := logDelta(each)
	if math.IsInf(log, -1) {
		return log
	}
	if each == 0 {
		return math.Min(0, log+math.Log(g.k)+1e-13)
	}
	log += x - each + math.Log(math.Expm1(-x)/math.Expm1(-each))
	return math.Min(0, log+1e-15*(1e3+x+math.Abs(log)))
}

func (g grouped) epsilon(d float64) float64 {
	return math.Min(g.loss(), smallestEpsilon(g.delta, d))
}

func (g grouped) spread() float64 { return g.k * g.of.spread() }
func (g grouped) loss() float64   { return g.k * g.of.loss() * up }
func (g grouped) gdp() gaussian   { return g.of.gdp().group(g.k) }

func (g grouped) curve(exponent int) func(float64) float64 {
	of, h := g.of.curve(exponent), g.gdp()
	logDelta := func(x float64) float64 { return toLog(of(x)) }
	return func(x float64) float64 { return math.Min(fromLog(g.chain(logDelta, x)), h.delta(x)) }
}

func (g grouped) group(k float64) *Sequence { return one(grouped{g.of, g.k * k}) }
func (g grouped) weight() int               { return g.of.weight() }
func (g grouped) key() string               { return fmt.Sprintf("%g rows of %s", g.k, g.of.key()) }

// group is the profile for k rows, kμ-GDP [DRS22, Theorem 2.14]. They may lie in k
// parts of a parallel node, each with all the coordinates, moved k times as far.
func (g gaussian) group(k float64) gaussian {
	return gaussian{k * g.mu * up, k * g.coordinates * up, k * k * k * g.moved * up}
}

func (p pure) group(k float64) *Sequence         { return one(pure{k * p.eps * up}) }
func (b boundedRange) group(k float64) *Sequence { return one(boundedRange{k * b.eps * up, true}) }

// What the bound for groups asks of the profile for one row, beyond delta.

func (p pure) logDelta(x float64) float64           { return toLog(p.delta(x)) }
func (b boundedRange) logDelta(x float64) float64   { return toLog(b.delta(x)) }
func (p noisyObjective) logDelta(x float64) float64 { return toLog(p.delta(x)) }

func (p parallel) logDelta(x float64) float64 {
	v := math.Inf(-1)
	for _, s := range p.branches {
		v = math.Max(v, s.logDelta(x))
	}
	return v
}

// logDelta is the quick bound where the profile would have to be composed.
func (s *Sequence) logDelta(x float64) float64 {
	if p := s.closed(); p != nil {
		return p.logDelta(x)
	}
	return math.Min(toLog(s.quickDelta(x)), s.gdp().logDelta(x))
}

func (o objective) group(k float64) *Sequence { return one(grouped{o, k}) }
