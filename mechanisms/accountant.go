package mechanisms

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// Accountant adds up the ledgers of several fits on the same data and refuses
// what would exceed a total (ε, δ). It is safe for concurrent use, and marshals
// to JSON so that it outlives the program. Make one with [NewAccountant].
//
// # Privacy
//
// Replace-one. All that was spent together is (ε, δ)-DP, as one [Sequential]
// ledger. A fit may use the results of earlier ones in any way, except that the
// numbers in its ledger (budget, number of steps and so on) must not depend on
// them: composition theorems fix these in advance. Where every ledger is
// Gaussian they may depend on earlier results too, because then the rule is
// Σμ² ≤ μ(ε, δ)², a valid filter [ST22]. Whoever can decode an Accountant can
// also alter it; keep the file where the data is kept.
type Accountant struct {
	epsilon, delta float64

	lock  sync.Mutex
	spent *Ledger // sequential; nil at first
}

// NewAccountant returns an accountant for a total of (epsilon, delta)-DP, with
// epsilon > 0 and 0 ≤ delta < 1. With delta = 0 only ledgers of pure ε fit.
func NewAccountant(epsilon, delta float64) (*Accountant, error) {
	if err := check.Epsilon(epsilon); err != nil {
		return nil, err
	}
	if delta != 0 {
		if err := check.Delta(delta); err != nil {
			return nil, err
		}
	}
	return &Accountant{epsilon: epsilon, delta: delta}, nil
}

// Spend adds a ledger. If the sum would exceed the total, nothing is added and
// the error is one about the budget. Call it before the fit runs. Checking and
// adding are one step: whoever spends at the same time waits.
func (a *Accountant) Spend(l *Ledger) error {
	if a == nil {
		return check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	var parts []*Ledger
	if a.spent != nil {
		parts = a.spent.children
	}
	sum, err := Sequential("spent", append(slices.Clone(parts), l)...)
	if err != nil {
		return err
	}
	if !sum.Within(a.epsilon, a.delta) {
		return check.Fail(check.ErrBudget, "ledger", l.label,
			fmt.Sprintf("must not, with what was spent before, exceed the total (ε = %g, δ = %g)", a.epsilon, a.delta))
	}
	a.spent = sum
	return nil
}
