package mechanisms

import (
	"fmt"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// Accountant holds several fits on the same data to a total (ε, δ): it takes their ledgers one
// after the other, refuses what may exceed the total or is about another [Unit], and says what
// is left. It is safe for concurrent use, and marshals to JSON, in a size that doesn't grow, so
// that it outlives the program; package budgetfile keeps one in a file that several programs
// share. Make one with [NewAccountant].
//
// # Privacy
//
// For its unit. An accountant is a filter: all that is released under ledgers which it took is
// (ε, δ)-DP together, with the total's ε and δ, whichever ledgers these are, however each was
// chosen by what was released before, its numbers included, and whenever somebody stops by what
// was seen. That is a promise about the total. None is made about what was spent of it at a
// stop that answers have chosen: what the ledgers so far are when they are composed is then
// true of no δ near theirs (a test plays such a game, and finds four times as much). Who fixes
// all numbers in advance may compose them, [Sequential], and spend the sum as one ledger, which
// is tighter.
//
// What is left is one of two. While all ledgers have been of pure ε, it is an ε, less their
// sum. The first other ledger that comes turns it into a μ: the largest for which that ledger
// and a Gaussian release of μ, composed, are within what is left. Each ledger after that, of
// any kind, is counted as the Gaussian releases that it has no less privacy than
// ([Ledger.Mu]), and these take their μ² from μ². With δ = 0 only pure ledgers are taken.
//
// Theorem. Let C(ε) be the computations, of one step after another, each chosen by the results
// of those before, that are (ε, δ)-DP, and G(μ) those that are μ-GDP. Then
//
//	(1) a step that is ε₁-DP, then one of C(ε−ε₁), is in C(ε);
//	(2) a step of which δ' is the profile when composed with a Gaussian release of μ,
//	    δ'(ε) ≤ δ, then one of G(μ), is in C(ε);
//	(3) a step that is μ₁-GDP, then one of G(√(μ²−μ₁²)), is in G(μ),
//
// which one it is that follows depending on the step's result in any way. So, by induction from
// the last step to the first, all that an accountant lets pass is in C(ε).
//
// Proof. Fix two neighbours, on which a step's result has the laws P, Q, and what follows a
// result o the laws P_o, Q_o. (1) For a set S of outcomes, S_o those that begin with o,
// P(S) − e^ε·Q(S) = E_P[P_o(S_o) − e^ε·(dQ/dP)(o)·Q_o(S_o)] is at most
// E_P[P_o(S_o) − e^{ε−ε₁}·Q_o(S_o)] ≤ δ, and where Q is 0, so is P. (2) What is μ-GDP is, on
// these two, a random function of X, which is N(0, 1) on the one and N(μ, 1) on the other
// [DRS22, Theorem 2.10, by Blackwell]; X is independent of o and the same for every o, only the
// function isn't. So all is a function of (o, X), that is of a composition whose parts were
// fixed, and its profile is at most δ'. (3) Likewise the step is a function of N(0, 1) or
// N(μ₁, 1), and all of two Gaussian releases that are √(μ₁² + μ² − μ₁²)-GDP. Steps may be
// begun before others end: (1) and (3) don't ask for an order, as ε and μ² add up, and an
// interactive step that is μ-GDP is such a function too, of what is asked of it [VZ23].
//
// Grids have a slack: probabilities may differ from those of the proof by a factor e^κ, κ
// proportional to the coordinates. Factors multiply along every sequence of results, so that
// coordinates add up; a μ is set aside together with a number of them, which no ledger may
// exceed. For groups of k, pure ledgers count k-fold, a computation of G(μ) is kμ-GDP, and (2)
// takes the step's profile for groups.
//
// That (2) may be asked once only, and everything else be held against a μ that was fixed by
// then, is the price of being a filter. Composing what was chosen so far and what is asked for,
// and holding that against (ε, δ), is none: a test finds 1.8 times the δ. The rule of (3) is
// that of [ST22], which proves it for Gaussian DP; [RRUV16] has (1).
//
// Whoever can decode an Accountant can also alter it; keep the file where the data is kept.
//
// # Sources
//
// [RRUV16] Rogers, Roth, Ullman and Vadhan, Privacy Odometers and Filters, NeurIPS 2016. [ST22]
// Smith and Thakurta, Fully Adaptive Composition for Gaussian Differential Privacy,
// arXiv:2210.17520. [VZ23] Vadhan and Zhang, Concurrent Composition Theorems for Differential
// Privacy, STOC 2023.
type Accountant struct {
	unit           Unit
	group          int // how many of the unit the total protects together
	epsilon, delta float64
	mu             float64 // in place of both, for one of the unit: a share's total

	lock    sync.Mutex
	state   state
	ledgers int // that were taken
}

// Spend takes a ledger. If that may exceed the total, nothing is spent and the error is one
// about the budget, with the amounts. Call it before the fit runs. Checking and taking are one
// step: whoever spends at the same time waits.
func (a *Accountant) Spend(l *Ledger) error {
	_, err := a.Charge(l)
	return err
}

// Charge is Spend, and returns what was taken, which [Accountant.GiveBack] takes back.
func (a *Accountant) Charge(l *Ledger) (Charge, error) {
	if a == nil {
		return Charge{}, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	if _, err := l.composition(); err != nil {
		return Charge{}, err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.made(); err != nil {
		return Charge{}, err
	}
	if l.unit != a.unit {
		return Charge{}, check.Fail(check.ErrConfig, "unit", l.unit, fmt.Sprintf("of the ledger %q must be that of the accountant, %v", l.node.Label, a.unit))
	}
	next, c, ok := a.after(l)
	if !ok {
		return Charge{}, a.refusal(l)
	}
	a.state, a.ledgers = next, a.ledgers+1
	return c, nil
}

// made refuses the zero accountant.
func (a *Accountant) made() error {
	if a.group < 1 {
		return check.Fail(check.ErrBudget, "accountant", nil, "must be made by NewAccountant")
	}
	return nil
}

// Total is what the accountant was made with; zeros for none, and for ε and δ of a share.
func (a *Accountant) Total() (unit Unit, group int, epsilon, delta float64) {
	if a == nil {
		return Unit{}, 0, 0, 0
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.unit, a.group, a.epsilon, a.delta
}

// Ledgers is how many ledgers were taken, and not given back.
func (a *Accountant) Ledgers() int {
	if a == nil {
		return 0
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.ledgers
}
