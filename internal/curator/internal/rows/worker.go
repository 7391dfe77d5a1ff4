package rows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// errCaptured ends a question whose sums are with who asked it.
var errCaptured = errors.New("the sums are captured")

// capture takes the sums of the blocks from first up to last, one by one.
type capture struct {
	first, last int
	rows        atomic.Int64
	sums        []byte
}

func (c *capture) take(sum []float64) {
	for _, v := range sum {
		c.sums = binary.LittleEndian.AppendUint64(c.sums, math.Float64bits(v))
	}
}

// Reply answers a question of an Engine for one piece of the blocks. It reads the rows of
// these blocks only, and checks and measures them when it does so for the first time. What it
// measured is kept for the process, for the last few files and frames: 8 bytes for each row of
// the file, and as many for each frame.
func Reply(ctx context.Context, asked []byte, piece int) ([]byte, error) {
	var q question
	if err := gob.NewDecoder(bytes.NewReader(asked)).Decode(&q); err != nil {
		return nil, fmt.Errorf("%w: question: %w", check.ErrConfig, err)
	}
	if q.Build != build() {
		return nil, check.Fail(check.ErrConfig, "build of a worker", build(), fmt.Sprintf("must be that of the driver, %s", q.Build))
	}
	base, err := shards.get(fmt.Sprintf("%q %d %v", q.Path, q.Sum, q.Encoding), func() (*shard, error) { return openShard(&q) })
	if err != nil {
		return nil, err
	}
	s, err := base.sums(&q)
	if err != nil {
		return nil, err
	}
	var r *Framed
	if f, ok := q.Asked.frame(); ok {
		if r, err = base.frame(ctx, s, f, q.Rebounds); err != nil {
			return nil, err
		}
		s = r.s
	}
	c := s.t.stored.capture
	if piece < 0 || piece >= q.Pieces {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	if c.first, c.last = s.t.piece(&q, piece); c.first > c.last {
		return nil, check.Fail(check.ErrConfig, "piece", piece, fmt.Sprintf("must be one of %d", q.Pieces))
	}
	if err := q.Asked.again(ctx, s, r); !errors.Is(err, errCaptured) {
		if err == nil {
			err = errNotAsked
		}
		return nil, err
	}
	of := sha256.Sum256(asked)
	reply := binary.LittleEndian.AppendUint64(of[:], uint64(piece))
	return append(binary.LittleEndian.AppendUint64(reply, uint64(c.rows.Load())), c.sums...), nil
}

// piece is the range of blocks of a piece, of second moments where the question is about these.
func (t *Table) piece(q *question, piece int) (first, last int) {
	switch q.Asked.Kind {
	case "hessian", "moments", "framed moments", "framed scatter", "framed hessian":
		return t.momentsLayout().piece(piece, q.Pieces)
	}
	return t.layout.piece(piece, q.Pieces)
}

// shard is a file as a worker knows it.
type shard struct {
	table  *Table
	rows   *lazily
	frames cache[*frameLengths]
}

// frameLengths are the norms of rows in a frame, as far as they are measured.
type frameLengths struct {
	length []float64
	rows   *lazily
}

// shards are the files that this process read last.
var shards = cache[*shard]{most: 4}

func openShard(q *question) (*shard, error) {
	f, err := rowfile.Open(q.Path)
	if err != nil {
		return nil, err
	}
	enc := q.Encoding.received()
	if f.Checksum() != q.Sum || f.Columns != enc.Columns {
		f.Close()
		return nil, check.Fail(check.ErrRowFile, "checksum of "+q.Path, f.Checksum(), fmt.Sprintf("must be %d: the worker has another file of that name", q.Sum))
	}
	t := newStored(f, enc)
	t.factors()
	s := &shard{table: t, frames: cache[*frameLengths]{most: 4}}
	s.rows = newLazily(f, func(g *reading, lo, hi int) error {
		if err := g.reader.Read(&g.chunk, lo, hi); err != nil {
			return err
		}
		domain := anyLabels()
		if err := domain.add(g.chunk.Labels, lo); err != nil {
			return err
		}
		return t.takeIn(&g.chunk, lo)
	})
	return s, nil
}

// sums are those that the question is asked of.
func (b *shard) sums(q *question) (*Sums, error) {
	t := *b.table
	t.stored = &stored{whole: b.table.stored, sparse: t.stored.sparse, outside: t.stored.outside, class: -1, measured: t.enc, rebounds: q.Rebounds, capture: new(capture), ready: b.rows.ensure}
	for _, r := range q.Rebounds {
		t.enc = t.enc.rebound(r[0], r[1])
	}
	loss, err := decodeLoss(q.Loss)
	return &Sums{t: &t, loss: loss, labelCentre: q.Labels[0], labelBound: q.Labels[1]}, err
}

// frame are the rows of s in a frame.
func (b *shard) frame(ctx context.Context, s *Sums, f Frame, rebounds [][2]float64) (*Framed, error) {
	r, err := s.Frame(ctx, nil, f)
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	if err := gob.NewEncoder(&key).Encode(struct {
		F Frame
		R [][2]float64
	}{f, rebounds}); err != nil {
		return nil, err
	}
	of, err := b.frames.get(key.String(), func() (*frameLengths, error) {
		m, err := s.Frame(ctx, nil, f)
		if err != nil {
			return nil, err
		}
		m.length = make([]float64, len(s.t.length))
		return &frameLengths{m.length, newLazily(b.table.stored.file, m.measurePart)}, nil
	})
	if err != nil {
		return nil, err
	}
	r.length = of.length
	s.t.stored.ready = func(lo, hi int) error {
		if err := b.rows.ensure(lo, hi); err != nil {
			return err
		}
		return of.rows.ensure(lo, hi)
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
// needn't be read.
func (r *Framed) blockLengths(edges []float64) error {
	t, c := r.s.t, r.s.t.stored.capture
	for b := c.first; b < c.last; b++ {
		lo, hi := b*t.layout.blockPersons, min((b+1)*t.layout.blockPersons, t.layout.n)
		if err := t.stored.ready(lo, hi); err != nil {
			return err
		}
		counts := make([]float64, len(edges)+1)
		r.count(counts, edges, r.length[lo:hi], lo)
		c.rows.Add(int64(hi - lo))
		c.take(counts)
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

// cache keeps the values that were made last.
type cache[V any] struct {
	lock sync.Mutex
	most int
	keys []string // the latest last
	of   []V
}

func (c *cache[V]) get(key string, create func() (V, error)) (V, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for i, k := range c.keys {
		if k == key {
			return c.of[i], nil
		}
	}
	v, err := create()
	if err != nil {
		return v, err
	}
	if len(c.keys) == c.most {
		c.keys, c.of = c.keys[1:], c.of[1:]
	}
	c.keys, c.of = append(c.keys, key), append(c.of, v)
	return v, nil
}
