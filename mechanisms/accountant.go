package mechanisms

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Accountant adds up the ledgers of several fits on the same data and refuses
// what would exceed a total (ε, δ), or is about another [Unit]. It is safe for concurrent use, and marshals
// to JSON so that it outlives the program; package budgetfile keeps one in a file
// that several programs share. Make one with [NewAccountant].
//
// # Privacy
//
// For its unit. All that was spent together is (ε, δ)-DP, as one [Sequential]
// ledger. A fit may use the results of earlier ones in any way, except that the
// numbers in its ledger (budget, number of steps and so on) must not depend on
// them: composition theorems fix these in advance. Where every ledger is
// Gaussian they may depend on earlier results too, because then the rule is
// Σμ² ≤ μ(ε, δ)², a valid filter [ST22]. Whoever can decode an Accountant can
// also alter it; keep the file where the data is kept.
type Accountant struct {
	unit           Unit
	epsilon, delta float64
	mu             float64 // in place of both, for one row: a share's total
	group          int     // how many of the unit the total protects together

	lock  sync.Mutex
	spent *Ledger // sequential; nil at first
}

// Spend adds a ledger. If the sum would exceed the total, nothing is added and
// the error is one about the budget, with the amounts. Call it before the fit runs.
// Checking and adding are one step: whoever spends at the same time waits.
func (a *Accountant) Spend(l *Ledger) error {
	if a == nil {
		return check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	sum, err := a.with(l)
	if err != nil {
		return err
	}
	if !a.fits(sum) {
		return a.refusal(l)
	}
	a.spent = sum
	return nil
}

// with is the sum of what was spent and of what is given.
func (a *Accountant) with(more ...*Ledger) (*Ledger, error) {
	for _, l := range more {
		if _, err := l.composition(); err != nil {
			return nil, err
		}
		if l.unit != a.unit && a.group > 0 {
			return nil, check.Fail(check.ErrConfig, "unit", l.unit, fmt.Sprintf("of the ledger %q must be that of the accountant, %v", l.label, a.unit))
		}
	}
	if a.spent != nil {
		more = slices.Concat(a.spent.children, more)
	}
	return Sequential("spent", more...)
}

// fits reports whether a sum is within the total. Of a share, that is to be below the
// release that was set aside for it.
func (a *Accountant) fits(sum *Ledger) bool {
	if a.mu == 0 {
		return sum.GroupWithin(a.group, a.epsilon, a.delta)
	}
	return sum.profile.Below(accounting.Gaussian(a.mu, 1, mostCoordinates))
}
