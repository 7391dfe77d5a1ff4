package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Remaining is how much more an [Accountant] takes. Its numbers are alternatives, each
// for one more fit; an accountant for groups means them for groups, too.
type Remaining struct {
	// Mu is the largest μ that can still be spent, the budget GDP(Mu), by mechanisms of any
	// kind; 0 where only pure ε is left, or nothing.
	Mu float64
	// Epsilon is the largest ε of pure ε-DP that can still be spent, the budget
	// PureDP(Epsilon).
	Epsilon float64
}

// Remaining returns how much more Spend would take, rounded down by a relative 1e-11. Results
// may decide what is made of it. A fit with a budget in (ε, δ) may fit though its μ is larger,
// if it is the first that isn't pure. What others spend meanwhile isn't in it;
// [Accountant.Split] sets amounts aside. It fails for an accountant that NewAccountant hasn't
// made.
func (a *Accountant) Remaining() (Remaining, error) {
	if a == nil {
		return Remaining{}, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.made(); err != nil {
		return Remaining{}, err
	}
	return a.remaining(), nil
}

func (a *Accountant) remaining() Remaining {
	const margin = 1 - 1e-11 // for the rounding of what a plan composes
	group := float64(a.group)
	mu, _ := a.muLeft()
	if a.state.Reserve == nil {
		return Remaining{Mu: mu * group * margin, Epsilon: a.epsilonLeft() * margin}
	}
	if mu == 0 {
		return Remaining{}
	}
	return Remaining{Mu: mu * group * margin, Epsilon: accounting.PureEpsilonWithin(mu) * group * margin}
}

// muLeft is what is left of a μ, for one of the unit, and of coordinates. What the margins of
// earlier ledgers left counts as nothing.
func (a *Accountant) muLeft() (mu, coordinates float64) {
	r := a.state.Reserve
	if r == nil {
		return a.noiseLeft(), mostCoordinates
	}
	mu, coordinates = accounting.LessOfSquares(r.Mu, r.SpentMu), accounting.Less(r.Coordinates, r.SpentCoordinates)
	if mu < math.Max(least, r.Mu*1e-5) || coordinates < 1 {
		return 0, 0
	}
	return mu, coordinates
}

// few coordinates are worth a word.
const few = 0x1p30

// refusal is the error about a ledger that doesn't fit, with the amounts.
func (a *Accountant) refusal(l *Ledger) error {
	return check.Fail(check.ErrBudget, "ledger", l.node.Label, fmt.Sprintf("must fit what is left, %s, of the total %s: it asks for %s", a.left(), a.total(), a.amount(l)))
}

// left says what is left.
func (a *Accountant) left() string {
	s := a.remaining().String()
	if mu, coordinates := a.muLeft(); mu > 0 && coordinates < few {
		s += fmt.Sprintf(" in %.4g coordinates", coordinates)
	}
	return s
}

// amount says what a ledger asks for, in terms of what is left.
func (a *Accountant) amount(l *Ledger) string {
	if a.state.Reserve == nil {
		s, _ := (Claim{Delta: a.delta, Group: a.group}).promise(l)
		return s
	}
	mu, coordinates := l.profile.Above()
	s := Claim{Mu: mu * float64(a.group)}.budget()
	if _, left := a.muLeft(); coordinates > left || left < few {
		s += fmt.Sprintf(" in %.4g coordinates", coordinates)
	}
	return s
}

// String says what is left.
func (r Remaining) String() string {
	switch {
	case r.Mu > 0 && r.Epsilon == 0:
		return fmt.Sprintf("%.4g-GDP", r.Mu)
	case r.Mu > 0:
		return fmt.Sprintf("%.4g-GDP or %.4g-DP", r.Mu, r.Epsilon)
	case r.Epsilon > 0:
		return fmt.Sprintf("%.4g-DP", r.Epsilon)
	}
	return "nothing"
}
