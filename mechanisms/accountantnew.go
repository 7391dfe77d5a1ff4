package mechanisms

import "github.com/dpglm/dpglm/internal/check"

// NewAccountant returns an accountant for ledgers of a unit and a total of (epsilon, delta)-DP,
// with epsilon > 0 and 0 ≤ delta < 1. With delta = 0 only ledgers of pure ε fit. It fails for
// other numbers, and for a unit that isn't known.
func NewAccountant(unit Unit, epsilon, delta float64) (*Accountant, error) {
	return NewGroupAccountant(unit, 1, epsilon, delta)
}

// NewGroupAccountant is NewAccountant with a total for any group of up to the given number of
// rows, or persons: for budgets that are [Ledger.GroupWithin] theirs. It fails for a group of
// less than one, too.
func NewGroupAccountant(unit Unit, group int, epsilon, delta float64) (*Accountant, error) {
	if err := unit.known(check.ErrConfig); err != nil {
		return nil, err
	}
	if group < 1 {
		return nil, check.Fail(check.ErrConfig, "group", group, "must be at least 1")
	}
	if err := check.Epsilon(epsilon); err != nil {
		return nil, err
	}
	if delta != 0 {
		if err := check.Delta(delta); err != nil {
			return nil, err
		}
	}
	return &Accountant{unit: unit, group: group, epsilon: epsilon, delta: delta}, nil
}

// newShare returns an accountant for a total of a μ and of coordinates, for one of the unit.
func newShare(unit Unit, group int, mu, coordinates float64) (*Accountant, error) {
	return &Accountant{unit: unit, group: group, mu: mu, state: state{Reserve: &reserve{Mu: mu, Coordinates: coordinates}}}, check.Mu(mu)
}
