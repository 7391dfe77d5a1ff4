package mechanisms

import (
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
)

// Split sets all that remains aside, in shares by weight, and returns an accountant for
// each: Split(1, 1) halves it. A share's total is a μ of Gaussian DP, where squares add
// up, so that of two halves each has 71 % of the μ; where δ = 0 it is an ε. Whatever the
// shares' own checks let pass fits the total together. What one of them leaves is not
// given back.
//
// It fails without weights, for one that isn't positive, and where nothing is left.
//
// # Privacy
//
// For the accountant's unit. What is left, a μ with a number of coordinates or an ε, is what its
// shares have together, in squares: by the theorem of [Accountant], which doesn't ask in which
// order the releases of different shares are made.
func (a *Accountant) Split(weights ...float64) ([]*Accountant, error) {
	if a == nil {
		return nil, check.Fail(check.ErrConfig, "accountant", nil, "must not be nil")
	}
	fractions, err := fractions(weights)
	if err != nil {
		return nil, err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.made(); err != nil {
		return nil, err
	}
	const scale = 1 - 1e-11 // for the rounding of the shares' sum
	mu, coordinates := a.muLeft()
	epsilon := a.epsilonLeft()
	pure := a.delta == 0 && a.mu == 0
	if pure && epsilon < least || !pure && mu == 0 {
		return nil, check.Fail(check.ErrBudget, "accountant", a.total(), "has nothing left to split")
	}
	shares := make([]*Accountant, len(fractions))
	for i, f := range fractions {
		if pure {
			shares[i], err = NewGroupAccountant(a.unit, a.group, epsilon*f*scale, 0)
		} else {
			shares[i], err = newShare(a.unit, a.group, mu*math.Sqrt(f)*scale, math.Floor(coordinates*f*scale))
		}
		if err != nil {
			return nil, err
		}
	}
	a.ledgers += len(shares)
	if pure {
		a.state.Epsilon = a.epsilon
		return shares, nil
	}
	if a.state.Reserve == nil {
		a.state.Reserve = &reserve{Mu: mu, Coordinates: mostCoordinates}
	}
	r := *a.state.Reserve
	r.SpentMu, r.SpentCoordinates, r.Ledgers = r.Mu, r.Coordinates, r.Ledgers+len(shares)
	a.state.Reserve = &r
	return shares, nil
}

// fractions checks the weights of shares and makes their sum 1.
func fractions(weights []float64) ([]float64, error) {
	if len(weights) == 0 {
		return nil, check.Fail(check.ErrConfig, "weights", 0, "must be given, one for each share")
	}
	sum := 0.0
	for _, w := range weights {
		if err := check.Scale(check.ErrConfig, "weights", w); err != nil {
			return nil, err
		}
		sum = accounting.Sum(sum, w)
	}
	fractions := make([]float64, len(weights))
	for i, w := range weights {
		fractions[i] = w / sum
	}
	return fractions, nil
}
