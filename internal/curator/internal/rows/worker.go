package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// Reply answers a question of an Engine for one piece of the blocks. It reads the rows of
// these blocks only, and checks and measures them when it does so for the first time. What it
// measured is kept for the process, for the last few files and frames: 16 bytes for each row of
// a file, and 8 for each frame.
func Reply(ctx context.Context, asked []byte, piece int) ([]byte, error) {
	var m message
	if err := gob.NewDecoder(bytes.NewReader(asked)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	if m.Build != build() {
		return nil, check.Fail(check.ErrConfig, "build of a worker", build(), fmt.Sprintf("must be that of the driver, %s", m.Build))
	}
	if m.Of == nil {
		return nil, errNotAsked
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
		return nil, errNotAsked
	}
	b, err := shards.get(ctx, fmt.Sprintf("%q %d %v", of.Path, of.Sum, of.Encoding), 4, func() (*shard, error) { return openShard(of) })
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
	c, k := q.Asked.cut(t), t.stored.task
	first, last := c.Piece(piece, q.Pieces)
	if first > last || k.bounds != nil && len(k.bounds) <= last {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	var sums []byte
	err = t.read(ctx, c, first, last, q.Asked.add, func(sum []float64) {
		for _, v := range sum {
			sums = binary.LittleEndian.AppendUint64(sums, math.Float64bits(v))
		}
	})
	reply := binary.LittleEndian.AppendUint64(nil, uint64(piece))
	return append(binary.LittleEndian.AppendUint64(reply, uint64(k.counted.Load())), sums...), err
}

// bind tells the question what it needs of each row, which is found when the rows are first read.
func (b *shard) bind(t *Table, q *question) error {
	m, ok := q.Asked.(measuring)
	if !ok {
		return nil
	}
	all := m.measures()
	for _, of := range all {
		found, err := b.measured(of, &q.Rows, max(4, len(all)))
		if err != nil {
			return err
		}
		if err := of.bind(t, found.of[q.Rows.First:q.Rows.First+q.Rows.Rows]); err != nil {
			return err
		}
		k := t.stored.task
		before := k.ready
		k.ready = func(lo, hi int) error {
			if err := before(lo, hi); err != nil {
				return err
			}
			return found.rows.ensure(q.Rows.First+lo, q.Rows.First+hi)
		}
	}
	return nil
}

// measured are the file's rows, as a measure has them after the steps.
func (b *shard) measured(m measure, q *sentRows, most int) (*measured, error) {
	var key bytes.Buffer
	of, err := m.key()
	if err == nil {
		err = gob.NewEncoder(&key).Encode(struct {
			Of    []byte
			Steps []step
		}{of, q.Steps})
	}
	if err != nil {
		return nil, err
	}
	return b.frames.get(context.Background(), key.String(), most, func() (*measured, error) {
		all := *q
		all.Owned, all.Shifted = false, false
		whole, err := b.rows(&all, 0, b.file.Rows)
		if err != nil {
			return nil, err
		}
		found := make([]float64, b.file.Rows)
		return &measured{found, newLazily(b.file, func(g *reading, lo, hi int) error {
			p, err := whole.part(g, lo, hi)
			if err != nil {
				return err
			}
			return m.find(whole, p, found)
		})}, nil
	})
}

// shard is a file as a worker knows it.
type shard struct {
	file   *rowfile.File
	table  *Table
	read   *lazily
	frames cache[*measured]
	pools  cache[*sync.Pool] // of workspaces, for each number of columns
}

// measured are numbers of rows, as far as these were read.
type measured struct {
	of   []float64
	rows *lazily
}

// shards are the files that this process read last.
var shards cache[*shard]

// open opens the file.
func (of *sentFile) open() (*rowfile.File, error) {
	f, err := rowfile.Open(of.Path)
	if err != nil {
		return nil, err
	}
	if f.Checksum() != of.Sum || f.Columns != of.Encoding.Columns {
		f.Close()
		return nil, check.Fail(check.ErrRowFile, "checksum of "+of.Path, nil, "must be that of the driver's: the worker has another file of that name")
	}
	return f, nil
}

func openShard(of *sentFile) (*shard, error) {
	f, err := of.open()
	if err != nil {
		return nil, err
	}
	t := newStored(f, of.Encoding)
	t.factors()
	s := &shard{file: f, table: t}
	s.read = newLazily(f, func(g *reading, lo, hi int) error {
		if err := g.reader.Read(&g.chunk, lo, hi); err != nil {
			return err
		}
		domain := anyLabels()
		if err := domain.add(g.chunk.Labels, lo); err != nil {
			return err
		}
		if err := checkOffsets(f, &g.chunk, lo); err != nil {
			return err
		}
		return t.takeIn(&g.chunk, lo)
	})
	return s, nil
}

// rows are n rows of the file that a question is asked of.
func (b *shard) rows(q *sentRows, first, n int) (*Table, error) {
	f := b.file
	known := n == 0 || slices.Contains(f.Beside, rowfile.Share) || slices.Contains(f.Beside, rowfile.Weight) // of no rows nothing is asked
	if first < 0 || n < 0 || first+n > f.Rows || q.Owned && !known || q.Shifted && !slices.Contains(f.Beside, rowfile.Offset) {
		return nil, check.Fail(check.ErrConfig, "rows", nil, "must be the file's, with what is asked of them beside")
	}
	t := *b.table
	k := &task{measured: t.enc, steps: q.Steps, bounds: q.Bounds, owned: q.Owned, shifted: q.Shifted}
	k.ready = func(lo, hi int) error { return b.read.ensure(first+lo, first+hi) }
	t.stored = &stored{whole: b.table.stored, first: first, sparse: t.stored.sparse, outside: t.stored.outside, class: q.Class, task: k}
	if t.stored.outside != nil {
		t.stored.outside = t.stored.outside[first : first+n]
	}
	t.length, t.shrink = t.length[first:first+n], t.shrink[first:first+n]
	t.enc = encodingAfter(t.enc, q.Steps)
	for _, s := range q.Steps {
		t.stored.sparse = t.stored.sparse && s.Map == nil
	}
	t.layout = blocks.NewLayout(q.Persons, t.enc.Columns, t.stored.sparse, nil)
	t.workspaces, _ = b.pools.get(context.Background(), fmt.Sprint(t.enc.Columns, t.stored.sparse), 4, func() (*sync.Pool, error) { return new(sync.Pool), nil })
	return &t, nil
}
