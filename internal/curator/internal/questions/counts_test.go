package questions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Layouts of all sizes cut the rows into blocks, and blocks into tiles, without one left out or twice, and pieces
// are all blocks; a chain of additions is as long as the longest block at least.
func TestLayoutsCoverAllRows(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, cols := range []int{1, 3, 31, 32, 33, 255, 256, 257, 2000, 5000} {
			for _, around := range []int{1, 8, 64, 96, 128, 256, 512, 2048, 4096, 8192, 255 * 2048, 256 * 2048, 255 * 4096, 256 * 4096, 3_000_000} {
				for _, n := range []int{around - 1, around, around + 1} {
					if n == 0 {
						continue
					}
					l := blocks.NewLayout(n, cols, sparse, nil)
					for name, l := range map[string]blocks.Layout{"sums": l, "moments": l.Moments(cols + 1)} {
						if what := covers(l); what != "" {
							t.Errorf("%d rows of %d columns, sparse %v, %s: %s", n, cols, sparse, name, what)
						}
					}
				}
			}
		}
	}
}

// covers says what is wrong with a layout, if anything is.
func covers(l blocks.Layout) string {
	if l.Blocks < 1 || l.Blocks > 256 {
		return fmt.Sprintf("%d blocks", l.Blocks)
	}
	at := 0
	for b := range l.Blocks {
		lo, hi := l.Rows(b)
		if lo != at || hi <= lo || hi-lo > l.BlockRows() {
			return fmt.Sprintf("block %d has the rows [%d, %d)", b, lo, hi)
		}
		if b < 2 || b == l.Blocks-1 {
			bad := false
			l.EachTile(b, func(lo, hi int) {
				bad = bad || lo != at || hi <= lo || hi-lo > l.TileRows
				at = hi
			})
			if bad || at != hi {
				return fmt.Sprintf("tiles of block %d end at %d", b, at)
			}
		}
		at = hi
	}
	if at != l.N {
		return fmt.Sprintf("blocks end at %d", at)
	}
	for _, pieces := range []int{1, 2, 3, 100, 101, l.Blocks - 1, l.Blocks, l.Blocks + 1, 300} {
		next := 0
		for k := range pieces {
			first, last := l.Piece(k, pieces)
			if first != next || last < first {
				return fmt.Sprintf("piece %d of %d has the blocks [%d, %d)", k, pieces, first, last)
			}
			next = last
		}
		if pieces > 0 && next != l.Blocks {
			return fmt.Sprintf("%d pieces end at %d", pieces, next)
		}
	}
	if n := float64(l.N); l.Chain(1) < n+float64(l.Blocks)*n || l.Chain(2)-l.Chain(1) != n {
		return fmt.Sprintf("the chain is %g long", l.Chain(1))
	}
	return ""
}

// pieced is an engine in this process that is asked for so many pieces.
type pieced struct {
	here
	pieces int
}

func (p pieced) Pieces() int { return p.pieces }

// A million rows, which are the most blocks that there may be, have the sums of their pattern, in memory, in a file and
// by workers of any number: to the same bits.
func TestManyBlocks(t *testing.T) {
	const n = 256*4096 + 3
	x, y, enc := mat.NewDense(n, 1, nil), make([]float64, n), encoding.NewIdentity(1, 1, false)
	var square, ones, cross float64
	for i := range n {
		v := float64(i%7)/8 - 0.25 // sums of these are exact
		x.Set(i, 0, v)
		square += v * v
		if i%5 == 0 {
			y[i] = 1
			ones, cross = ones+1, cross+v
		}
	}
	f := rowsIn(t, filepath.Join(t.TempDir(), "rows"), x, y)
	memory := mustTable(t, x, enc)
	if memory.Layout.Blocks < 250 {
		t.Fatalf("%d blocks", memory.Layout.Blocks)
	}
	stored, err := rows.NewStored(ctx, f, enc)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]*rows.Table{"memory": memory, "file": stored}
	for _, pieces := range []int{101, 300} {
		if tables[fmt.Sprint(pieces, " pieces")], err = NewRemote(ctx, f, enc, pieced{here{t.TempDir()}, pieces}); err != nil {
			t.Fatal(err)
		}
	}
	for name, table := range tables {
		labels := y
		if table.Place != nil {
			labels = nil
		}
		s, err := NewSums(table, labels, 0, 1, losses.Squared{})
		if err != nil {
			t.Fatal(err)
		}
		g := []float64{0}
		if err := s.Gradient(ctx, g, []float64{0.5}, math.Inf(1)); err != nil {
			t.Fatal(err)
		}
		total, _, err := s.LabelSum(ctx)
		if err != nil {
			t.Fatal(err)
		}
		h, err := s.Hessian(ctx, []float64{0}, math.Inf(1))
		if err != nil {
			t.Fatal(err)
		}
		if g[0] != square/2-cross || total[0] != ones || h.At(0, 0) != square {
			t.Errorf("%s: gradient %g, labels %g, Hessian %g, want %g, %g and %g", name, g[0], total[0], h.At(0, 0), square/2-cross, ones, square)
		}
	}
}

// A party answers as many questions as the plan has, of any number, and then none; and each only once.
func TestPartiesAnswerAllSteps(t *testing.T) {
	const n, d = 40, 2
	r := rand.New(rand.NewPCG(95, 96))
	s := heldBy(t, randomMatrix(r, n, d, 1), make([]float64, n), 7, 64, encoding.NewIdentity(d, 1, false), losses.Logistic{})
	for _, steps := range []int{1, 2, 99, 100, 101, 128, 129, 255, 256, 257} {
		table, err := Agree(ctx, s, Descent{Steps: steps, Clip: 0.5, Radius: 1, Mu: 1})
		if err != nil {
			t.Fatal(err)
		}
		of := *s
		of.t = table
		var before []float64
		for k := range steps {
			g := make([]float64, d)
			if err := of.Gradient(ctx, g, make([]float64, d), 0.5); err != nil {
				t.Fatalf("question %d of %d: %v", k+1, steps, err)
			}
			if before != nil && !slices.Equal(g, before) {
				t.Errorf("question %d of %d is answered by %v, was %v", k+1, steps, g, before)
			}
			before = g
		}
		for range 2 {
			if err := of.Gradient(ctx, make([]float64, d), make([]float64, d), 0.5); err == nil {
				t.Errorf("a question more than %d is answered", steps)
			}
		}
	}
}
