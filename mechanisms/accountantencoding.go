package mechanisms

import (
	"encoding/json"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// String says what the total is and how much of it was spent.
func (a *Accountant) String() string {
	if a == nil {
		return "no accountant"
	}
	a.lock.Lock()
	epsilon, delta, spent := a.epsilon, a.delta, a.spent
	a.lock.Unlock()
	total := Claim{Epsilon: epsilon, Delta: delta}.budget()
	if spent == nil {
		return fmt.Sprintf("nothing spent of %s", total)
	}
	so, _ := spent.promise(Claim{Delta: delta})
	return fmt.Sprintf("%s spent of %s, in %d parts", so, total, len(spent.children))
}

// GoString is String: an accountant's fields are nobody's business.
func (a *Accountant) GoString() string { return a.String() }

type accountantJSON struct {
	Version int     `json:"version"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Spent   *Ledger `json:"spent,omitempty"`
}

// MarshalJSON writes the total and what was spent.
func (a *Accountant) MarshalJSON() ([]byte, error) {
	if a == nil {
		return nil, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return json.Marshal(accountantJSON{version, a.epsilon, a.delta, a.spent})
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
	if _, err := NewAccountant(j.Epsilon, j.Delta); err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	if j.Spent != nil && (j.Spent.kind != KindSequential || !j.Spent.Within(j.Epsilon, j.Delta)) {
		return check.Fail(check.ErrModel, "accountant.spent", nil, "must be sequential and within the total")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.epsilon, a.delta, a.spent = j.Epsilon, j.Delta, j.Spent
	return nil
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
