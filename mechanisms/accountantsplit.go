package mechanisms

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Split sets all that remains aside, in shares by weight, and returns an accountant for
// each: Split(1, 1) halves it. A share's total is a μ of Gaussian DP, where squares add
// up, so that of two halves each has 71 % of the μ; where δ = 0 it is an ε. Whatever the
// shares' own checks let pass fits the total together. What one of them leaves is not
// given back.
//
// It fails without weights, for one that isn't positive, where nothing is left, and for an
// accountant that is a share itself: split the whole by more weights.
//
// # Privacy
//
// Here each share is spent at once, as a Gaussian release of its μ, or a pure one of its
// ε. What a share spends is no more than that: it is that μ-GDP by √Σμ², in no more
// coordinates, or that ε-DP. Composition doesn't ask in which order the releases of
// different shares are made.
func (a *Accountant) Split(weights ...float64) ([]*Accountant, error) {
	fractions, err := a.fractions(weights)
	if err != nil {
		return nil, err
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	left, err := a.splittable()
	if err != nil {
		return nil, err
	}
	// Margins are for the rounding of the shares' sum.
	for margin := 1e-9; margin < 0.1; margin *= 10 {
		shares, sum, err := a.shares(left, fractions, 1-margin)
		if err != nil {
			return nil, err
		}
		if a.fits(sum) {
			a.spent = sum
			return shares, nil
		}
	}
	return nil, check.Fail(check.ErrBudget, "accountant", a.total(), "has nothing left to split")
}

// shares returns accountants with fractions of what is left, and the sum of what was
// spent and of what is set aside for them.
func (a *Accountant) shares(left float64, fractions []float64, scale float64) (shares []*Accountant, sum *Ledger, err error) {
	aside := make([]*Ledger, len(fractions))
	for i, f := range fractions {
		label := fmt.Sprintf("set aside: share %d of %d", i+1, len(fractions))
		share := &Accountant{unit: a.unit, group: a.group}
		if a.delta > 0 {
			share.mu = left * math.Sqrt(f) * scale
			aside[i], err = Gaussian{Mu: share.mu}.Ledger(label, 1, mostCoordinates)
		} else {
			share.epsilon = left * f * scale * float64(a.group)
			aside[i], err = epsilonLedger(KindPure, label, left*f*scale*(1+1e-15), 1)
		}
		if err != nil {
			return nil, nil, err
		}
		aside[i].unit = a.unit
		shares = append(shares, share)
	}
	sum, err = a.with(aside...)
	return shares, sum, err
}

// mostCoordinates is how many coordinates of Gaussian noise a share may draw: it decides
// about the slack of their grids, see [Gaussian].
const mostCoordinates = 1 << 30
