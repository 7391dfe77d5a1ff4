package rows

import (
	"cmp"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Plain reports whether each row is a person's only one, counts 1, and how many there are is public.
func (f *Owners) Plain() bool { return f.Persons == nil && f.Weights == nil && f.Places == 0 }

// check refuses facts that are not for a matrix of so many rows, and persons and weights that
// can't be.
func (f *Owners) check(rows int) error {
	if err := cmp.Or(f.checkPersons(rows), f.checkPlaces(rows)); err != nil || f.Weights == nil {
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
	case f.Each && f.Most > MostEach:
		return check.Fail(check.ErrConfig, "most rows of a person", f.Most, fmt.Sprintf("must be at most %d where each row counts, as the rounding of sums would cost more than noise: have persons count alike, or fewer rows of each", MostEach))
	case f.Most < 1 || f.Most > 1<<20:
		return check.Fail(check.ErrConfig, "most rows of a person", f.Most, fmt.Sprintf("must lie between 1 and %d", 1<<20))
	}
	most := MaxPersons
	if number := max(f.Count, f.Places); number > 0 {
		most = number
	}
	there := "there are"
	if f.Places > 0 {
		there = "there may be by the public bound on their number, a schema's at_most"
	}
	seen := map[int]struct{}{}
	for i, p := range f.Persons {
		if seen[p] = struct{}{}; len(seen) > most {
			return check.Fail(check.ErrValue, fmt.Sprintf("person of row %d (counted from 1)", i+1), nil, fmt.Sprintf("must be one of the %d that %s: others stand before", most, there))
		}
	}
	return nil
}

// checkPlaces refuses a number of places that can't be, or that is too small for the rows.
func (f *Owners) checkPlaces(rows int) error {
	switch {
	case f.Places < 0 || f.Places > MaxPersons:
		return check.Fail(check.ErrConfig, "at most", f.Places, fmt.Sprintf("must lie between 1 and %d", MaxPersons))
	case f.Places > 0 && f.Count > 0:
		return check.Fail(check.ErrConfig, "number of persons", f.Count, "must not be given where it is secret, and but known to be at most another number")
	case f.Places > 0 && f.Persons == nil && rows > f.Places:
		return check.Fail(check.ErrValue, fmt.Sprintf("row %d (counted from 1)", f.Places+1), nil, fmt.Sprintf("must not be there: the public bound on the number of rows, a schema's at_most, is %d", f.Places))
	}
	return nil
}
