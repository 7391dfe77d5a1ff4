package rows

import (
	"context"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
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
}

func (t *Table) acquire() *workspace {
	if a, ok := t.workspaces.Get().(*workspace); ok {
		return a
	}
	return &workspace{buf: t.buffer(), z: make([]float64, t.layout.TileRows), beside: make([]float64, t.layout.TileRows)}
}

func (t *Table) release(a *workspace) { t.workspaces.Put(a) }

// pass calls add for each tile, which starts at row lo, and sets dst to the sum of what it
// adds to a.sum: of a block's tiles first, then of the blocks in their order.
func (t *Table) pass(ctx context.Context, dst []float64, add adder) error {
	clear(dst)
	return blocks.InOrder(ctx, t.layout.Blocks, 2, t.acquire, t.release,
		func(b int, a *workspace) {
			a.sum, a.done = zeros(a.sum, len(dst)), 0
			t.layout.EachTile(b, func(lo, hi int) {
				if lo >= a.done {
					add(a, t.src.tile(lo, hi, a.buf), lo)
				}
			})
		},
		func(_ int, a *workspace) {
			for j, v := range a.sum {
				dst[j] += v
			}
		})
}

// adder adds a tile, which starts at row lo, to a.sum, or more tiles of a block, and then
// sets a.done.
type adder func(a *workspace, rows tile, lo int)

// pass is the pass of the sums' table, where of says how a tile is added. Of rows in a file it
// is asked for each part of these, and lo counts from the part's beginning.
func (s *Sums) pass(ctx context.Context, dst []float64, of func(s *Sums) adder) error {
	if s.t.stored != nil {
		return s.storedPass(ctx, dst, of)
	}
	return s.t.pass(ctx, dst, of(s))
}

// zeros returns n zeros, in place of v where it has room.
func zeros(v []float64, n int) []float64 { return append(v[:0], make([]float64, n)...) }

// room returns a slice of n numbers, of any value, in place of v likewise.
func room(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }
