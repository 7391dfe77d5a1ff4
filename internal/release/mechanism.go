package release

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// Gaussian plans releases of vectors of dim coordinates, each mu-GDP.
func Gaussian(label string, mu float64, releases, dim int) (*Schedule, error) {
	g := mechanisms.Gaussian{Mu: mu}
	return newLeaf(label, additive{"gaussian", dim, func(label string, releases int) (*mechanisms.Ledger, error) {
		return g.Ledger(label, releases, dim)
	}, func(values []float64, l2 float64, src mechanisms.Source) error {
		return g.Release(values, values, l2, src)
	}}, releases)
}

// Laplace plans releases of vectors of dim coordinates, each epsilon-DP.
func Laplace(label string, epsilon float64, releases, dim int) (*Schedule, error) {
	l := mechanisms.Laplace{Epsilon: epsilon}
	return newLeaf(label, additive{"laplace", dim, l.Ledger, func(values []float64, l2 float64, src mechanisms.Source) error {
		return l.Release(values, values, L1(l2, dim), src)
	}}, releases)
}

// Vote plans yes-or-no answers by margins of sensitivity 2.
func Vote(label string, epsilon float64, releases int) (*Schedule, error) {
	return newLeaf(label, vote{mechanisms.Vote{Epsilon: epsilon}}, releases)
}

// Selection plans one choice by scores that are to be small.
func Selection(label string, m Selector) (*Schedule, error) {
	return newLeaf(label, selection{m}, 1)
}

// Plurality plans so many choices of one of several candidates by scores that are to be small,
// such as less the votes for each. A candidate's probability is proportional to
// exp(−ε·score/(2Δ)), Δ being the largest sensitivity of a score, but for a relative 2^-33 of the
// exponent. For two candidates, of v and v′ votes, it is that of [Vote] by v − v′.
// Replace-one: each choice is ε-DP and ε-bounded-range, as one row moves no score by more than Δ.
func Plurality(label string, epsilon float64, releases int) (*Schedule, error) {
	return newLeaf(label, plurality{mechanisms.Exponential{Epsilon: epsilon}}, releases)
}

// Objective plans one release of a minimiser of dim coordinates by objective
// perturbation.
func Objective(label string, law mechanisms.ObjectivePerturbation, dim int) (*Schedule, error) {
	return newLeaf(label, objective{gaussianLaw{law}, dim}, 1)
}

// PureObjective plans one release of a minimiser of dim coordinates by objective perturbation with
// Laplace noise.
func PureObjective(label string, law mechanisms.PureObjectivePerturbation, dim int) (*Schedule, error) {
	return newLeaf(label, objective{laplaceLaw{law}, dim}, 1)
}

// additive is noise that is added to vectors.
type additive struct {
	kind    string
	dim     int
	ledger  func(label string, releases int) (*mechanisms.Ledger, error)
	release func(values []float64, l2 float64, src mechanisms.Source) error
}

func (m additive) name() string { return m.kind }
func (m additive) entry(label string, count int) (*mechanisms.Ledger, error) {
	if m.dim < 1 {
		return nil, check.Fail(check.ErrShape, "dim", m.dim, "must be at least 1")
	}
	return m.ledger(label, count)
}

// L1 bounds the L1 norm of a vector of dim coordinates by its L2 norm.
func L1(l2 float64, dim int) float64 { return math.Sqrt(float64(dim)) * l2 * (1 + 1e-15) }

type vote struct{ mechanisms.Vote }

func (v vote) name() string { return "vote" }

func (v vote) entry(label string, count int) (*mechanisms.Ledger, error) {
	return v.Ledger(label, count)
}

// Selector is a mechanism of package mechanisms that selects one of several
// candidates by scores.
type Selector interface {
	Ledger(label string) (*mechanisms.Ledger, error)
}

type selection struct{ by Selector }

func (s selection) name() string { return "selection" }

func (s selection) entry(label string, _ int) (*mechanisms.Ledger, error) { return s.by.Ledger(label) }

// choose returns the index of the chosen score. Mechanisms with one sensitivity
// for all scores get the largest.
func (s selection) choose(scores, each []float64, src mechanisms.Source) (int, error) {
	most := largest(each)
	switch m := s.by.(type) {
	case mechanisms.GeneralizedExponential:
		return m.Select(scores, each, src)
	case mechanisms.Exponential:
		return m.Select(scores, most, src)
	case mechanisms.PermuteAndFlip:
		return m.Select(scores, most, src)
	case mechanisms.NoisyMax:
		return m.Select(scores, most, src)
	}
	return 0, check.Fail(check.ErrConfig, "selector", nil, "must be one of package mechanisms")
}

// plurality is a selection that is made several times.
type plurality struct{ by mechanisms.Exponential }

func (p plurality) name() string { return "plurality" }

func (p plurality) entry(label string, count int) (*mechanisms.Ledger, error) {
	return p.by.Selections(label, count)
}

func (p plurality) choose(scores, each []float64, src mechanisms.Source) (int, error) {
	return selection{p.by}.choose(scores, each, src)
}

// chooser is a leaf that chooses by scores.
type chooser interface {
	leaf
	choose(scores, each []float64, src mechanisms.Source) (int, error)
}

func largest(each []float64) float64 {
	most := 0.0
	for _, v := range each {
		most = math.Max(most, v)
	}
	return most
}

// Pool plans at most so many Gaussian releases of vectors of at most dim coordinates,
// which together are mu-GDP. Each takes a share of μ² when it is made; the shares may
// depend on earlier releases, as Σμ² ≤ mu² is a valid filter for Gaussian ones (Smith and
// Thakurta, Fully Adaptive Composition for Gaussian Differential Privacy, 2022).
//
// The ledger's entry is that of as many equal releases of dim coordinates. Its slack for
// the grid ([mechanisms.Gaussian]) is a constant for each coordinate and another for each
// coordinate's μ², so that fewer releases, shorter ones and other shares have no more:
// Σ dimᵢ·(178 + 1.4·μᵢ²) ≤ dim·(178·releases + 1.4·mu²).
func Pool(label string, mu float64, releases, dim int) (*Schedule, error) {
	return newLeaf(label, pool{mu, dim, 1e-11 + float64(float64(releases)*0x1p-50)}, releases)
}

type pool struct {
	mu  float64 // of all
	dim int     // at most
	// margin is for the rounding of many shares' sum, and for the excess over 1 that
	// Draw lets pass.
	margin float64
}

func (p pool) name() string { return "gaussian" }

func (p pool) entry(label string, count int) (*mechanisms.Ledger, error) {
	each := mechanisms.Gaussian{Mu: p.mu / math.Sqrt(float64(count))}
	return each.Ledger("at most, "+label, count, p.dim)
}

// of is the mechanism of a release with a share of μ².
func (p pool) of(share float64) mechanisms.Gaussian {
	return mechanisms.Gaussian{Mu: p.mu * math.Sqrt(share) * (1 - p.margin)}
}
