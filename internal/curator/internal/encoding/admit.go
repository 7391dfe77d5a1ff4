package encoding

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// maxAbs is the largest magnitude of a raw value without a range.
const maxAbs = 1e100

// AdmitRow checks the values of row i and clamps them, and reports whether it had to.
// Values within their ranges, which are most, need two comparisons.
func (e *Encoding) AdmitRow(row []float64, i int) (outside bool, err error) {
	if e.Min == nil {
		for j, v := range row {
			if !(v >= -maxAbs && v <= maxAbs) {
				_, err := e.admit(v, i, j)
				return false, err
			}
		}
		return false, nil
	}
	if err := e.admitGroups(row, i); err != nil {
		return false, err
	}
	least, most := e.Min[:len(row)], e.Max[:len(row)]
	for _, j := range e.Ranged {
		v := row[j]
		if v >= least[j] && v <= most[j] {
			continue
		}
		if row[j], err = e.admit(v, i, j); err != nil {
			return false, err
		}
		outside = true
	}
	return outside, nil
}

// admit checks a raw value and clamps it to its range.
func (e *Encoding) admit(v float64, i, j int) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v, check.Fail(check.ErrValue, e.cell(i, j), nil, "must be finite")
	}
	if e.Min != nil {
		return min(max(v, e.Min[j]), e.Max[j]), nil
	}
	if math.Abs(v) > maxAbs {
		return v, check.Fail(check.ErrValue, e.cell(i, j), nil, tooLong)
	}
	return v, nil
}

// tooLong is the rule about magnitudes.
var tooLong = fmt.Sprintf("must not exceed %g in magnitude", maxAbs)
