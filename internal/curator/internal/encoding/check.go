package encoding

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// Check refuses an encoding that no caller could have described.
func (e *Encoding) Check() error {
	frac, _ := math.Frexp(e.Constant)
	ok := e.Columns > 0 && e.Bound > 0 && e.Bound <= check.MaxScale && e.Magnitude >= e.Bound &&
		(e.Intercept && frac == 0.5 || !e.Intercept && e.Constant == 0)
	for _, of := range [][]float64{e.Scale, e.Shift, e.Min, e.Max} {
		ok = ok && len(of) == len(e.Scale) && (of == nil || len(of) == e.Columns)
	}
	columns := slices.Clone(e.Ranged)
	for _, g := range e.Groups {
		ok = ok && len(g.Names) == len(g.Columns)
		columns = append(columns, g.Columns...)
	}
	for _, j := range columns {
		ok = ok && j >= 0 && j < e.Columns
	}
	if ok = ok && (len(e.Names) == 0 || len(e.Names) == e.Columns); !ok {
		return check.Fail(check.ErrConfig, "rows", fmt.Sprintf("%d columns", e.Columns), "must be described by numbers for each column, and finite positive bounds")
	}
	return nil
}
