package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Split returns two disjoint parts of the rows, to train on and to evaluate on: the
// second has the given fraction of them, in (0, 1), rounded up. Which rows these are
// depends on the seed and the number of rows only. With [Persons] they are all rows of so
// many places in the persons' secret order.
//
// It fails for another fraction, and where a part would have no row.
//
// # Privacy
//
// Replace-one. A row lies in one part, whatever it is, so what is computed from the
// first part and what from the second compose in parallel ([mechanisms.Parallel]), also
// where the second computation depends on what the first released: each may have the
// whole budget. That holds for parts of one call only: parts of two calls with other
// seeds share rows, and their ledgers add up. The rows of a group may lie in both parts.
// Under a budget for groups ([Budget.ForGroups]) two parts with Gaussian noise still fit
// together, and two with pure ε-DP, as √(k₁² + k₂²) and k₁ + k₂ are at most k for
// k₁ + k₂ = k. Others, as [ObjectivePerturbation] under (ε, δ), may not: hold the ledger
// of both against the budget, by [mechanisms.Ledger.GroupWithin].
func (d *Dataset) Split(fraction float64, seed uint64) (train, held *Dataset, err error) {
	if d == nil || d.data == nil {
		return nil, nil, check.Fail(ErrConfig, "dataset", nil, "must be made by NewDataset")
	}
	if err := ofOneParty(d.data); err != nil {
		return nil, nil, err
	}
	if !(fraction > 0 && fraction < 1) {
		return nil, nil, check.Fail(ErrConfig, "fraction", fraction, "must lie strictly between 0 and 1")
	}
	n := d.data.Len()
	second := int(math.Ceil(fraction * float64(n)))
	if second >= n {
		return nil, nil, check.Fail(ErrShape, "rows", n, "must suffice for two parts")
	}
	parts := d.data.Split(seed, n-second, second)
	return &Dataset{parts[0], d.facts}, &Dataset{parts[1], d.facts}, nil
}
