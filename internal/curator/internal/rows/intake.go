package rows

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// maxAbs is the largest magnitude of a raw value without a range.
const maxAbs = 1e100

// intake is the pass that checks dense rows and measures all.
type intake struct {
	t       *Table
	shrink  []float64
	outside []bool
	base    float64 // Σ Shift², for sparse rows
}

func (in *intake) run() error {
	for _, b := range in.t.enc.Shift {
		in.base += float64(b * b)
	}
	errs := make([]error, in.t.layout.blocks)
	err := inOrder(context.Background(), len(errs), 0, in.t.acquire, in.t.release,
		func(b int, a *workspace) {
			in.t.layout.eachTile(b, func(lo, hi int) {
				if errs[b] == nil {
					errs[b] = in.measureTile(a, lo, hi)
				}
			})
		},
		func(int, *workspace) {})
	return cmp.Or(append(errs, err)...)
}

// measureTile checks the rows [lo, hi) and finds their norms.
func (in *intake) measureTile(a *workspace, lo, hi int) error {
	var rows tile
	if err := unlessItPanics("At", func() { rows = in.t.src.tile(lo, hi, a.buf) }); err != nil {
		return err
	}
	e := &in.t.enc
	a.row = room(a.row, e.Columns)
	for i := lo; i < hi; i++ {
		var norm float64
		if k := i - lo; rows.sparse {
			norm = e.sparseNorm(rows.indices[rows.start[k]:rows.end[k]], rows.data[rows.start[k]:rows.end[k]], in.base)
		} else {
			rows.copyRow(a.row, k)
			if err := in.admit(a.row, i); err != nil {
				return err
			}
			norm = e.norm(a.row)
		}
		in.shrink[i] = e.shrink(norm)
		in.t.length[i] = math.Min(norm, e.Bound)
		in.t.norm[i] = e.normBound(in.t.length[i])
	}
	return nil
}

// admit checks the values of row i and clamps them. Values within their ranges, which are
// most, need two comparisons.
func (in *intake) admit(row []float64, i int) (err error) {
	e := &in.t.enc
	if e.Min == nil {
		for j, v := range row {
			if !(v >= -maxAbs && v <= maxAbs) {
				_, err := e.admit(v, i, j)
				return err
			}
		}
		return nil
	}
	if err := e.admitGroups(row, i); err != nil {
		return err
	}
	least, most := e.Min[:len(row)], e.Max[:len(row)]
	for j, v := range row {
		if v >= least[j] && v <= most[j] {
			continue
		}
		in.outside[i] = true
		if row[j], err = e.admit(v, i, j); err != nil {
			return err
		}
	}
	return nil
}

// admit checks a raw value and clamps it to its range.
func (e *Encoding) admit(v float64, i, j int) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return v, check.Fail(check.ErrValue, fmt.Sprintf("row %d, column %d", i, j), nil, "must be finite")
	}
	if e.Min != nil {
		return min(max(v, e.Min[j]), e.Max[j]), nil
	}
	if math.Abs(v) > maxAbs {
		return v, check.Fail(check.ErrValue, fmt.Sprintf("row %d, column %d", i, j), nil, fmt.Sprintf("must not exceed %g in magnitude", maxAbs))
	}
	return v, nil
}
