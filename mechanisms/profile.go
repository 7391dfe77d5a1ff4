package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Delta returns the δ for which the releases are (epsilon, δ)-DP, rounded up. It fails for an
// empty ledger, and where ε isn't finite and 0 or more.
func (l *Ledger) Delta(epsilon float64) (float64, error) {
	s, err := l.composition()
	if err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 0) {
		return 0, check.Fail(check.ErrBudget, "epsilon", epsilon, "must be a finite number ≥ 0")
	}
	return s.Delta(epsilon), nil
}

// Epsilon returns the smallest ε ≥ 0 for which the releases are (ε, delta)-DP, rounded up;
// +Inf where none is known. It fails for an empty ledger, and where δ doesn't lie
// strictly between 0 and 1.
func (l *Ledger) Epsilon(delta float64) (float64, error) {
	s, err := l.composition()
	if err != nil {
		return 0, err
	}
	if err := check.Delta(delta); err != nil {
		return 0, err
	}
	return s.Epsilon(delta), nil
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
