package mechanisms

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// Kind says what a node of a Ledger is.
type Kind string

// The kinds of nodes.
const (
	KindGaussian     Kind = "gaussian"      // Gaussian releases at a fixed ratio of sensitivity to noise
	KindPure         Kind = "pure"          // ε-DP releases
	KindBoundedRange Kind = "bounded-range" // releases whose log-likelihood ratio has range ε
	KindObjective    Kind = "objective"     // a minimiser of a noisy objective, plus Gaussian noise
	KindSequential   Kind = "sequential"    // parts released one after the other on the same rows
	KindParallel     Kind = "parallel"      // parts released on disjoint sets of rows, split by index
)

// Ledger is an immutable tree of the releases that a computation makes, and as
// a whole the computation's privacy profile under replace-one neighbours. Its
// leaves come from mechanisms, its inner nodes from Sequential and Parallel.
// It prints as a tree and marshals to JSON, from which every number that it
// claims can be recomputed.
//
// # Sources
//
// [KOV17] Kairouz, Oh and Viswanath, The Composition Theorem for Differential
// Privacy, IEEE Trans. IT 2017. [DDR20] Dong, Durfee and Rogers, Optimal
// Differential Privacy Composition for Exponential Mechanisms, ICML 2020.
// [KJPH21] Koskela, Jälkö, Prediger and Honkela, Tight Differential Privacy for
// Discrete-Valued Mechanisms and for the Subsampled Gaussian Mechanism Using
// FFT, AISTATS 2021. [GLW21] Gopi, Lee and Wutschitz, Numerical Composition of
// Differential Privacy, NeurIPS 2021. [DGKKM22] Doroshenko, Ghazi, Kamath, Kumar
// and Manurangsi, Connect the Dots: Tighter Discrete Approximations of Privacy
// Loss Distributions, PETS 2022. [ZDW22] Zhu, Dong and Wang, Optimal Accounting
// of Differential Privacy via Characteristic Function, AISTATS 2022. [ST22]
// Smith and Thakurta, Fully Adaptive Composition for Gaussian Differential
// Privacy, 2022.
type Ledger struct {
	kind     Kind
	label    string
	mu       float64 // of one Gaussian release, or of an objective's output noise
	epsilon  float64 // of one pure or bounded-range release
	ratio    float64 // of an objective, as logDet
	logDet   float64
	releases int
	dim      int // of one Gaussian release, or of an objective
	children []*Ledger
	seeded   bool

	profile      *sequence // nil in a Gaussian leaf
	depth, nodes int       // of the tree below the root
}

// Limits of a tree, so that printing, decoding and accounting end.
const (
	maxDepth    = 100
	maxNodes    = 1 << 16
	maxReleases = 1 << 40 // of one leaf that isn't Gaussian
	maxEpsilon  = 1e100
)

// pureLedger returns the entry for (adaptive) releases that are epsilon-DP each.
func pureLedger(label string, epsilon float64, releases int) (*Ledger, error) {
	return (&Ledger{kind: KindPure, label: label, epsilon: epsilon, releases: releases}).complete()
}

// boundedRangeLedger returns the entry for (adaptive) releases of each of which
// the log-likelihood ratio between neighbours has at most the range epsilon.
func boundedRangeLedger(label string, epsilon float64, releases int) (*Ledger, error) {
	return (&Ledger{kind: KindBoundedRange, label: label, epsilon: epsilon, releases: releases}).complete()
}

// Sequential composes ledgers of releases on the same rows, adaptive ones
// included: Gaussian parts compose to √Σμ² [DRS22, Corollary 3.3], others
// through their privacy loss distributions [KJPH21, GLW21]. What is composed,
// the parts' numbers, must not depend on what was released before.
func Sequential(label string, parts ...*Ledger) (*Ledger, error) {
	return compose(KindSequential, label, parts)
}

// Parallel composes ledgers of releases on disjoint sets of rows, chosen by
// index without looking at the rows. Its profile is the pointwise maximum of
// its parts': the replaced row lies in one part; given the split, only that
// part's output changes law, and hockey-stick divergence is jointly convex.
func Parallel(label string, parts ...*Ledger) (*Ledger, error) {
	return compose(KindParallel, label, parts)
}

func compose(kind Kind, label string, parts []*Ledger) (*Ledger, error) {
	return (&Ledger{kind: kind, label: label, children: slices.Clone(parts)}).complete()
}

