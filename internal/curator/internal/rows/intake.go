package rows

import (
	"cmp"
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
)

// intake checks dense rows and measures all. It tells which ones have values outside of
// their ranges.
func (t *Table) intake() (outside []bool, err error) {
	outside = make([]bool, len(t.length))
	var base float64 // Σ Shift², for sparse rows
	for _, b := range t.enc.Shift {
		base += float64(b * b)
	}
	errs := make([]error, t.layout.Blocks)
	err = blocks.InOrder(context.Background(), len(errs), 0, t.acquire, t.release,
		func(b int, a *workspace) {
			t.layout.EachTile(b, func(lo, hi int) {
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
			norm = e.SparseNorm(rows.indices[rows.start[k]:rows.end[k]], rows.data[rows.start[k]:rows.end[k]], base)
		} else {
			rows.copyRow(a.row, k)
			if outside[i], err = e.AdmitRow(a.row, i); err != nil {
				return err
			}
			norm = e.Norm(a.row)
		}
		t.shrink[i] = e.Shrink(norm)
		t.length[i] = math.Min(norm, e.Bound)
		t.norm[i] = e.NormBound(t.length[i])
	}
	return nil
}
