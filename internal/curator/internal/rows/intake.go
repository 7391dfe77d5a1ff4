package rows

import (
	"cmp"
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// maxAbs is the largest magnitude of a raw value without a range.
const maxAbs = 1e100

// intake checks dense rows and measures all. It tells which ones have values outside of
// their ranges.
func (t *Table) intake() (outside []bool, err error) {
	outside = make([]bool, len(t.length))
	var base float64 // Σ Shift², for sparse rows
	for _, b := range t.enc.Shift {
		base += float64(b * b)
	}
	errs := make([]error, t.layout.blocks)
	err = inOrder(context.Background(), len(errs), 0, t.acquire, t.release,
		func(b int, a *workspace) {
			t.layout.eachTile(b, func(lo, hi int) {
				if errs[b] == nil {
					errs[b] = t.measureTile(a, lo, hi, base, outside)
				}
			})
		},
		func(int, *workspace) {})
	return outside, cmp.Or(append(errs, err)...)
}

// measureTile checks the rows [lo, hi) and finds their norms.
func (t *Table) measureTile(a *workspace, lo, hi int, base float64, outside []bool) (err error) {
	var rows tile
	if err := unlessItPanics("At", func() { rows = t.src.tile(lo, hi, a.buf) }); err != nil {
		return err
	}
	e := &t.enc
	a.row = room(a.row, e.Columns)
	for i := lo; i < hi; i++ {
		var norm float64
		if k := i - lo; rows.sparse {
			norm = e.sparseNorm(rows.indices[rows.start[k]:rows.end[k]], rows.data[rows.start[k]:rows.end[k]], base)
		} else {
			rows.copyRow(a.row, k)
			if outside[i], err = e.admitRow(a.row, i); err != nil {
				return err
			}
			norm = e.norm(a.row)
		}
		t.shrink[i] = e.shrink(norm)
		t.length[i] = math.Min(norm, e.Bound)
		t.norm[i] = e.normBound(t.length[i])
	}
	return nil
}

// admitRow checks the values of row i and clamps them, and reports whether it had to.
// Values within their ranges, which are most, need two comparisons.
func (e *Encoding) admitRow(row []float64, i int) (outside bool, err error) {
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
	for _, j := range e.ranged {
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
