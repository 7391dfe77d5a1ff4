package rows

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// stored is where the rows of a table lie that are in a file. All passes cut them into blocks
// and tiles as they cut rows in memory, and read these in parts of a few tiles. A part is a
// table in memory, and its sums are those that questions know: they add the same tiles, in the
// same order, to the same sums. So answers and their sensitivities are those of the same
// rows in memory, to the last bit.
//
// The rows were checked and measured when the file was opened, and a part is read through the
// checksums of that time: no other row than one that was measured gets into a sum. A file
// that can't be read, or has changed, makes the pass an error.
//
// In memory there are a row's length and, where a row is longer than the bound, its factor:
// 8 or 16 bytes a row.
type stored struct {
	lock    sync.Mutex
	whole   *stored // of which these are rows that follow one after the other; nil where there is a file
	file    *rowfile.File
	sparse  bool
	first   int   // row of the whole that is the table's first
	order   []int // rows of the file; nil if they follow one after the other
	outside []bool
	class   int         // labels are 1 if they are this class and 0 if not; −1 if they are as in the file
	labels  labelDomain // of rows of which these are a part

	of     *stored   // whose copy the file is, which stays while rows of it are to be copied
	remote elsewhere // where others read the rows; nil for this process
	task   *task     // of a worker: what it was asked; nil elsewhere
}

// source is where the rows are, once they follow one after the other.
func (s *stored) source(ctx context.Context) (file *rowfile.File, first int, err error) {
	root, first := s.root()
	root.lock.Lock()
	defer root.lock.Unlock()
	if root.order != nil {
		picked, err := root.picked(ctx)
		if err != nil {
			return nil, 0, err
		}
		root.file, root.order, root.of = picked, nil, nil
	}
	return root.file, first, nil
}

// picked are the rows of the file that are the table's.
func (s *stored) picked(ctx context.Context) (*rowfile.File, error) {
	if s.remote != nil {
		f, remove, err := s.remote.copy(ctx, s.file, s.order)
		if err == nil {
			runtime.AddCleanup(s, func(remove func()) { remove() }, remove)
		}
		return f, err
	}
	return s.file.Pick(ctx, s.order)
}

// root is the whole that is no part of another one, and where s begins there.
func (s *stored) root() (root *stored, first int) {
	for root = s; root.whole != nil; root = root.whole {
		first += root.first
	}
	return root, first
}

// derived are the same rows, for who makes others of them.
func (s *stored) derived() *stored {
	return &stored{whole: s, sparse: s.sparse, outside: s.outside, class: s.class, labels: s.labels, remote: s.remote}
}

// pick returns the place of the given rows, in that order, which have these owners. They are
// copied to a scratch file when they are first read, unless they follow one after the other.
func (s *stored) pick(order []int, o *blocks.Persons) *stored {
	if s == nil {
		return nil
	}
	p := s.derived()
	p.outside = blocks.Gather(s.outside, order)
	if s.remote != nil {
		p.remote = s.remote.of(len(order), nil)
	}
	consecutive := len(order) > 0
	for k, i := range order {
		consecutive = consecutive && i == order[0]+k
	}
	root, first := s.root()
	if consecutive && (s.remote == nil || root.remote.tells(first+order[0], o)) {
		p.first = order[0]
		return p
	}
	root.lock.Lock()
	defer root.lock.Unlock()
	p.whole, p.of, p.file, p.order = nil, root, root.file, slices.Clone(order)
	for k := range p.order {
		if p.order[k] += first; root.order != nil {
			p.order[k] = root.order[p.order[k]]
		}
	}
	if s.remote != nil {
		p.remote = s.remote.of(len(order), o)
	}
	return p
}

// partNumbers is how many numbers a part has, roughly: 256 KiB.
const partNumbers = 1 << 15

// partRows is how many rows a part has: whole tiles.
func (t *Table) partRows(tileRows int) int {
	width := t.enc.Columns
	if k := t.stored.task; k != nil && len(k.steps) > 0 { // rows that are projected are longer
		width = max(width, k.measured.Columns)
	}
	if t.isSparse() {
		width = min(width, partNumbers/512)
	}
	return max(partNumbers/width/tileRows, 1) * tileRows
}

// reading is what one goroutine needs to read parts.
type reading struct {
	reader *rowfile.Reader
	first  int // of the table's rows
	chunk  rowfile.Chunk
	norm   []float64
	mapped []float64 // labels under a loss
	signed []float64 // norms with their signs
}

