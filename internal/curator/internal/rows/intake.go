package rows

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// NewTable checks and bounds the rows of x. The error names the first bad row
// and column, and is for the curator's eyes.
func NewTable(x mat.Matrix, enc encoding.Encoding) (*Table, error) {
	n, d, err := Dims(x)
	if err != nil {
		return nil, err
	}
	if d != enc.Columns {
		return nil, check.Fail(check.ErrShape, "columns of the matrix", d, fmt.Sprintf("must equal the %d described", enc.Columns))
	}
	src, err := newSource(x, n, d)
	if err != nil {
		return nil, err
	}
	return NewOfSource(src, n, enc)
}

func NewOfSource(src source, n int, enc encoding.Encoding) (*Table, error) {
	t := &Table{Enc: enc, Src: src, Shrink: make([]float64, n), Length: make([]float64, n), Norm: make([]float64, n), Workspaces: new(sync.Pool)}
	t.Layout = blocks.NewLayout(n, enc.Columns, t.IsSparse(), nil)
	if sp, ok := src.(SparseSource); ok {
		var err error
		if sp.Values, err = enc.AdmitSparse(sp.Entries); err != nil {
			return nil, err
		}
		t.Src = sp
	}
	outside, err := intake(t)
	if err != nil {
		return nil, err
	}
	if slices.Min(t.Shrink) == 1 {
		t.Shrink = nil
	}
	if slices.Contains(outside, true) {
		t.Src = clampedSource{t.Src, enc.Min, enc.Max, outside}
	}
	return t, nil
}

// intake checks dense rows and measures all. It tells which ones have values outside of
// their ranges.
func intake(t *Table) (outside []bool, err error) {
	outside = make([]bool, len(t.Length))
	var base float64 // Σ Shift², for sparse rows
	for _, b := range t.Enc.Shift {
		base += float64(b * b)
	}
	errs := make([]error, t.Layout.Blocks)
	err = blocks.InOrder(context.Background(), len(errs), 0, t.Acquire, t.Release,
		func(b int, a *Workspace) {
			t.Layout.EachTile(b, func(lo, hi int) {
				if errs[b] == nil {
					errs[b] = measureTile(t, a, lo, hi, base, outside)
				}
			})
		},
		func(int, *Workspace) {})
	return outside, cmp.Or(append(errs, err)...)
}

// measureTile checks the rows [lo, hi) and finds their norms.
func measureTile(t *Table, a *Workspace, lo, hi int, base float64, outside []bool) (err error) {
	var tile Tile
	if err := unlessItPanics("At", func() { tile = t.Src.Tile(lo, hi, a.Buf) }); err != nil {
		return err
	}
	e := &t.Enc
	a.Row = Room(a.Row, e.Columns)
	for i := lo; i < hi; i++ {
		var norm float64
		if k := i - lo; tile.Sparse {
			norm = e.SparseNorm(tile.Indices[tile.Start[k]:tile.End[k]], tile.Data[tile.Start[k]:tile.End[k]], base)
		} else {
			tile.copyRow(a.Row, k)
			if outside[i], err = e.AdmitRow(a.Row, i); err != nil {
				return err
			}
			norm = e.Norm(a.Row)
		}
		t.Shrink[i] = e.Shrink(norm)
		t.Length[i] = math.Min(norm, e.Bound)
		t.Norm[i] = e.NormBound(t.Length[i])
	}
	return nil
}
