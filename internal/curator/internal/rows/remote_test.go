package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// floatsOfOne are the bytes of so many floats of 1.
type floatsOfOne int

func (n *floatsOfOne) Read(p []byte) (int, error) {
	if *n == 0 {
		return 0, io.EOF
	}
	k := 0
	for ; k+8 <= len(p) && *n > 0; k += 8 {
		binary.LittleEndian.PutUint64(p[k:], math.Float64bits(1))
		*n--
	}
	return k, nil
}

// The driver adds blocks as it reads them, and holds none but the last, however long replies are.
func TestRepliesAreReadBlockByBlock(t *testing.T) {
	const width, pieces = 1 << 16, 4
	l := newLayout(1<<18, 8, false, nil)
	total := make([]float64, width)
	a := &accepting{of: sha256.Sum256(nil), l: l, pieces: pieces, raw: make([]byte, 8*width), merge: func(sum []float64) {
		for j, v := range sum {
			total[j] += v
		}
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range pieces {
		first, last := l.piece(k, pieces)
		head := binary.LittleEndian.AppendUint64(a.of[:], uint64(k))
		head = binary.LittleEndian.AppendUint64(head, uint64(min(last*l.blockPersons, l.n)-first*l.blockPersons))
		sums := floatsOfOne(width * (last - first))
		if err := a.take(io.MultiReader(bytes.NewReader(head), &sums)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if err := a.end(); err != nil {
		t.Fatal(err)
	}
	if total[0] != float64(l.blocks) || total[width-1] != float64(l.blocks) {
		t.Errorf("%g of %d blocks", total[0], l.blocks)
	}
	if held, all := after.TotalAlloc-before.TotalAlloc, uint64(8*width*l.blocks); l.blocks < 30 || held > all/4 {
		t.Errorf("%d bytes for %d blocks of %d", held, l.blocks, 8*width)
	}
}

// here is an engine in this process.
type here struct{ scratch string }

func (h here) Pieces() int     { return 3 }
func (h here) Scratch() string { return h.scratch }
func (h here) Ask(ctx context.Context, question []byte, pieces int, take func(io.Reader) error) error {
	for k := range pieces {
		r, err := Reply(ctx, question, k)
		if err == nil {
			err = take(bytes.NewReader(r))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rows can be chosen of rows with another bound, and bounded after they were chosen.
func TestRemoteRowsAreChosenAndBounded(t *testing.T) {
	const n, d = 700, 3
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, math.Sin(float64(i*d+j)))
		}
		y[i] = float64(i % 2)
	}
	path := filepath.Join(t.TempDir(), "rows")
	if err := Write(ctx, path, x, y, Owners{}, nil, Range{}); err != nil {
		t.Fatal(err)
	}
	f, err := rowfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	enc := NewIdentity(d, 2, true)
	remote, err := NewRemote(ctx, f, enc, here{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	memory, err := NewTable(x, enc)
	if err != nil {
		t.Fatal(err)
	}
	order := make([]int, 0, n/2)
	for i := n - 1; i > 0; i -= 2 {
		order = append(order, i)
	}
	w := []float64{0.3, -0.2, 0.1, 0.5}
	again, part := []int{9, 3, 3, 7}, []int{4, 5, 6}
	for name, c := range map[string]struct {
		of   func(t *Table) *Table
		rows []int
	}{
		"bounded, chosen":          {func(t *Table) *Table { return t.Rebound(0.7, 0.5).Pick(order) }, order},
		"chosen, bounded":          {func(t *Table) *Table { return t.Pick(order).Rebound(0.7, 0.5) }, order},
		"chosen twice":             {func(t *Table) *Table { return t.Pick(order).Pick(again) }, Gather(order, again)},
		"bounded, a part of these": {func(t *Table) *Table { return t.Pick(order).Rebound(0.7, 0.5).Pick(part) }, Gather(order, part)},
	} {
		var sums [2][]float64
		for k, table := range []*Table{c.of(memory), c.of(remote)} {
			s, err := NewSums(table, Gather(y, c.rows), 0, 1, losses.Squared{})
			if err != nil {
				t.Fatal(name, err)
			}
			sums[k] = make([]float64, s.Dim())
			if err := s.Gradient(ctx, sums[k], w, 0.4); err != nil {
				t.Fatal(name, err)
			}
		}
		for j, v := range sums[0] {
			if math.Float64bits(v) != math.Float64bits(sums[1][j]) {
				t.Errorf("%s: %v, want %v", name, sums[1], sums[0])
				break
			}
		}
	}
	if _, err := remote.First(); !errors.Is(err, check.ErrConfig) {
		t.Errorf("single rows: %v", err)
	}
	if err := remote.stored.remote.close(); err != nil {
		t.Error(err)
	}
}
