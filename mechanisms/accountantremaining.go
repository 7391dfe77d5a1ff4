package mechanisms

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Remaining is how much more an [Accountant] takes. Its numbers are alternatives, each
// for one more fit; an accountant for groups means them for groups, too.
type Remaining struct {
	// Mu is the largest μ of Gaussian noise that can still be spent, the budget GDP(Mu);
	// 0 where nothing Gaussian fits. Mechanisms that are μ-GDP without being Gaussian
	// compose numerically, to about 1e-5 of ε, and may miss it by as much.
	Mu float64
	// Epsilon is the largest ε of pure ε-DP that can still be spent, the budget
	// PureDP(Epsilon).
	Epsilon float64
}

// Remaining finds how much more Spend would take, by asking it: it errs downwards, by a
// relative 1e-9 as long as all is Gaussian, or pure with δ = 0, and by 1/500 elsewhere, where
// a second may go into composing. What others spend meanwhile isn't in it; [Accountant.Split]
// sets amounts aside. It fails for an accountant that NewAccountant hasn't made.
func (a *Accountant) Remaining() (Remaining, error) {
	if a == nil {
		return Remaining{}, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.remaining()
}

func (a *Accountant) remaining() (Remaining, error) {
	if a.group < 1 {
		return Remaining{}, check.Fail(check.ErrBudget, "accountant", nil, "must be made by NewAccountant")
	}
	return Remaining{Mu: a.gaussianLeft(), Epsilon: a.pureLeft()}, nil
}

func (a *Accountant) gaussianLeft() float64 {
	if a.mu == 0 && a.delta == 0 {
		return 0
	}
	coordinates := mostCoordinates
	if a.mu > 0 { // a share has no more of them than that altogether
		coordinates = 1
	}
	return float64(a.group) * a.most(func(v float64) (*Ledger, error) { return Gaussian{Mu: v}.Ledger("", 1, coordinates) })
}

func (a *Accountant) pureLeft() float64 {
	return float64(a.group) * a.most(func(v float64) (*Ledger, error) { return epsilonLedger(KindPure, "", v, 1) })
}

// least is the amount below which nothing counts as left, far more than what another
// processor rounds in another way.
const least = 1e-9

// most returns the largest amount of which a release still fits, 0 where none does.
func (a *Accountant) most(of func(v float64) (*Ledger, error)) float64 {
	tolerance := 2e-3
	fits := func(v float64) bool {
		l, err := of(v)
		if err != nil {
			return false
		}
		l.unit = a.unit
		sum, err := a.with(l)
		if err != nil {
			return false
		}
		if a.mu > 0 || sum.profile.IsGaussian() || a.delta == 0 {
			tolerance = 1e-9
		}
		return a.fits(sum)
	}
	lo, hi := 0.0, 1.0
	if fits(hi) {
		for lo, hi = 1, 2; hi < maxEpsilon && fits(hi); hi *= 2 {
			lo = hi
		}
	} else {
		for lo = 0.5; !fits(lo); lo /= 2 {
			if hi = lo; lo < least {
				return 0
			}
		}
	}
	for hi-lo > tolerance*lo {
		if mid := lo + (hi-lo)/2; fits(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo * (1 - 1e-11) // for the rounding of what a plan composes
}

// refusal is the error about a ledger that doesn't fit, with the amounts.
func (a *Accountant) refusal(l *Ledger) error {
	spent, left := "nothing", ""
	if a.spent != nil {
		spent = a.amount(a.spent)
	}
	// Where it takes no composing.
	switch {
	case a.group < 1:
	case a.mu > 0 || a.delta > 0 && (a.spent == nil || a.spent.profile.IsGaussian()):
		left = fmt.Sprintf(", %s is left", Remaining{Mu: a.gaussianLeft()})
	case a.delta == 0:
		left = fmt.Sprintf(", %s is left", Remaining{Epsilon: a.pureLeft()})
	}
	return check.Fail(check.ErrBudget, "ledger", l.label,
		fmt.Sprintf("must not, with what was spent before, exceed the total %s: it asks for %s, %s is spent%s", a.total(), a.amount(l), spent, left))
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

// splittable is what one row has left to split: a μ, or an ε where δ = 0.
func (a *Accountant) splittable() (left float64, err error) {
	switch {
	case a.group < 1:
		return 0, check.Fail(check.ErrBudget, "accountant", nil, "must be made by NewAccountant")
	case a.mu > 0:
		return 0, check.Fail(check.ErrConfig, "accountant", a.total(), "must not be a share itself: split the whole by more weights")
	case a.delta == 0:
		left = a.pureLeft() / float64(a.group)
	default:
		left = a.gaussianLeft() / float64(a.group)
	}
	if left == 0 {
		return 0, check.Fail(check.ErrBudget, "accountant", a.total(), "has nothing left to split")
	}
	return left, nil
}

// fractions checks the weights of shares and makes their sum 1.
func (a *Accountant) fractions(weights []float64) ([]float64, error) {
	if a == nil {
		return nil, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	if len(weights) == 0 {
		return nil, check.Fail(check.ErrConfig, "weights", 0, "must be given, one for each share")
	}
	sum := 0.0
	for _, w := range weights {
		if err := check.Scale(check.ErrConfig, "weights", w); err != nil {
			return nil, err
		}
		sum += w
	}
	fractions := make([]float64, len(weights))
	for i, w := range weights {
		fractions[i] = w / sum
	}
	return fractions, nil
}
