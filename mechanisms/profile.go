package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Delta returns the δ for which the releases are (epsilon, δ)-DP, rounded up.
func (l *Ledger) Delta(epsilon float64) (float64, error) { return l.GroupDelta(1, epsilon) }

// Epsilon returns the smallest ε ≥ 0 for which the releases are (ε, delta)-DP,
// rounded up; +Inf where none is known.
func (l *Ledger) Epsilon(delta float64) (float64, error) { return l.GroupEpsilon(1, delta) }

// GroupDelta returns the δ for which the releases are (epsilon, δ)-DP towards
// groups: neighbours differ in the values of up to the given number of rows.
// It is rounded up. For parallel nodes it is the largest over how these rows may
// fall into the parts.
func (l *Ledger) GroupDelta(rows int, epsilon float64) (float64, error) {
	s, err := l.group(rows)
	if err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return 0, check.Fail(check.ErrBudget, "epsilon", epsilon, "must be a finite number ≥ 0")
	}
	return s.Delta(epsilon), nil
}

// GroupEpsilon returns the smallest known ε ≥ 0 for which the releases are
// (ε, delta)-DP towards groups of the given number of rows, rounded up.
func (l *Ledger) GroupEpsilon(rows int, delta float64) (float64, error) {
	s, err := l.group(rows)
	if err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return s.Epsilon(delta), nil
}

func (l *Ledger) group(rows int) (*accounting.Sequence, error) {
	s, err := l.composition()
	if err != nil {
		return nil, err
	}
	if rows < 1 {
		return nil, check.Fail(check.ErrConfig, "rows", rows, "must be at least 1")
	}
	return s.Group(float64(rows)), nil
}

// Within reports whether the releases are known to be (epsilon, delta)-DP; delta
// may be 0.
func (l *Ledger) Within(epsilon, delta float64) bool {
	s, err := l.composition()
	return err == nil && s.Within(epsilon, delta)
}

// Mu returns a μ for which the releases are μ-GDP, but for the slack of the grid
// (see [Gaussian]); +Inf where none is known. For Gaussian releases it is exact.
func (l *Ledger) Mu() float64 {
	s, err := l.composition()
	if err != nil {
		return math.Inf(1)
	}
	return s.Mu()
}
