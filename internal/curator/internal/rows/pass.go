package rows

import (
	"context"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/rowfile"
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

// pass is a sum over rows, as a value: whose exported fields are all that who holds the rows
// must be sent to answer it.
type pass interface {
	// cut is how the rows are read.
	cut(t *Table) cut
	// add returns what adds the rows of a part.
	add(p *part) adder
	// shifted reports whether rows' offsets are asked for, too.
	shifted() bool
}

// measure is numbers that a pass needs of each row, found of that row alone, once for a file.
type measure interface {
	key() ([]byte, error)
	// find sets the numbers of a part's rows, of those of all of t.
	find(t *Table, p *part, all []float64) error
	// bind tells the pass what was found.
	bind(t *Table, all []float64) error
}

// measuring is a pass that needs measures.
type measuring interface{ measures() []measure }

// elsewhere is who holds rows that this process doesn't read.
type elsewhere interface {
	// sum calls merge with the sums of all blocks, in their order. Where it fails what was merged
	// is of no use.
	sum(ctx context.Context, t *Table, q pass, c cut, merge func(sum []float64)) error
	rows() int
	// of are so many of the rows, which these persons have.
	of(rows int, o *blocks.Persons) elsewhere
	// after are the rows that a step makes.
	after(next step) elsewhere
	// tells reports whether it is known there what rows count that begin at the given one.
	tells(at int, o *blocks.Persons) bool
	// copy copies rows of a file in an order, and returns what removes the copy.
	copy(ctx context.Context, f *rowfile.File, order []int) (of *rowfile.File, remove func(), err error)
	// gradientsOnly reports whether sums of gradients are all that is answered.
	gradientsOnly() bool
	close() error
}

// sum sets dst to the sum: of what is added of a block's tiles first, then of the blocks in their
// order.
func (t *Table) sum(ctx context.Context, dst []float64, q pass) error {
	clear(dst)
	c, merge := q.cut(t), func(sum []float64) { add(dst, sum) }
	if c.dim > 0 {
		total := kernel.NewMoments(c.dim)
		total.Sum = dst
		merge = func(sum []float64) { total.Add(&kernel.Moments{Dim: c.dim, Stride: total.Stride, Sum: sum}) }
	}
	if t.elsewhere() {
		return t.stored.remote.sum(ctx, t, q, c, merge)
	}
	return t.read(ctx, c, 0, c.Blocks, q.add, merge)
}

// Part is a table in memory of rows that a pass adds up: all of those of a matrix, or some of a
// file's.
type part struct {
	*Table
	*reading
	labels  []float64 // as they are in the file; nil for those of a matrix
	offsets []float64 // that a worker reads
}

// pass sets dst to the sum of what of adds of the rows, which this process reads: of a block's
// tiles first, then of the blocks in their order.
func (t *Table) pass(ctx context.Context, dst []float64, of func(p *part) adder) error {
	clear(dst)
	return t.read(ctx, t.inTiles(len(dst)), 0, t.layout.Blocks, of, func(sum []float64) { add(dst, sum) })
}

func add(dst, sum []float64) {
	for j, v := range sum {
		dst[j] += v
	}
}

// read calls merge with the sums of the blocks from first up to last, in their order. Of rows in
// a file of is asked for each part of these, and lo counts from the part's beginning.
func (t *Table) read(ctx context.Context, c cut, first, last int, of func(p *part) adder, merge func(sum []float64)) error {
	if t.elsewhere() {
		return errNotAsked
	}
	if t.stored != nil {
		return inParts(ctx, t, c.Layout, first, last, c.ahead(), t.acquire, t.release,
			func(a *workspace) { a.begin(t, c) },
			func(a *workspace, p *part) {
				a.done = 0
				a.addTiles(of(p), p.src, 0, len(p.length), c.TileRows)
			},
			func(a *workspace) { merge(a.sum) })
	}
	add := of(&part{Table: t})
	return blocks.InOrder(ctx, last-first, c.ahead(), t.acquire, t.release,
		func(b int, a *workspace) {
			a.begin(t, c)
			lo, hi := c.Rows(first + b)
			a.addTiles(add, t.src, lo, hi, c.TileRows)
		},
		func(_ int, a *workspace) { merge(a.sum) })
}

// cut is how rows are cut into blocks, and how many numbers a block's sum has.
type cut struct {
	blocks.Layout
	width int
	dim   int // of second moments, of which the numbers are the triangle; 0 for other sums
}

// inTiles is the cut of sums of so many numbers.
func (t *Table) inTiles(width int) cut { return cut{t.layout, width, 0} }

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
