package mechanisms

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// String says what the total is and how much of it was spent.
func (a *Accountant) String() string {
	if a == nil {
		return "no accountant"
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.spent == nil {
		return fmt.Sprintf("nothing spent of %s", a.total())
	}
	parts := "1 part"
	if n := len(a.spent.children); n > 1 {
		parts = fmt.Sprintf("%d parts", n)
	}
	return fmt.Sprintf("%s spent of %s, in %s", a.amount(a.spent), a.total(), parts)
}

// total says what may be spent.
func (a *Accountant) total() string {
	s := Claim{Epsilon: a.epsilon, Delta: a.delta, Mu: float64(max(a.group, 1)) * a.mu}.budget()
	return fmt.Sprintf("%s, unit: %s", s, a.unit.any(a.group, 0))
}

// amount says what a ledger costs, in terms of the total.
func (a *Accountant) amount(l *Ledger) string {
	c := Claim{Delta: a.delta, Group: a.group}
	if a.mu > 0 {
		c.Mu = math.SmallestNonzeroFloat64
	}
	s, _ := l.promise(c)
	return s
}

// GoString is String: an accountant's fields are nobody's business.
func (a *Accountant) GoString() string { return a.String() }

type accountantJSON struct {
	Version int     `json:"version"`
	Unit    Unit    `json:"unit"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Mu      float64 `json:"mu,omitempty"`    // of a share, whose ε and δ are 0
	Group   int     `json:"group,omitempty"` // where it isn't one
	Spent   *Ledger `json:"spent,omitempty"`
}

// MarshalJSON writes the total and what was spent. It never fails.
func (a *Accountant) MarshalJSON() ([]byte, error) {
	if a == nil {
		return nil, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	j := accountantJSON{Version: version, Unit: a.unit, Epsilon: a.epsilon, Delta: a.delta, Mu: a.mu, Spent: a.spent}
	if a.group > 1 {
		j.Group = a.group
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses any other, such as one
// that has spent more than its total. It replaces what the accountant held, so it
// isn't for one that is in use.
func (a *Accountant) UnmarshalJSON(data []byte) error {
	if a == nil {
		return check.Fail(check.ErrModel, "accountant", nil, "must not be nil")
	}
	var j accountantJSON
	if err := decodeStrictly(data, &j); err != nil {
		return err
	}
	if err := knownVersion(j.Version); err != nil {
		return err
	}
	b, err := j.empty()
	if err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if j.Spent != nil && (j.Spent.kind != KindSequential || j.Spent.unit != b.unit || !b.fits(j.Spent)) {
		return check.Fail(check.ErrModel, "accountant.spent", nil, "must be sequential, of the accountant's unit and within the total")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.unit, a.epsilon, a.delta, a.mu, a.group, a.spent = b.unit, b.epsilon, b.delta, b.mu, b.group, j.Spent
	return nil
}

// empty is the accountant that has not spent yet.
func (j accountantJSON) empty() (*Accountant, error) {
	if j.Group == 0 {
		j.Group = 1
	}
	if j.Mu == 0 {
		return NewGroupAccountant(j.Unit, j.Group, j.Epsilon, j.Delta)
	}
	if j.Epsilon != 0 || j.Delta != 0 || j.Group < 1 {
		return nil, check.Fail(check.ErrModel, "accountant.mu", j.Mu, "must be without epsilon and delta, and for a group of rows")
	}
	if err := j.Unit.known(check.ErrModel); err != nil {
		return nil, err
	}
	return &Accountant{unit: j.Unit, mu: j.Mu, group: j.Group}, check.Mu(j.Mu)
}

// Spent returns the sum of what was spent, nil before the first Spend.
func (a *Accountant) Spent() *Ledger {
	if a == nil {
		return nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.spent
}
