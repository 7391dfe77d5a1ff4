package mechanisms

import "github.com/dpglm/dpglm/internal/check"

// NewAccountant returns an accountant for a total of (epsilon, delta)-DP, with epsilon > 0 and
// 0 ≤ delta < 1. With delta = 0 only ledgers of pure ε fit. It fails for other numbers.
func NewAccountant(epsilon, delta float64) (*Accountant, error) {
	return NewGroupAccountant(1, epsilon, delta)
}

// NewGroupAccountant is NewAccountant with a total for any group of up to the given number of
// rows: for budgets that are [Ledger.GroupWithin] theirs. It fails for fewer than one row,
// too.
func NewGroupAccountant(rows int, epsilon, delta float64) (*Accountant, error) {
	if rows < 1 {
		return nil, check.Fail(check.ErrConfig, "rows", rows, "must be at least 1")
	}
	if err := check.Epsilon(epsilon); err != nil {
		return nil, err
	}
	if delta != 0 {
		if err := check.Delta(delta); err != nil {
			return nil, err
		}
	}
	return &Accountant{epsilon: epsilon, delta: delta, group: rows}, nil
}
