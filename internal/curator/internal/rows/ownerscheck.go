package rows

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// check refuses facts that are not for a matrix of so many rows, and persons and weights that
// can't be.
func (f *Owners) check(rows int) error {
	if err := f.checkPersons(rows); err != nil || f.Weights == nil {
		return err
	}
	if len(f.Weights) != rows {
		return check.Fail(check.ErrShape, "weights", len(f.Weights), fmt.Sprintf("must be one for each of the %d rows", rows))
	}
	if err := check.Bound("largest weight", f.Heavy); err != nil {
		return err
	}
	for i, w := range f.Weights {
		if !(w >= 0) {
			return check.Fail(check.ErrValue, fmt.Sprintf("weight of row %d (counted from 1)", i+1), nil, "must be a number of 0 or more")
		}
	}
	return nil
}

func (f *Owners) checkPersons(rows int) error {
	switch {
	case f.Persons == nil:
		return nil
	case len(f.Persons) != rows:
		return check.Fail(check.ErrShape, "persons", len(f.Persons), fmt.Sprintf("must be one for each of the %d rows", rows))
	case f.Count < 0 || f.Count > MaxPersons:
		return check.Fail(check.ErrConfig, "number of persons", f.Count, fmt.Sprintf("must lie between 1 and %d, or be 0 for those who occur", MaxPersons))
	case f.Most < 1 || f.Most > 1<<20:
		return check.Fail(check.ErrConfig, "most rows of a person", f.Most, fmt.Sprintf("must lie between 1 and %d", 1<<20))
	}
	most := MaxPersons
	if f.Count > 0 {
		most = f.Count
	}
	seen := map[int]struct{}{}
	for i, p := range f.Persons {
		if seen[p] = struct{}{}; len(seen) > most {
			return check.Fail(check.ErrValue, fmt.Sprintf("person of row %d (counted from 1)", i+1), nil, fmt.Sprintf("must be one of the %d that there are: others stand before", most))
		}
	}
	return nil
}