// complete checks the node, whose children are complete, and adds its profile.
func (l *Ledger) complete() (*Ledger, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	l.depth, l.nodes = 0, 0
	for _, c := range l.children {
		l.depth = max(l.depth, c.depth+1)
		l.nodes += c.nodes + 1
	}
	if l.depth > maxDepth || l.nodes > maxNodes {
		return nil, check.Fail(check.ErrModel, "ledger", l.nodes+1, fmt.Sprintf("nodes must be at most %d, nested at most %d deep", maxNodes, maxDepth))
	}
	switch l.kind {
	case KindPure:
		l.profile = newSequence(gaussian{}, part{pure{l.epsilon}, int64(l.releases)})
	case KindBoundedRange:
		l.profile = newSequence(gaussian{}, part{boundedRange{l.epsilon}, int64(l.releases)})
	case KindObjective:
		l.profile = l.objective().sequence(l.releases, l.dim)
	case KindSequential:
		l.profile = l.sequential()
	case KindParallel:
		l.profile = l.parallel()
	}
	return l, nil
}

func (l *Ledger) objective() ObjectivePerturbation {
	return ObjectivePerturbation{Ratio: l.ratio, LogDet: l.logDet, OutputMu: l.mu}
}

func (l *Ledger) validate() error {
	if l.kind != KindObjective && (l.ratio != 0 || l.logDet != 0) {
		return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no ratio and no log det")
	}
	switch l.kind {
	case KindGaussian:
		if len(l.children) > 0 || l.epsilon != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts and no ε")
		}
		if err := check.Mu(l.mu); err != nil {
			return err
		}
		return releasesAndDim(l.releases, l.dim)
	case KindPure, KindBoundedRange:
		if len(l.children) > 0 || l.mu != 0 || l.dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts, no μ and no dimension")
		}
		if !(l.epsilon >= 1e-100 && l.epsilon <= maxEpsilon) {
			return check.Fail(check.ErrBudget, "epsilon", l.epsilon, "must lie between 1e-100 and 1e100")
		}
		if l.releases < 1 || int64(l.releases) > maxReleases {
			return check.Fail(check.ErrConfig, "releases", l.releases, fmt.Sprintf("must lie between 1 and %d", int64(maxReleases)))
		}
		return nil
	case KindObjective:
		if len(l.children) > 0 || l.epsilon != 0 || l.releases != 1 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have no parts and no ε, and be one release")
		}
		if err := l.objective().validate(); err != nil {
			return err
		}
		return releasesAndDim(l.releases, l.dim)
	case KindSequential, KindParallel:
		if len(l.children) == 0 || l.mu != 0 || l.epsilon != 0 || l.releases != 0 || l.dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have parts and no numbers of its own")
		}
		for _, c := range l.children {
			if _, err := c.composition(); err != nil {
				return err
			}
		}
		return nil
	}
	return check.Fail(check.ErrModel, "ledger.kind", string(l.kind), "is unknown")
}

// composition returns the ledger as a sequence.
func (l *Ledger) composition() (*sequence, error) {
	switch {
	case l == nil || l.kind == "":
		return nil, check.Fail(check.ErrModel, "ledger", nil, "must not be empty")
	case l.profile != nil:
		return l.profile, nil
	}
	r := float64(l.releases)
	return newSequence(gaussian{mu: l.mu * math.Sqrt(r) * up, kappa: gridSlack(r * float64(l.dim))}), nil
}

func (l *Ledger) sequential() *sequence {
	var g gaussian
	var parts []part
	for i, c := range l.children {
		t, _ := c.composition()
		if i == 0 {
			g = t.gauss
		} else {
			g = g.then(t.gauss)
		}
		parts = append(parts, t.parts...)
	}
	return newSequence(g, parts...)
}

// parallel collapses the Gaussian branches to one, with the largest μ and the
// largest slack.
func (l *Ledger) parallel() *sequence {
	var g gaussian
	var branches []*sequence
	for _, c := range l.children {
		if t, _ := c.composition(); len(t.parts) == 0 {
			g.mu, g.kappa = math.Max(g.mu, t.gauss.mu), math.Max(g.kappa, t.gauss.kappa)
		} else {
			branches = append(branches, t)
		}
	}
	if len(branches) == 0 {
		return newSequence(g)
	}
	if g.mu > 0 {
		branches = append(branches, newSequence(g))
	}
	return newParallel(branches)
}

