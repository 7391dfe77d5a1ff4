package mechanisms

import (
	"encoding/json"
	"fmt"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// String says what the total is, for whom, and how much of it is left.
func (a *Accountant) String() string {
	if a == nil {
		return "no accountant"
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.made() != nil {
		return "empty accountant"
	}
	switch a.ledgers {
	case 0:
		return fmt.Sprintf("nothing spent of %s", a.total())
	case 1:
		return fmt.Sprintf("%s left of %s, after 1 ledger", a.left(), a.total())
	}
	return fmt.Sprintf("%s left of %s, after %s ledgers", a.left(), a.total(), thousands(a.ledgers))
}

// total says what may be spent.
func (a *Accountant) total() string {
	c := Claim{Epsilon: a.epsilon, Delta: a.delta, Mu: float64(a.group) * a.mu}
	return fmt.Sprintf("%s, unit: %s", c.budget(), a.unit.any(a.group, 0))
}

// GoString is String: an accountant's fields are nobody's business.
func (a *Accountant) GoString() string { return a.String() }

type accountantJSON struct {
	Version int     `json:"version"`
	Unit    Unit    `json:"unit"`
	Group   int     `json:"group,omitempty"` // where it isn't one
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Mu      float64 `json:"mu,omitempty"` // of a share, whose ε and δ are 0
	Spent   state   `json:"spent"`
	Ledgers int     `json:"ledgers"`
}

// MarshalJSON writes the total and what was spent. It fails for an accountant that
// NewAccountant hasn't made.
func (a *Accountant) MarshalJSON() ([]byte, error) {
	if a == nil {
		return nil, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.made(); err != nil {
		return nil, err
	}
	j := accountantJSON{version, a.unit, a.group, a.epsilon, a.delta, a.mu, a.state, a.ledgers}
	if a.group == 1 {
		j.Group = 0
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
	b, err := j.decode()
	if err != nil {
		return fmt.Errorf("%w: %w", check.ErrModel, err)
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.unit, a.group, a.epsilon, a.delta, a.mu, a.state, a.ledgers = b.unit, b.group, b.epsilon, b.delta, b.mu, b.state, b.ledgers
	return nil
}

// decode checks that what was spent is within the total.
func (j accountantJSON) decode() (*Accountant, error) {
	if j.Group == 0 {
		j.Group = 1
	}
	a, err := NewGroupAccountant(j.Unit, j.Group, j.Epsilon, j.Delta)
	if j.Mu != 0 {
		if j.Epsilon != 0 || j.Delta != 0 || j.Group < 1 {
			return nil, check.Fail(check.ErrModel, "accountant.mu", j.Mu, "must be without epsilon and delta, and for a group of at least one")
		}
		if err := j.Unit.known(check.ErrModel); err != nil {
			return nil, err
		}
		a, err = newShare(j.Unit, j.Group, j.Mu, mostCoordinates)
	}
	if err != nil {
		return nil, err
	}
	a.state, a.ledgers = j.Spent, j.Ledgers
	if !a.keeps() {
		return nil, check.Fail(check.ErrModel, "accountant.spent", nil, "must be within the total")
	}
	return a, nil
}

// keeps reports whether what was spent, and the μ that was set aside, are within the total.
func (a *Accountant) keeps() bool {
	s, r := a.state, a.state.Reserve
	if !(s.Epsilon >= 0 && s.Epsilon <= a.epsilon) || a.ledgers < 0 || a.ledgers == 0 && s.Epsilon > 0 {
		return false
	}
	if r == nil {
		return a.mu == 0
	}
	if !(r.SpentMu >= 0 && r.SpentMu <= r.Mu && r.SpentCoordinates >= 0 && r.SpentCoordinates <= r.Coordinates && r.Coordinates <= mostCoordinates) || r.Ledgers < 0 || r.Ledgers > a.ledgers || r.Ledgers == 0 && r.SpentMu > 0 {
		return false
	}
	if a.mu > 0 {
		return r.Mu == a.mu && !r.Beside
	}
	if r.Mu == 0 {
		return a.delta > 0
	}
	return a.delta > 0 && accounting.Noise(r.Mu, mostCoordinates).GroupWithin(float64(a.group), a.epsilonLeft(), a.delta)
}
