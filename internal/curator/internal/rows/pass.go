package rows

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Sum sets dst to the sum: of what is added of a block's tiles first, then of the blocks in their
// order.
func (t *Table) Sum(ctx context.Context, dst []float64, q Pass) error {
	clear(dst)
	c, merge := q.Cut(t), func(sum []float64) { add(dst, sum) }
	if c.Dim > 0 {
		total := kernel.NewMoments(c.Dim)
		total.Sum = dst
		merge = func(sum []float64) { total.Add(&kernel.Moments{Dim: c.Dim, Stride: total.Stride, Sum: sum}) }
	}
	return merged(ctx, t, q, c, merge)
}

// SumWhole is [Table.Sum] of whole numbers of which a block's come to less than 2^53, and all to less than 2^63, so that nothing is
// rounded.
func SumWhole(ctx context.Context, t *Table, dst []int64, q Pass) error {
	clear(dst)
	return merged(ctx, t, q, q.Cut(t), func(sum []float64) {
		for j, v := range sum {
			dst[j] += int64(v)
		}
	})
}

// merged calls merge with the sums of all blocks, in their order, whoever reads the rows.
func merged(ctx context.Context, t *Table, q Pass, c Cut, merge func(sum []float64)) error {
	if t.Place.Elsewhere() {
		return t.Place.Remote.Sum(ctx, t, q, c, merge)
	}
	return t.Read(ctx, c, 0, c.Blocks, q.Add, merge)
}

// Pass sets dst to the sum of what of adds of the rows, which this process reads: of a block's
// tiles first, then of the blocks in their order.
func (t *Table) Pass(ctx context.Context, dst []float64, of func(p *Part) Adder) error {
	clear(dst)
	return t.Read(ctx, t.InTiles(len(dst)), 0, t.Layout.Blocks, of, func(sum []float64) { add(dst, sum) })
}

func add(dst, sum []float64) {
	for j, v := range sum {
		dst[j] += v
	}
}

// Read calls merge with the sums of the blocks from first up to last, in their order. Of rows in
// a file of is asked for each part of these, and lo counts from the part's beginning.
func (t *Table) Read(ctx context.Context, c Cut, first, last int, of func(p *Part) Adder, merge func(sum []float64)) error {
	if t.Place.Elsewhere() {
		return ErrNotAsked
	}
	if t.Place != nil {
		return InParts(ctx, t, c.Layout, first, last, c.ahead(), t.Acquire, t.Release,
			func(a *Workspace) { a.Begin(t, c) },
			func(a *Workspace, p *Part) {
				a.Done = 0
				a.addTiles(of(p), p.Table.Src, 0, len(p.Table.Length), c.TileRows)
			},
			func(a *Workspace) { merge(a.Sum) })
	}
	add := of(&Part{Table: t})
	return blocks.InOrder(ctx, last-first, c.ahead(), t.Acquire, t.Release,
		func(b int, a *Workspace) {
			a.Begin(t, c)
			lo, hi := c.Rows(first + b)
			a.addTiles(add, t.Src, lo, hi, c.TileRows)
		},
		func(_ int, a *Workspace) { merge(a.Sum) })
}

// InTiles is the cut of sums of so many numbers.
func (t *Table) InTiles(width int) Cut { return Cut{t.Layout, width, 0} }

// Begin clears what is of a block.
func (a *Workspace) Begin(t *Table, c Cut) {
	a.Sum, a.Done = Zeros(a.Sum, c.Width), 0
	for k := range a.Open {
		a.Open[k].Rows = 0
	}
	a.Squares.begin()
	if a.moments != nil {
		a.moments.begin()
	}
	if !t.IsSparse() {
		a.Buf = Room(a.Buf, c.TileRows*t.Enc.Columns)
	}
}

// ahead is how many accumulators more than one a goroutine may have.
func (c Cut) ahead() int {
	if c.Dim > 0 {
		return 0
	}
	return 2
}

// addTiles adds the tiles of the rows from lo up to hi.
func (a *Workspace) addTiles(add Adder, src source, lo, hi, tileRows int) {
	for ; lo < hi; lo += tileRows {
		if lo >= a.Done {
			add(a, src.Tile(lo, min(lo+tileRows, hi), a.Buf), lo)
		}
	}
}
