package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// GroupDelta returns the δ for which the releases are (epsilon, δ)-DP towards groups:
// neighbours differ in the values of up to the given number of rows. It is rounded up. For
// parallel nodes it is the largest over how these rows may fall into the parts. It fails as
// Delta does, and for no row.
func (l *Ledger) GroupDelta(rows int, epsilon float64) (float64, error) {
	g, err := l.group(rows)
	if err != nil {
		return 0, err
	}
	return g.Delta(epsilon)
}

// GroupEpsilon returns the smallest known ε ≥ 0 for which the releases are (ε, delta)-DP
// towards groups of the given number of rows, rounded up. It fails as Epsilon does, and for no
// row.
func (l *Ledger) GroupEpsilon(rows int, delta float64) (float64, error) {
	g, err := l.group(rows)
	if err != nil {
		return 0, err
	}
	return g.Epsilon(delta)
}

// groupEpsilon is GroupEpsilon of 0 ≤ delta < 1, +Inf for what isn't a ledger.
func groupEpsilon(l *Ledger, rows int, delta float64) float64 {
	g, err := l.group(rows)
	if err != nil {
		return math.Inf(1)
	}
	return g.profile.Epsilon(delta)
}

// group is a ledger that has the profile for so many rows.
func (l *Ledger) group(rows int) (*Ledger, error) {
	s, err := l.composition()
	if err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, check.Fail(check.ErrConfig, "rows", rows, "must be at least 1")
	}
	return &Ledger{profile: s.Group(float64(rows))}, nil
}

// GroupWithin reports whether the releases are known to be (epsilon, delta)-DP towards
// groups of the given number of rows, as Within does for one; delta may be 0.
func (l *Ledger) GroupWithin(rows int, epsilon, delta float64) bool {
	s, err := l.composition()
	return err == nil && rows >= 1 && s.GroupWithin(float64(rows), epsilon, delta)
}

// GroupMu returns a μ for which the releases are μ-GDP towards groups of the given
// number of rows, as Mu does for one; +Inf where none is known.
func (l *Ledger) GroupMu(rows int) float64 {
	s, err := l.composition()
	if err != nil || rows < 1 {
		return math.Inf(1)
	}
	return s.GroupMu(float64(rows))
}
