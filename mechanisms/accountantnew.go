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
	return &Accountant{unit: unit, epsilon: epsilon, delta: delta, group: group}, nil
}
