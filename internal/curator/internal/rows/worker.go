package rows

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
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

// errCaptured ends a question whose sums are with who asked it.
var errCaptured = errors.New("the sums are captured")

// task is what a worker is to do: to take the sums of the blocks from first up to last, one by
// one, of rows that steps make of the file's.
type task struct {
	measured       encoding.Encoding // of the file's rows
	steps          []step
	bounds         []int // where blocks begin, and the last one ends; nil where each person has a row
	owned, shifted bool  // whether rows have shares, and scores offsets
	ready          func(lo, hi int) error
	chunk          func(lo, hi int) (*rowfile.Chunk, error)

	first, last int
	counted     atomic.Int64
	sums        []byte
}

func (k *task) take(sum []float64) {
	for _, v := range sum {
		k.sums = binary.LittleEndian.AppendUint64(k.sums, math.Float64bits(v))
	}
}

// rows are where those of a block begin and end. No task is that of a table of this process.
func (k *task) rows(l blocks.Layout, block int) (lo, hi int) {
	if k != nil && k.bounds != nil {
		return k.bounds[block], k.bounds[block+1]
	}
	first := block * l.BlockPersons
	return l.Persons.Rows(first, min(first+l.BlockPersons, l.N))
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
	var q question
	if err := gob.NewDecoder(bytes.NewReader(asked)).Decode(&q); err != nil {
		return nil, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	if q.Build != build() {
		return nil, check.Fail(check.ErrConfig, "build of a worker", build(), fmt.Sprintf("must be that of the driver, %s", q.Build))
	}
	if piece < 0 || piece >= q.Pieces {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	if q.Asked.Copy != nil {
		return q.Asked.Copy.reply(ctx, &q, asked)
	}
	base, err := shards.get(ctx, fmt.Sprintf("%q %d %v", q.Path, q.Sum, q.Encoding), 4, func() (*shard, error) { return openShard(&q) })
	if err != nil {
		return nil, err
	}
	k, err := base.answer(ctx, &q, piece)
	if err != nil {
		return nil, err
	}
	of := sha256.Sum256(asked)
	reply := binary.LittleEndian.AppendUint64(of[:], uint64(piece))
	return summed(append(binary.LittleEndian.AppendUint64(reply, uint64(k.counted.Load())), k.sums...)), nil
}

// summed is a reply with its SHA-256 at the end.
func summed(reply []byte) []byte {
	sum := sha256.Sum256(reply)
	return append(reply, sum[:]...)
}

// answer asks the question of the rows, for a piece.
func (b *shard) answer(ctx context.Context, q *question, piece int) (*task, error) {
	s, err := b.sums(q, q.First, q.Rows)
	if err != nil {
		return nil, err
	}
	k := s.t.stored.task
	if k.first, k.last = s.t.piece(q, piece); k.first > k.last || k.bounds != nil && len(k.bounds) <= k.last {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	if q.Asked.Kind == "together" {
		err = b.together(ctx, s, q)
	} else {
		err = b.again(ctx, s, q, &q.Asked)
	}
	if !errors.Is(err, errCaptured) {
		return nil, cmp.Or(err, errNotAsked)
	}
	return k, nil
}

// again asks a question of the rows, or of these in its frame.
func (b *shard) again(ctx context.Context, s *Sums, q *question, of *asked) (err error) {
	var r *Framed
	if f, ok := of.frame(); ok {
		if r, err = b.frame(ctx, s, q, f); err != nil {
			return err
		}
	}
	return of.again(ctx, s, r)
}

// errCollected ends a question that is to be answered with others.
var errCollected = errors.New("the question is collected")

// together answers questions in one reading.
func (b *shard) together(ctx context.Context, s *Sums, q *question) error {
	var questions []*Question
	for k := range q.Asked.Together {
		of := &q.Asked.Together[k]
		loss, err := decodeLoss(of.Loss)
		if err != nil {
			return err
		}
		asking := s.Asking(loss, func(q *Question) error {
			questions = append(questions, q)
			return errCollected
		})
		if err := b.again(ctx, asking, q, &of.Asked); !errors.Is(err, errCollected) {
			return cmp.Or(err, errNotAsked)
		}
	}
	return s.answer(ctx, questions)
}

// piece is the range of blocks of a piece, of second moments where the question is about these.
func (t *Table) piece(q *question, piece int) (first, last int) {
	switch q.Asked.Kind {
	case "hessian", "moments", "framed moments", "framed scatter", "framed hessian":
		return t.momentsLayout().Piece(piece, q.Pieces)
	}
	return t.layout.Piece(piece, q.Pieces)
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

// open opens the file that the question is about.
func (q *question) open() (*rowfile.File, error) {
	f, err := rowfile.Open(q.Path)
	if err != nil {
		return nil, err
	}
	if f.Checksum() != q.Sum || f.Columns != q.Encoding.Columns {
		f.Close()
		return nil, check.Fail(check.ErrRowFile, "checksum of "+q.Path, nil, "must be that of the driver's: the worker has another file of that name")
	}
	return f, nil
}

func openShard(q *question) (*shard, error) {
	f, err := q.open()
	if err != nil {
		return nil, err
	}
	t := newStored(f, q.Encoding)
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
	if first < 0 || n < 0 || first+n > f.Rows || q.Owned && !known || q.Shifted && !slices.Contains(f.Beside, rowfile.Offset) {
		return nil, check.Fail(check.ErrConfig, "rows", nil, "must be the file's, with what is asked of them beside")
	}
	t := *b.table
	k := &task{measured: t.enc, steps: q.Steps, bounds: q.Bounds, owned: q.Owned, shifted: q.Shifted}
	k.ready = func(lo, hi int) error { return b.rows.ensure(first+lo, first+hi) }
	k.chunk = func(lo, hi int) (*rowfile.Chunk, error) {
		if err := k.ready(lo, hi); err != nil {
			return nil, err
		}
		c := new(rowfile.Chunk)
		k.counted.Add(int64(hi - lo))
		return c, f.Reader().Read(c, first+lo, first+hi)
	}
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
	loss, err := decodeLoss(q.Loss)
	s := &Sums{t: &t, loss: loss, labelCentre: q.Labels[0], labelBound: q.Labels[1]}
	if q.Shifted {
		s = s.Shift(nil, f.Offsets)
	}
	return s, err
}

// frame are the rows of s in a frame.
func (b *shard) frame(ctx context.Context, s *Sums, q *question, f Frame) (*Framed, error) {
	r, err := s.Frame(ctx, nil, f)
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	if err := gob.NewEncoder(&key).Encode(struct {
		F     Frame
		Steps []step
	}{f, q.Steps}); err != nil {
		return nil, err
	}
	of, err := b.frames.get(ctx, key.String(), max(4, len(q.Asked.Together)), func() (*frameLengths, error) {
		all := *q
		all.Owned, all.Shifted = false, false
		whole, err := b.sums(&all, 0, b.file.Rows)
		if err != nil {
			return nil, err
		}
		m, err := whole.Frame(ctx, nil, f)
		if err != nil {
			return nil, err
		}
		m.length = make([]float64, b.file.Rows)
		return &frameLengths{m.length, newLazily(b.file, m.measurePart)}, nil
	})
	if err != nil {
		return nil, err
	}
	r.length = of.length[q.First : q.First+q.Rows]
	k := s.t.stored.task
	before := k.ready
	k.ready = func(lo, hi int) error {
		if err := before(lo, hi); err != nil {
			return err
		}
		return of.rows.ensure(q.First+lo, q.First+hi)
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

// blockLengths captures the histograms of the blocks' lengths, for which rows that were measured
// needn't be read again, unless these have shares.
func (r *Framed) blockLengths(ctx context.Context, edges []float64) error {
	t, k := r.s.t, r.s.t.stored.task
	if k.owned {
		return r.s.pass(ctx, make([]float64, len(edges)+1), func(s *Sums) adder {
			r := r.on(s)
			return func(a *workspace, rows tile, lo int) { r.count(a.sum, edges, r.length[lo:lo+rows.rows], lo) }
		})
	}
	for b := k.first; b < k.last; b++ {
		lo, hi := k.rows(t.layout, b)
		if err := cmp.Or(check.Cancelled(ctx), k.ready(lo, hi)); err != nil {
			return err
		}
		counts := make([]float64, len(edges)+1)
		r.count(counts, edges, r.length[lo:hi], lo)
		k.counted.Add(int64(hi - lo))
		k.take(counts)
	}
	return errCaptured
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