// part returns the rows [lo, hi) as a table in memory, good until the next call.
func (t *Table) part(g *reading, lo, hi int) (*part, error) {
	c, n, enc, k := &g.chunk, hi-lo, t.enc, t.stored.task
	if k != nil {
		enc = k.measured
	}
	if err := g.reader.Read(c, g.first+lo, g.first+hi); err != nil {
		return nil, err
	}
	p := &Table{enc: enc, length: t.length[lo:hi], Persons: t.Persons.Part(lo, hi), from: lo, workspaces: t.workspaces}
	p.layout = blocks.Layout{N: n, TileRows: t.layout.TileRows, BlockPersons: n, Blocks: 1, Persons: p.Persons}
	if t.shrink != nil {
		p.shrink = t.shrink[lo:hi]
	}
	g.norm = room(g.norm, n)
	for k, length := range p.length {
		g.norm[k] = enc.NormBound(length)
	}
	p.norm = g.norm
	var err error
	if p.src, err = t.stored.clamped(&enc, c, lo); err != nil {
		return nil, err
	}
	of := &part{Table: p, reading: g, labels: t.stored.relabelled(c.Labels)}
	if k != nil {
		err = k.made(of, g.reader.File(), c)
	}
	return of, err
}

// clamped is the source of a part that begins at row lo.
func (s *stored) clamped(e *encoding.Encoding, c *rowfile.Chunk, lo int) (_ source, err error) {
	src := chunkSource(e.Columns, c)
	if of, ok := src.(sparseSource); ok {
		of.Values, err = e.AdmitSparse(of.Entries)
		return of, err
	}
	if s.outside != nil {
		return clampedSource{src, e.Min, e.Max, s.outside[lo : lo+c.Rows]}, nil
	}
	return src, nil
}

func chunkSource(columns int, c *rowfile.Chunk) source {
	if len(c.Indptr) == c.Rows+1 {
		return sparseSource{columns, encoding.Entries{Start: c.Indptr[:c.Rows], End: c.Indptr[1:], Indices: c.Indices, Values: c.Values}}
	}
	return denseSource{m: blas64.General{Rows: c.Rows, Cols: columns, Stride: columns, Data: c.Values}}
}

// relabelled are the labels of rows of which one class stands against all others.
func (s *stored) relabelled(labels []float64) []float64 {
	if s.class >= 0 {
		for i, y := range labels {
			labels[i] = 0
			if y == float64(s.class) {
				labels[i] = 1
			}
		}
	}
	return labels
}

// reader is an accumulator and what is needed to read for it.
type reader[A any] struct {
	a A
	*reading
}

// readings are kept from pass to pass.
var readings = sync.Pool{New: func() any { return &reading{reader: new(rowfile.Reader)} }}

// newReading is one of a file's rows from first on.
func newReading(f *rowfile.File, first int) *reading {
	g := readings.Get().(*reading)
	g.reader.Reset(f)
	g.first = first
	return g
}

// inParts is InOrder for the blocks from begins up to ends of rows in a file: it calls work for the
// parts of each, in their order.
func inParts[A any](ctx context.Context, t *Table, l blocks.Layout, begins, ends, ahead int, acquire func() A, release, begin func(a A), work func(a A, p *part), merge func(a A)) error {
	file, first, err := t.stored.source(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs, most := make([]error, ends-begins), t.partRows(l.TileRows)
	err = blocks.InOrder(ctx, ends-begins, ahead,
		func() *reader[A] { return &reader[A]{acquire(), newReading(file, first)} },
		func(r *reader[A]) {
			release(r.a)
			readings.Put(r.reading)
		},
		func(b int, r *reader[A]) {
			begin(r.a)
			lo, hi := l.Rows(begins + b)
			if k := t.stored.task; k != nil && k.bounds != nil {
				lo, hi = k.bounds[begins+b], k.bounds[begins+b+1]
			}
			for ; lo < hi && ctx.Err() == nil; lo += most {
				p, err := t.readyPart(r.reading, lo, min(lo+most, hi))
				if err != nil {
					errs[b] = err
					stop()
					return
				}
				work(r.a, p)
			}
		},
		func(_ int, r *reader[A]) { merge(r.a) })
	return cmp.Or(append(errs, err)...)
}

// readyPart is part, of rows that were measured.
func (t *Table) readyPart(g *reading, lo, hi int) (*part, error) {
	if k := t.stored.task; k != nil {
		if err := k.ready(lo, hi); err != nil {
			return nil, err
		}
		k.counted.Add(int64(hi - lo))
	}
	return t.part(g, lo, hi)
}
