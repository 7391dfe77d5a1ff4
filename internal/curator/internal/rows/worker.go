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
	"sync/atomic"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// task is what a worker knows of the rows that it was asked about, which steps make of the file's.
type task struct {
	measured       encoding.Encoding // of the file's rows
	steps          []step
	bounds         []int // where blocks begin, and the last one ends; nil where each person has a row
	owned, shifted bool  // whether rows have shares, and scores offsets
	ready          func(lo, hi int) error
	counted        atomic.Int64
}

// made are the rows that the steps make of a part.
func (k *task) made(p *Table, f *rowfile.File, c *rowfile.Chunk) (_ *Table, err error) {
	from := p.from
	if k.owned {
		p.Persons = shares(f, c)
		p.layout.Persons = p.Persons
	}
	for _, s := range k.steps {
		if p, err = s.of(p); err != nil {
			return nil, err
		}
		p.from = from
	}
	return p, nil
}

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
	s, err := b.sums(q, q.Rows.First, q.Rows.Rows)
	if err != nil {
		return nil, err
	}
	if err := b.bind(s, q); err != nil {
		return nil, err
	}
	c, k := q.Asked.cut(s.t), s.t.stored.task
	first, last := c.Piece(piece, q.Pieces)
	if first > last || k.bounds != nil && len(k.bounds) <= last {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	var sums []byte
	err = s.local(ctx, c, first, last, q.Asked.adder, func(sum []float64) {
		for _, v := range sum {
			sums = binary.LittleEndian.AppendUint64(sums, math.Float64bits(v))
		}
	})
	reply := binary.LittleEndian.AppendUint64(nil, uint64(piece))
	return append(binary.LittleEndian.AppendUint64(reply, uint64(k.counted.Load())), sums...), err
}

// bind gives the question the rows in its frames.
func (b *shard) bind(s *Sums, q *question) error {
	all := frames(q.Asked)
	for _, of := range all {
		r, err := b.frame(s, q, of.Frame, max(4, len(all)))
		if err != nil {
			return err
		}
		of.r = r
	}
	return nil
}

// shard is a file as a worker knows it.
type shard struct {
	file   *rowfile.File
	table  *Table
	rows   *lazily
	frames cache[*frameLengths]
	pools  cache[*sync.Pool] // of workspaces, for each number of columns
}

// frameLengths are the norms of rows in a frame, as far as they are measured.
type frameLengths struct {
	length []float64
	rows   *lazily
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
	s.rows = newLazily(f, func(g *reading, lo, hi int) error {
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

// sums are those over n rows of the file that the question is asked of.
func (b *shard) sums(q *question, first, n int) (*Sums, error) {
	f := b.file
	known := n == 0 || slices.Contains(f.Beside, rowfile.Share) || slices.Contains(f.Beside, rowfile.Weight) // of no rows nothing is asked
	if first < 0 || n < 0 || first+n > f.Rows || q.Rows.Owned && !known || q.Labels.Shifted && !slices.Contains(f.Beside, rowfile.Offset) {
		return nil, check.Fail(check.ErrConfig, "rows", nil, "must be the file's, with what is asked of them beside")
	}
	t := *b.table
	k := &task{measured: t.enc, steps: q.Rows.Steps, bounds: q.Rows.Bounds, owned: q.Rows.Owned, shifted: q.Labels.Shifted}
	k.ready = func(lo, hi int) error { return b.rows.ensure(first+lo, first+hi) }
	t.stored = &stored{whole: b.table.stored, first: first, sparse: t.stored.sparse, outside: t.stored.outside, class: q.Labels.Class, task: k}
	if t.stored.outside != nil {
		t.stored.outside = t.stored.outside[first : first+n]
	}
	t.length, t.shrink = t.length[first:first+n], t.shrink[first:first+n]
	t.enc = encodingAfter(t.enc, q.Rows.Steps)
	for _, s := range q.Rows.Steps {
		t.stored.sparse = t.stored.sparse && s.Map == nil
	}
	t.layout = blocks.NewLayout(q.Rows.Persons, t.enc.Columns, t.stored.sparse, nil)
	t.workspaces, _ = b.pools.get(context.Background(), fmt.Sprint(t.enc.Columns, t.stored.sparse), 4, func() (*sync.Pool, error) { return new(sync.Pool), nil })
	s := &Sums{t: &t, loss: q.Labels.Loss.Loss, labelCentre: q.Labels.Centre, labelBound: q.Labels.Bound}
	if q.Labels.Shifted {
		s = s.Shift(nil, f.Offsets)
	}
	return s, nil
}

// frame are the rows of s in a frame.
func (b *shard) frame(s *Sums, q *question, f Frame, most int) (*Framed, error) {
	r, err := s.unmeasured(nil, f)
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	if err := gob.NewEncoder(&key).Encode(struct {
		F     Frame
		Steps []step
	}{f, q.Rows.Steps}); err != nil {
		return nil, err
	}
	of, err := b.frames.get(context.Background(), key.String(), most, func() (*frameLengths, error) {
		all := *q
		all.Rows.Owned, all.Labels.Shifted = false, false
		whole, err := b.sums(&all, 0, b.file.Rows)
		if err != nil {
			return nil, err
		}
		m, err := whole.unmeasured(nil, f)
		if err != nil {
			return nil, err
		}
		m.length = make([]float64, b.file.Rows)
		return &frameLengths{m.length, newLazily(b.file, m.measurePart)}, nil
	})
	if err != nil {
		return nil, err
	}
	r.length = of.length[q.Rows.First : q.Rows.First+q.Rows.Rows]
	k := s.t.stored.task
	before := k.ready
	k.ready = func(lo, hi int) error {
		if err := before(lo, hi); err != nil {
			return err
		}
		return of.rows.ensure(q.Rows.First+lo, q.Rows.First+hi)
	}
	return r, nil
}

// measurePart measures the rows [lo, hi), which the table has measured.
func (r *Framed) measurePart(g *reading, lo, hi int) error {
	part, labels, err := r.s.t.part(g, lo, hi)
	if err != nil {
		return err
	}
	return r.on(r.s.part(g, part, labels)).measure(context.Background())
}

// lazily does something with rows before they are first used, block by block of the file.
type lazily struct {
	f    *rowfile.File
	lock []sync.Mutex
	done []bool
	do   func(g *reading, lo, hi int) error
}

func newLazily(f *rowfile.File, do func(g *reading, lo, hi int) error) *lazily {
	return &lazily{f, make([]sync.Mutex, f.Blocks()), make([]bool, f.Blocks()), do}
}

// ensure returns when it is done for the rows [lo, hi).
func (l *lazily) ensure(lo, hi int) error {
	for b := lo / l.f.BlockRows; b*l.f.BlockRows < hi; b++ {
		if err := l.block(b); err != nil {
			return err
		}
	}
	return nil
}

func (l *lazily) block(b int) error {
	l.lock[b].Lock()
	defer l.lock[b].Unlock()
	if l.done[b] {
		return nil
	}
	g := newReading(l.f, 0)
	defer readings.Put(g)
	if err := l.do(g, b*l.f.BlockRows, min((b+1)*l.f.BlockRows, l.f.Rows)); err != nil {
		return err
	}
	l.done[b] = true
	return nil
}
