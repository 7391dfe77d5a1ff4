package rows

import (
	"context"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Workspace is what one goroutine needs for a pass.
type Workspace struct {
	Buf  []float64 // a tile of raw rows, where they must be copied
	Row  []float64 // an encoded row, for those who make room
	Z    []float64 // scores, then coefficients, of a tile
	Sum  []float64 // of a block
	Done int       // the rows before this one are in the sum already

	Beside []float64 // other coefficients of a tile
	Many   []float64 // scores of a tile for several classes, for those who make room

	moments *momentsRoom // for second moments
}

func (t *Table) Acquire() *Workspace {
	if a, ok := t.Workspaces.Get().(*Workspace); ok {
		return a
	}
	return &Workspace{Buf: t.Buffer(), Z: make([]float64, t.Layout.TileRows), Beside: make([]float64, t.Layout.TileRows)}
}

func (t *Table) Release(a *Workspace) { t.Workspaces.Put(a) }

// Adder adds a tile, which starts at row lo, to a.sum, or more tiles of a block, and then
// sets a.done.
type Adder func(a *Workspace, tile Tile, lo int)

// Pass is a sum over rows, as a value: whose exported fields are all that who holds the rows
// must be sent to answer it.
type Pass interface {
	// cut is how the rows are read.
	Cut(t *Table) Cut
	// add returns what adds the rows of a part.
	Add(p *Part) Adder
	// shifted reports whether rows' offsets are asked for, too.
	Shifted() bool
}

// Measure is numbers that a pass needs of each row, found of that row alone, once for a file.
type Measure interface {
	Key() ([]byte, error)
	// find sets the numbers of a part's rows, of those of all of t.
	Find(t *Table, p *Part, all []float64) error
	// bind tells the pass what was found.
	Bind(t *Table, all []float64) error
}

// Measuring is a pass that needs measures.
type Measuring interface{ Measures() []Measure }

// Elsewhere is who holds rows that this process doesn't read.
type Elsewhere interface {
	// sum calls merge with the sums of all blocks, in their order. Where it fails what was merged
	// is of no use.
	Sum(ctx context.Context, t *Table, q Pass, c Cut, merge func(sum []float64)) error
	Rows() int
	// of are so many of the rows, which these persons have.
	Of(rows int, o *blocks.Persons) Elsewhere
	// after are the rows that a step makes.
	After(next Step) Elsewhere
	// tells reports whether it is known there what rows count that begin at the given one.
	Tells(at int, o *blocks.Persons) bool
	// copy copies rows of a file in an order, and returns what removes the copy.
	Copy(ctx context.Context, f *rowfile.File, order []int) (of *rowfile.File, remove func(), err error)
	// gradientsOnly reports whether sums of gradients are all that is answered.
	GradientsOnly() bool
	Close() error
}

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
	if t.Elsewhere() {
		return t.Place.Remote.Sum(ctx, t, q, c, merge)
	}
	return t.Read(ctx, c, 0, c.Blocks, q.Add, merge)
}

// Part is a table in memory of rows that a pass adds up: all of those of a matrix, or some of a
// file's.
type Part struct {
	*Table
	Room    *Reading
	Labels  []float64 // as they are in the file; nil for those of a matrix
	Offsets []float64 // that a worker reads
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
	if t.Elsewhere() {
		return ErrNotAsked
	}
	if t.Place != nil {
		return InParts(ctx, t, c.Layout, first, last, c.ahead(), t.Acquire, t.Release,
			func(a *Workspace) { a.begin(t, c) },
			func(a *Workspace, p *Part) {
				a.Done = 0
				a.addTiles(of(p), p.Src, 0, len(p.Length), c.TileRows)
			},
			func(a *Workspace) { merge(a.Sum) })
	}
	add := of(&Part{Table: t})
	return blocks.InOrder(ctx, last-first, c.ahead(), t.Acquire, t.Release,
		func(b int, a *Workspace) {
			a.begin(t, c)
			lo, hi := c.Rows(first + b)
			a.addTiles(add, t.Src, lo, hi, c.TileRows)
		},
		func(_ int, a *Workspace) { merge(a.Sum) })
}

// Cut is how rows are cut into blocks, and how many numbers a block's sum has.
type Cut struct {
	blocks.Layout
	Width int
	Dim   int // of second moments, of which the numbers are the triangle; 0 for other sums
}

// InTiles is the cut of sums of so many numbers.
func (t *Table) InTiles(width int) Cut { return Cut{t.Layout, width, 0} }

// begin clears what is of a block.
func (a *Workspace) begin(t *Table, c Cut) {
	a.Sum, a.Done = Zeros(a.Sum, c.Width), 0
	if a.moments != nil {
		clear(a.moments.Open)
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

// Zeros returns n zeros, in place of v where it has room.
func Zeros(v []float64, n int) []float64 { return append(v[:0], make([]float64, n)...) }

// Room returns a slice of n numbers, of any value, in place of v likewise.
func Room(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }
