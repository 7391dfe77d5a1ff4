package mechanisms

import (
	"fmt"
	"slices"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Kind says what a node of a [Ledger] is.
type Kind string

// The kinds of nodes.
const (
	KindGaussian     Kind = "gaussian"      // Gaussian releases at a fixed ratio of sensitivity to noise
	KindPure         Kind = "pure"          // ε-DP releases
	KindLaplace      Kind = "laplace"       // releases with Laplace noise, ε-DP each
	KindBoundedRange Kind = "bounded-range" // releases whose log-likelihood ratio has range ε
	KindObjective    Kind = "objective"     // a minimiser of a noisy objective, plus Gaussian noise
	// A minimiser of an objective with Laplace noise, plus Laplace noise; ε-DP as a whole.
	KindPureObjective Kind = "pure-objective"
	KindSequential    Kind = "sequential" // parts released one after the other on the same rows, or one part as often as its node says
	KindParallel      Kind = "parallel"   // parts released on disjoint sets of rows, split by index
)

// Ledger is an immutable tree of the releases that a computation makes, and as
// a whole the computation's privacy profile for one [Unit], which composed ledgers have of
// their parts. Its leaves come from mechanisms, its inner nodes from [Sequential] and
// [Parallel].
// It prints as a tree and marshals to JSON, from which every number that it
// claims can be recomputed. A nil or zero Ledger stands for no computation: it is
// within no budget, and whatever can return an error does.
//
// # Accuracy
//
// Gaussian trees, also with one objective perturbation, single releases and their
// parallel compositions have their exact profiles. Mixed sequences are composed
// numerically [KJPH21, GLW21]: the bound is above the truth by about 1e-5 of ε, down
// to δ = 1e-25. Below that δ, and where composing would take more than some tenths
// of a second, coarser bounds remain.
type Ledger struct {
	node     node
	children []*Ledger
	seeded   bool
	claim    *Claim
	unit     Unit // zero where it isn't stated

	profile     *accounting.Sequence
	depth, size int // of the tree below the root
}

// Limits of a tree, so that printing, decoding and accounting end soon.
const (
	maxDepth    = 100
	maxSize     = 1 << 13 // nodes, and different parts of each
	maxReleases = 1 << 40 // of one leaf that isn't Gaussian
	maxEpsilon  = 1e100
)

// epsilonLedger returns the entry for (adaptive) releases that are epsilon-DP each, also by
// Laplace noise, or of each of which the log-likelihood ratio between neighbours has at most that range.
func epsilonLedger(kind Kind, label string, epsilon float64, releases int) (*Ledger, error) {
	return (&Ledger{node: node{Kind: kind, Label: label, Epsilon: epsilon, Releases: releases}}).complete()
}

// Sequential composes ledgers of releases on the same rows, adaptive ones
// included: Gaussian parts compose to √Σμ² [DRS22, Corollary 3.3], others
// through their privacy loss distributions [KJPH21, GLW21]. What is composed,
// the parts' numbers and how many there are, must not depend on what was released before;
// for what does there is [Accountant]. It fails for no part, for one that isn't a ledger, for parts of different
// units, with or without one included, and for a tree of more than 100 levels or 8192
// different nodes.
func Sequential(label string, parts ...*Ledger) (*Ledger, error) {
	return compose(KindSequential, label, parts)
}

// Parallel composes ledgers of releases on disjoint sets of rows, chosen by index without
// looking at the rows. Its profile is the pointwise maximum of its parts': the replaced row
// lies in one part; given the split, only that part's output changes law, and hockey-stick
// divergence is jointly convex. It fails as [Sequential] does.
func Parallel(label string, parts ...*Ledger) (*Ledger, error) {
	return compose(KindParallel, label, parts)
}

func compose(kind Kind, label string, parts []*Ledger) (*Ledger, error) {
	return (&Ledger{node: node{Kind: kind, Label: label}, children: slices.Clone(parts)}).complete()
}

// complete checks the node, whose children are complete, and adds its profile.
func (l *Ledger) complete() (*Ledger, error) {
	if err := l.node.validate(l.children); err != nil {
		return nil, err
	}
	var err error
	if l.unit, err = unitOf(l.unit, l.children); err != nil {
		return nil, err
	}
	l.depth, l.size = 0, 0
	profiles := make([]*accounting.Sequence, len(l.children))
	for i, c := range l.children {
		l.depth = max(l.depth, c.depth+1)
		l.size += c.size
		profiles[i] = c.profile
	}
	if l.depth > maxDepth || l.size > maxSize {
		return nil, check.Fail(check.ErrModel, "ledger", nil, fmt.Sprintf("must have at most %d nodes and different parts, nested at most %d deep", maxSize, maxDepth))
	}
	l.profile = l.node.profile(profiles)
	l.size += 1 + l.profile.Size()
	return l, nil
}

// composition returns the ledger's profile.
func (l *Ledger) composition() (*accounting.Sequence, error) {
	if l == nil || l.profile == nil {
		return nil, check.Fail(check.ErrModel, "ledger", nil, "must not be empty")
	}
	return l.profile, nil
}
