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
	t               *Table
	shrink          []float64
	outside         []bool
	shrinks, clamps bool
	err             error
}

type intakeBlock struct {
	buf, row        []float64
	base            float64 // Σ Shift², for sparse rows
	shrinks, clamps bool
	err             error
}

func (in *intake) run() error {
	acquire := func() *intakeBlock {
		a := &intakeBlock{buf: in.t.buffer(), row: make([]float64, in.t.enc.Columns)}
		for _, b := range in.t.enc.Shift {
			a.base += float64(b * b)
		}
		return a
	}
	err := inOrder(context.Background(), in.t.layout.blocks, acquire, func(*intakeBlock) {},
		func(b int, a *intakeBlock) {
			in.t.layout.eachTile(b, func(lo, hi int) {
				if a.err != nil {
					return
				}
				var rows tile
				a.err = unlessItPanics("At", func() { rows = in.t.src.tile(lo, hi, a.buf) })
				for i := lo; i < hi && a.err == nil; i++ {
					in.measure(a, rows, i, i-lo)
				}
			})
		},
		func(_ int, a *intakeBlock) {
			in.shrinks = in.shrinks || a.shrinks
			in.clamps = in.clamps || a.clamps
			if in.err == nil {
				in.err = a.err
			}
		})
	return cmp.Or(in.err, err)
}

// measure checks row i, which is row k of a tile, and finds its norm.
func (in *intake) measure(a *intakeBlock, rows tile, i, k int) {
	e := &in.t.enc
	var norm float64
	if rows.sparse {
		norm = e.sparseNorm(rows.indices[rows.start[k]:rows.end[k]], rows.data[rows.start[k]:rows.end[k]], a.base)
	} else {
		rows.copyRow(a.row, k)
		if a.err = in.admit(a, i); a.err != nil {
			return
		}
		norm = e.norm(a.row)
	}
	a.shrinks = a.shrinks || norm > e.Bound
	in.shrink[i] = e.shrink(norm)
	in.t.length[i] = math.Min(norm, e.Bound)
	in.t.norm[i] = e.normBound(in.t.length[i])
}

// admit checks the values of row i, in a.row, and clamps them there. Values within
// their ranges, which are most, need two comparisons.
func (in *intake) admit(a *intakeBlock, i int) error {
	e := &in.t.enc
	switch {
	case e.groups != nil:
		return in.admitMixed(a, i)
	case e.Min != nil:
		return in.admitRanged(a, i)
	}
	for j, v := range a.row {
		if !(v >= -maxAbs && v <= maxAbs) {
			_, err := e.admit(v, i, j)
			return err
		}
	}
	return nil
}

// admitRanged is admit for rows with ranges.
func (in *intake) admitRanged(a *intakeBlock, i int) error {
	lo, hi := in.t.enc.Min, in.t.enc.Max
	for j, v := range a.row {
		if v >= lo[j] && v <= hi[j] {
			continue
		}
		if err := in.clamp(a, i, j); err != nil {
			return err
		}
	}
	return nil
}

// admitMixed is admit for rows with ranges and one-hot groups.
func (in *intake) admitMixed(a *intakeBlock, i int) error {
	e := &in.t.enc
	for _, j := range e.ranged {
		if v := a.row[j]; v >= e.Min[j] && v <= e.Max[j] {
			continue
		}
		if err := in.clamp(a, i, j); err != nil {
			return err
		}
	}
	return e.admitGroups(a.row, i)
}

// clamp clamps the value of row i in column j, which is out of its range.
func (in *intake) clamp(a *intakeBlock, i, j int) (err error) {
	a.row[j], err = in.t.enc.admit(a.row[j], i, j)
	in.outside[i], a.clamps = true, true
	return err
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
