package mechanisms

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// Kind says what a node of a Ledger is.
type Kind string

// The kinds of nodes.
const (
	KindGaussian   Kind = "gaussian"   // Gaussian releases at a fixed ratio of sensitivity to noise
	KindSequential Kind = "sequential" // children released one after the other on the same rows
	KindParallel   Kind = "parallel"   // children released on disjoint sets of rows, split by index
)

// Ledger is an immutable tree of the releases that a computation makes, and as
// a whole the computation's privacy profile under replace-one neighbours. Its
// leaves come from mechanisms, its inner nodes from Sequential and Parallel.
// It prints as a tree and marshals to JSON, from which every number that it
// claims can be recomputed.
type Ledger struct {
	kind     Kind
	label    string
	mu       float64 // of one release
	releases int
	dim      int
	children []*Ledger
	seeded   bool
}

// Sequential composes ledgers of releases on the same rows, adaptive ones
// included: Gaussian parts compose to √Σμ² [DRS22, Corollary 3.3].
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
	l := &Ledger{kind: kind, label: label, children: append([]*Ledger(nil), parts...)}
	if err := l.validate(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Ledger) validate() error {
	switch l.kind {
	case KindGaussian:
		if len(l.children) > 0 {
			return check.Fail(check.ErrModel, "ledger.of", nil, "must be absent in a leaf")
		}
		if err := check.Mu(l.mu); err != nil {
			return err
		}
		return releasesAndDim(l.releases, l.dim)
	case KindSequential, KindParallel:
		if len(l.children) == 0 || l.mu != 0 || l.releases != 0 || l.dim != 0 {
			return check.Fail(check.ErrModel, "ledger", string(l.kind), "must have parts and no numbers of its own")
		}
		for _, c := range l.children {
			if c == nil {
				return check.Fail(check.ErrModel, "ledger", string(l.kind), "must not have a nil part")
			}
			if err := c.validate(); err != nil {
				return err
			}
		}
		return nil
	}
	return check.Fail(check.ErrModel, "ledger.kind", string(l.kind), "is unknown")
}

// gaussian is the profile e^κ·δ_GDP(ε − 2κ; μ) that all ledgers of Gaussian
// releases have.
type gaussian struct{ mu, kappa float64 }

func (g gaussian) delta(epsilon float64) float64 {
	return math.Min(1, math.Exp(g.kappa+logGaussianDelta(g.mu, epsilon-2*g.kappa)))
}

// gaussian collapses the tree: squares add along a sequence, the largest counts
// among parallel parts (Gaussian profiles are ordered by μ).
func (l *Ledger) gaussian() gaussian {
	if l.kind == KindGaussian {
		r := float64(l.releases)
		return gaussian{mu: l.mu * math.Sqrt(r), kappa: gridSlack(r * float64(l.dim))}
	}
	var total gaussian
	for _, c := range l.children {
		g := c.gaussian()
		if l.kind == KindSequential {
			total.mu = math.Hypot(total.mu, g.mu)
			total.kappa += g.kappa
		} else {
			total.mu = math.Max(total.mu, g.mu)
			total.kappa = math.Max(total.kappa, g.kappa)
		}
	}
	total.mu *= 1 + 1e-15
	return total
}

// Delta returns the δ for which the releases are (epsilon, δ)-DP, rounded up.
func (l *Ledger) Delta(epsilon float64) (float64, error) {
	if math.IsNaN(epsilon) || epsilon < 0 || math.IsInf(epsilon, 0) {
		return 0, check.Fail(check.ErrBudget, "epsilon", epsilon, "must be a finite number ≥ 0")
	}
	return l.gaussian().delta(epsilon), nil
}

// Epsilon returns the smallest ε ≥ 0 for which the releases are (ε, delta)-DP,
// rounded up.
func (l *Ledger) Epsilon(delta float64) (float64, error) {
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return smallestEpsilon(l.gaussian().delta, delta), nil
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
	g := l.gaussian()
	if l.kind == KindGaussian {
		return fmt.Sprintf("%s: %d × Gaussian in %d dimensions, σ = %.6g × sensitivity, together %.6g-GDP",
			l.label, l.releases, l.dim, 1/l.mu, g.mu)
	}
	return fmt.Sprintf("%s: %s, %.6g-GDP", l.label, l.kind, g.mu)
}

type ledgerJSON struct {
	Kind        Kind      `json:"kind"`
	Label       string    `json:"label,omitempty"`
	Mu          float64   `json:"mu,omitempty"`
	Releases    int       `json:"releases,omitempty"`
	Dim         int       `json:"dim,omitempty"`
	CallerNoise bool      `json:"caller_noise,omitempty"`
	Parts       []*Ledger `json:"parts,omitempty"`
}

// MarshalJSON writes the tree.
func (l *Ledger) MarshalJSON() ([]byte, error) {
	return json.Marshal(ledgerJSON{l.kind, l.label, l.mu, l.releases, l.dim, l.seeded, l.children})
}

// UnmarshalJSON reads a tree that MarshalJSON wrote, and refuses one that no
// computation of this library could have made.
func (l *Ledger) UnmarshalJSON(data []byte) error {
	var j ledgerJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	decoded := Ledger{j.Kind, j.Label, j.Mu, j.Releases, j.Dim, j.Parts, j.CallerNoise}
	if err := decoded.validate(); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	*l = decoded
	return nil
}