// Delta returns the δ for which the releases are (epsilon, δ)-DP, rounded up.
//
// Gaussian trees, also with one objective perturbation, single releases and their
// parallel compositions have their exact profiles. Mixed sequences are composed
// numerically: the bound is above the truth by about 1e-5 of ε, down to δ = 1e-25,
// and takes milliseconds for each different part. Below that δ, and for hundreds
// of different parts that are repeated, coarser bounds remain.
func (l *Ledger) Delta(epsilon float64) (float64, error) {
	s, err := l.composition()
	if err != nil {
		return 0, err
	}
	if err := nonnegative(epsilon); err != nil {
		return 0, err
	}
	return s.delta(epsilon), nil
}

// Epsilon returns the smallest ε ≥ 0 for which the releases are (ε, delta)-DP,
// rounded up as Delta is; +Inf where none is known.
func (l *Ledger) Epsilon(delta float64) (float64, error) {
	s, err := l.composition()
	if err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return s.epsilon(delta), nil
}

// Within reports whether the releases are known to be (epsilon, delta)-DP; delta
// may be 0. It asks both curves: each is an upper bound, and they were refined at
// different points.
func (l *Ledger) Within(epsilon, delta float64) bool {
	s, err := l.composition()
	if err != nil {
		return false
	}
	return s.delta(epsilon) <= delta || delta > 0 && s.epsilon(delta) <= epsilon
}

// Mu returns a μ for which the releases are μ-GDP, but for the slack of the grid
// (see Gaussian); +Inf where none is known. For Gaussian releases it is exact.
func (l *Ledger) Mu() float64 {
	s, err := l.composition()
	if err != nil {
		return math.Inf(1)
	}
	return s.gdp().mu
}

func nonnegative(epsilon float64) error {
	if math.IsNaN(epsilon) || epsilon < 0 || math.IsInf(epsilon, 0) {
		return check.Fail(check.ErrBudget, "epsilon", epsilon, "must be a finite number ≥ 0")
	}
	return nil
}

// WithCallerNoise returns a copy that says that its noise was drawn from a
// source which the caller injected: the guarantee then holds only against those
// who cannot predict that source.
func (l *Ledger) WithCallerNoise() *Ledger {
	c := *l
	c.seeded = true
	return &c
}

// CallerNoise reports whether the noise came from a caller's source.
func (l *Ledger) CallerNoise() bool {
	for _, c := range l.children {
		if c.CallerNoise() {
			return true
		}
	}
	return l.seeded
}

// String prints the tree, one node a line.
func (l *Ledger) String() string {
	var b strings.Builder
	l.print(&b, "", "")
	if l.CallerNoise() {
		b.WriteString("NOTE: noise came from the caller's source; private only if that source is secret and secure\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (l *Ledger) print(b *strings.Builder, first, rest string) {
	fmt.Fprintf(b, "%s%s\n", first, l.line())
	for i, c := range l.children {
		if i < len(l.children)-1 {
			c.print(b, rest+"├─ ", rest+"│  ")
		} else {
			c.print(b, rest+"└─ ", rest+"   ")
		}
	}
}

func (l *Ledger) line() string {
	s, err := l.composition()
	switch {
	case err != nil:
		return "empty ledger"
	case l.kind == KindGaussian:
		return fmt.Sprintf("%s: %d × Gaussian in %d dimensions, σ = %.6g × sensitivity, together %.6g-GDP",
			l.label, l.releases, l.dim, 1/l.mu, s.gauss.mu)
	case l.kind == KindPure:
		return fmt.Sprintf("%s: %d × %.6g-DP", l.label, l.releases, l.epsilon)
	case l.kind == KindBoundedRange:
		return fmt.Sprintf("%s: %d × bounded range %.6g", l.label, l.releases, l.epsilon)
	case l.kind == KindObjective:
		return fmt.Sprintf("%s: objective perturbation in %d dimensions, σ = %.6g × gradient bound, log det ≤ %.6g, output noise %.6g-GDP",
			l.label, l.dim, 1/l.ratio, l.logDet, l.mu)
	case len(s.parts) == 0:
		return fmt.Sprintf("%s: %s, %.6g-GDP", l.label, l.kind, s.gauss.mu)
	case !math.IsInf(s.loss(), 1):
		return fmt.Sprintf("%s: %s, %.6g-DP", l.label, l.kind, s.loss())
	}
	return fmt.Sprintf("%s: %s", l.label, l.kind)
}
