package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// GroupDelta returns the δ for which the releases are (epsilon, δ)-DP towards
// groups: neighbours differ in the values of up to the given number of rows.
// It is rounded up.
//
// Along a chain of k replacements a μ-GDP release is kμ-GDP [DRS22, Theorem
// 2.14], an ε-DP one is kε-DP and a range of ε becomes one of kε; sequences
// compose these. Rows of a group may lie in several parts of a parallel node,
// whose own profile δ therefore goes through the bound for any profile,
//
//	δ_k(ε) = δ(ε/k)·(e^ε − 1)/(e^{ε/k} − 1),
//
// which is k inequalities P_j(S) ≤ e^{ε/k}P_{j+1}(S) + δ(ε/k) in a row.
func (l *Ledger) GroupDelta(rows int, epsilon float64) (float64, error) {
	s, err := l.groupProfile(rows)
	if err != nil {
		return 0, err
	}
	if err := nonnegative(epsilon); err != nil {
		return 0, err
	}
	return s.delta(epsilon), nil
}

// GroupEpsilon returns the smallest known ε ≥ 0 for which the releases are
// (ε, delta)-DP towards groups of the given number of rows, rounded up.
func (l *Ledger) GroupEpsilon(rows int, delta float64) (float64, error) {
	s, err := l.groupProfile(rows)
	if err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return s.epsilon(delta), nil
}

func (l *Ledger) groupProfile(rows int) (*sequence, error) {
	if rows < 1 {
		return nil, check.Fail(check.ErrConfig, "rows", rows, "must be at least 1")
	}
	s, err := l.composition()
	if err != nil || rows == 1 {
		return s, err
	}
	return s.group(float64(rows)), nil
}

// group replaces each profile by that of k rows. The slack κ bounds how far the
// law of a part's output is from the exact Gaussian one, in ratio; k rows lie
// in at most k parts of a parallel node, so kκ serves.
func (s *sequence) group(k float64) *sequence {
	parts := make([]part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = part{p.profile.group(k), p.copies}
	}
	return newSequence(gaussian{mu: k * s.gauss.mu * up, kappa: k * s.gauss.kappa * up}, parts...)
}

// grouped is the bound for any profile.
type grouped struct {
	of profile
	k  float64
}

func (g grouped) delta(x float64) float64 { return g.chain(g.of.delta, x) }

func (g grouped) chain(delta func(float64) float64, x float64) float64 {
	if x < 0 {
		return math.Min(1, (-math.Expm1(x)+math.Exp(x)*g.chain(delta, -x))*up)
	}
	// Rounded down, so that the decreasing profile is rounded up.
	each := x / g.k / up
	d := delta(each)
	if d == 0 || each == 0 {
		return math.Min(1, g.k*d*up)
	}
	// In logarithms, as e^x may overflow; they cost digits.
	log := math.Log(d) + x - each
	return math.Min(1, math.Exp(log)*(math.Expm1(-x)/math.Expm1(-each))*(1+1e-15*(1e3+x)))
}

func (g grouped) epsilon(d float64) float64 {
	return math.Min(g.loss(), math.Min(g.gdp().epsilon(d), smallestEpsilon(g.delta, d)))
}

func (g grouped) spread() float64 { return g.k * g.of.spread() }
func (g grouped) loss() float64   { return g.k * g.of.loss() * up }

func (g grouped) gdp() gaussian {
	h := g.of.gdp()
	return gaussian{mu: g.k * h.mu * up, kappa: g.k * h.kappa * up}
}

func (g grouped) curve(exponent int) func(float64) float64 {
	of := g.of.curve(exponent)
	return func(x float64) float64 { return g.chain(of, x) }
}

func (g grouped) group(k float64) profile { return grouped{g.of, g.k * k} }
func (g grouped) weight() int             { return g.of.weight() }
func (g grouped) key() string             { return fmt.Sprintf("%g rows of %s", g.k, g.of.key()) }
