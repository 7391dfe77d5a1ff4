package questions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Reply answers a question of an Engine for one piece of the blocks. It reads the rows of
// these blocks only, and checks and measures them when it does so for the first time. What it
// measured is kept for the process, for the last few files and frames: 16 bytes for each row of
// a file, and 8 for each frame. A question that panics, as it was damaged or another program made it, or as a loss does, ends with an
// error, and not the worker's process.
func Reply(ctx context.Context, asked []byte, piece int) (_ []byte, err error) {
	defer func() {
		if recover() != nil {
			err = errUnasked
		}
	}()
	var m message
	if err := gob.NewDecoder(bytes.NewReader(asked)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	if m.Build != build() {
		return nil, check.Fail(check.ErrConfig, "build of a worker", build(), fmt.Sprintf("must be that of the driver, %s", m.Build))
	}
	if m.Of == nil {
		return nil, rows.ErrNotAsked
	}
	reply, err := m.Of.reply(ctx, &m.File, piece)
	if err != nil {
		return nil, err
	}
	of := sha256.Sum256(asked)
	return summed(append(of[:], reply...)), nil
}

// summed is a reply with its SHA-256 at the end.
func summed(reply []byte) []byte {
	sum := sha256.Sum256(reply)
	return append(reply, sum[:]...)
}

// reply are the sums of a piece's blocks.
func (q *question) reply(ctx context.Context, of *sentFile, piece int) ([]byte, error) {
	if piece < 0 || piece >= q.Pieces {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	if q.Asked == nil {
		return nil, rows.ErrNotAsked
	}
	b, err := workerFiles.Get(ctx, fmt.Sprintf("%q %d %v", of.Paths, of.Sum, of.Encoding), 4, func() (*workerFile, error) { return openWorkerFile(of) })
	if err != nil {
		return nil, err
	}
	t, err := b.rows(&q.Rows, q.Rows.First, q.Rows.Rows)
	if err != nil {
		return nil, err
	}
	if err := b.bind(t, q); err != nil {
		return nil, err
	}
	c, k := q.Asked.Cut(t), t.Place.Task
	if most := mostOf(t.Enc.Dim()); c.Width < 0 || c.Width > most {
		return nil, check.Fail(check.ErrConfig, "numbers of a sum", c.Width, fmt.Sprintf("must lie between 0 and %d, for such rows", most))
	}
	first, last := c.Piece(piece, q.Pieces)
	var sums []byte
	err = t.Read(ctx, c, first, last, q.Asked.Add, func(sum []float64) {
		for _, v := range sum {
			sums = binary.LittleEndian.AppendUint64(sums, math.Float64bits(v))
		}
	})
	reply := binary.LittleEndian.AppendUint64(nil, uint64(piece))
	return append(binary.LittleEndian.AppendUint64(reply, uint64(k.Counted.Load())), sums...), err
}

// mostOf is how many numbers a sum of rows of so many features may have: as many as one of any rows, or as their second moments and more.
func mostOf(dim int) int {
	side := min(dim, math.MaxInt32) + 1
	return max(mostNumbers, side*side)
}

// bind tells the question what it needs of each row, which is found when the rows are first read.
func (b *workerFile) bind(t *rows.Table, q *question) error {
	m, ok := q.Asked.(rows.Measuring)
	if !ok {
		return nil
	}
	all := m.Measures()
	for _, of := range all {
		found, err := b.measured(of, &q.Rows, max(4, len(all)))
		if err != nil {
			return err
		}
		if err := of.Bind(t, found.of[q.Rows.First:q.Rows.First+q.Rows.Rows]); err != nil {
			return err
		}
		k := t.Place.Task
		before := k.Ready
		k.Ready = func(lo, hi int) error {
			if err := before(lo, hi); err != nil {
				return err
			}
			return found.rows.Ensure(q.Rows.First+lo, q.Rows.First+hi)
		}
	}
	return nil
}

// measured are the file's rows, as a measure has them after the steps.
func (b *workerFile) measured(m rows.Measure, q *sentRows, most int) (*measured, error) {
	var key bytes.Buffer
	of, err := m.Key()
	if err == nil {
		err = gob.NewEncoder(&key).Encode(struct {
			Of    []byte
			Steps []rows.Step
		}{of, q.Steps})
	}
	if err != nil {
		return nil, err
	}
	return b.frames.Get(context.Background(), key.String(), most, func() (*measured, error) {
		all := *q
		all.Owned, all.Shifted = false, false
		whole, err := b.rows(&all, 0, b.file.Rows)
		if err != nil {
			return nil, err
		}
		found := make([]float64, b.file.Rows)
		return &measured{found, rows.NewLazily(b.file, func(g *rows.Reading, lo, hi int) error {
			p, err := rows.ReadPart(whole, g, lo, hi)
			if err != nil {
				return err
			}
			return m.Find(whole, p, found)
		})}, nil
	})
}

// workerFile is a file as a worker knows it.
type workerFile struct {
	file   *rowfile.File
	table  *rows.Table
	read   *rows.Lazily
	frames rows.Cache[*measured]
	pools  rows.Cache[*sync.Pool] // of workspaces, for each number of columns
}

// measured are numbers of rows, as far as these were read.
type measured struct {
	of   []float64
	rows *rows.Lazily
}

// workerFiles are the files that this process read last.
var workerFiles rows.Cache[*workerFile]

// open opens the files.
func (of *sentFile) open() (*rowfile.File, error) {
	f, err := rowfile.Open(of.Paths...)
	if err != nil {
		return nil, err
	}
	if f.Checksum() != of.Sum || f.Columns != of.Encoding.Columns {
		f.Close()
		return nil, check.Fail(check.ErrRowFile, "checksum of "+strings.Join(of.Paths, ", "), nil, "must be that of the driver's: the worker has another file of that name")
	}
	return f, nil
}

func openWorkerFile(of *sentFile) (*workerFile, error) {
	f, err := of.open()
	if err != nil {
		return nil, err
	}
	t := rows.NewUnmeasured(f, of.Encoding)
	rows.MakeFactors(t)
	s := &workerFile{file: f, table: t}
	s.read = rows.NewLazily(f, func(g *rows.Reading, lo, hi int) error {
		if err := g.Reader.Read(&g.Chunk, lo, hi); err != nil {
			return err
		}
		domain := rows.AnyLabels()
		if err := domain.Add(g.Chunk.Labels, lo); err != nil {
			return err
		}
		if err := rows.CheckOffsets(f, &g.Chunk, lo); err != nil {
			return err
		}
		return rows.TakeIn(t, &g.Chunk, lo)
	})
	return s, nil
}

// rows are n rows of the file that a question is asked of.
func (b *workerFile) rows(q *sentRows, first, n int) (*rows.Table, error) {
	f := b.file
	known := n == 0 || slices.Contains(f.Beside, rowfile.Share) || slices.Contains(f.Beside, rowfile.Weight) // of no rows nothing is asked
	if first < 0 || n < 0 || first > f.Rows-n || q.Owned && !known || q.Shifted && !slices.Contains(f.Beside, rowfile.Offset) {
		return nil, check.Fail(check.ErrConfig, "rows", nil, "must be the file's, with what is asked of them beside")
	}
	if err := rows.CheckSteps(b.table.Enc.Columns, q.Steps); err != nil {
		return nil, err
	}
	t := *b.table
	k := &rows.Task{Measured: t.Enc, Steps: q.Steps, Bounds: q.Bounds, Owned: q.Owned, Shifted: q.Shifted}
	k.Ready = func(lo, hi int) error { return b.read.Ensure(first+lo, first+hi) }
	t.Place = &rows.Place{Whole: b.table.Place, First: first, Sparse: t.Place.Sparse, Outside: t.Place.Outside, Class: q.Class, Task: k}
	if t.Place.Outside != nil {
		t.Place.Outside = t.Place.Outside[first : first+n]
	}
	t.Length, t.Shrink = t.Length[first:first+n], t.Shrink[first:first+n]
	t.Enc = rows.EncodingAfter(t.Enc, q.Steps)
	for _, s := range q.Steps {
		t.Place.Sparse = t.Place.Sparse && s.Map == nil
	}
	t.Layout = blocks.NewLayout(q.Persons, t.Enc.Columns, t.Place.Sparse, nil)
	t.Workspaces, _ = b.pools.Get(context.Background(), fmt.Sprint(t.Enc.Columns, t.Place.Sparse), 4, func() (*sync.Pool, error) { return new(sync.Pool), nil })
	return &t, nil
}
