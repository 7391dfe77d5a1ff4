package rows

import (
	"context"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
)

// workspace is what one goroutine needs for a pass.
type workspace struct {
	buf  []float64 // a tile of raw rows, where they must be copied
	row  []float64 // an encoded row, for those who make room
	z    []float64 // scores, then coefficients, of a tile
	sum  []float64 // of a block
	done int       // the rows before this one are in the sum already

	beside []float64 // other coefficients of a tile
	many   []float64 // scores of a tile for several classes, for those who make room

	moments *momentsRoom // for second moments
}

func (t *Table) acquire() *workspace {
	if a, ok := t.workspaces.Get().(*workspace); ok {
		return a
	}
	return &workspace{buf: t.buffer(), z: make([]float64, t.layout.TileRows), beside: make([]float64, t.layout.TileRows)}
}

func (t *Table) release(a *workspace) { t.workspaces.Put(a) }

// adder adds a tile, which starts at row lo, to a.sum, or more tiles of a block, and then
// sets a.done.
type adder func(a *workspace, rows tile, lo int)

// pass sets dst to the sum of what of adds for rows that this process reads, as sum does.
func (s *Sums) pass(ctx context.Context, dst []float64, of func(s *Sums) adder) error {
	if s.t.elsewhere() {
		return errNotAsked
	}
	clear(dst)
	return s.local(ctx, s.t.inTiles(len(dst)), 0, s.t.layout.Blocks, of, func(sum []float64) { add(dst, sum) })
}

// sum sets dst to the answer to a question: what is added of a block's tiles first, then of the
// blocks in their order.
func (s *Sums) sum(ctx context.Context, dst []float64, q asked) error {
	clear(dst)
	c, merge := q.cut(s.t), func(sum []float64) { add(dst, sum) }
	if c.dim > 0 {
		total := kernel.NewMoments(c.dim)
		total.Sum = dst
		merge = func(sum []float64) { total.Add(&kernel.Moments{Dim: c.dim, Stride: total.Stride, Sum: sum}) }
	}
	if s.t.elsewhere() {
		return s.remotePass(ctx, q, c, merge)
	}
	return s.local(ctx, c, 0, c.Blocks, q.adder, merge)
}

func add(dst, sum []float64) {
	for j, v := range sum {
		dst[j] += v
	}
}

// local calls merge with the sums of the blocks from first up to last, in their order. Of rows in
// a file of is asked for each part of these, and lo counts from the part's beginning.
func (s *Sums) local(ctx context.Context, c cut, first, last int, of func(s *Sums) adder, merge func(sum []float64)) error {
	t := s.t
	if t.stored == nil {
		return t.inMemory(ctx, c, first, last, of(s), merge)
	}
	return inParts(ctx, s, c.Layout, first, last, c.ahead(), t.acquire, t.release,
		func(a *workspace) { a.begin(t, c) },
		func(a *workspace, s *Sums) {
			a.done = 0
			a.addTiles(of(s), s.t.src, 0, len(s.t.length), c.TileRows)
		},
		func(a *workspace) { merge(a.sum) })
}

// inMemory is local for rows in memory.
func (t *Table) inMemory(ctx context.Context, c cut, first, last int, add adder, merge func(sum []float64)) error {
	return blocks.InOrder(ctx, last-first, c.ahead(), t.acquire, t.release,
		func(b int, a *workspace) {
			a.begin(t, c)
			lo, hi := c.Rows(first + b)
			a.addTiles(add, t.src, lo, hi, c.TileRows)
		},
		func(_ int, a *workspace) { merge(a.sum) })
}

// begin clears what is of a block.
func (a *workspace) begin(t *Table, c cut) {
	a.sum, a.done = zeros(a.sum, c.width), 0
	if a.moments != nil {
		clear(a.moments.open)
	}
	if !t.isSparse() {
		a.buf = room(a.buf, c.TileRows*t.enc.Columns)
	}
}

// ahead is how many accumulators more than one a goroutine may have.
func (c cut) ahead() int {
	if c.dim > 0 {
		return 0
	}
	return 2
}

// addTiles adds the tiles of the rows from lo up to hi.
func (a *workspace) addTiles(add adder, src source, lo, hi, tileRows int) {
	for ; lo < hi; lo += tileRows {
		if lo >= a.done {
			add(a, src.tile(lo, min(lo+tileRows, hi), a.buf), lo)
		}
	}
}

// zeros returns n zeros, in place of v where it has room.
func zeros(v []float64, n int) []float64 { return append(v[:0], make([]float64, n)...) }

// room returns a slice of n numbers, of any value, in place of v likewise.
func room(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }
