package rows

import (
	"cmp"
	"context"
	"errors"
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
type Place struct {
	lock    sync.Mutex
	Whole   *Place // of which these are rows that follow one after the other; nil where there is a file
	File    *rowfile.File
	Sparse  bool
	First   int   // row of the whole that is the table's first
	order   []int // rows of the file; nil if they follow one after the other
	Outside []bool
	Class   int         // labels are 1 if they are this class and 0 if not; −1 if they are as in the file
	Labels  LabelDomain // of rows of which these are a part

	of     *Place    // whose copy the file is, which stays while rows of it are to be copied
	Remote Elsewhere // where others read the rows; nil for this process
	Task   *Task     // of a worker: what it was asked; nil elsewhere
}

// Source is where the rows are, once they follow one after the other.
func (s *Place) Source(ctx context.Context) (file *rowfile.File, first int, err error) {
	root, first := s.root()
	root.lock.Lock()
	defer root.lock.Unlock()
	if root.order != nil {
		picked, err := root.picked(ctx)
		if err != nil {
			return nil, 0, err
		}
		root.File, root.order, root.of = picked, nil, nil
	}
	return root.File, first, nil
}

// picked are the rows of the file that are the table's.
func (s *Place) picked(ctx context.Context) (*rowfile.File, error) {
	if s.Remote != nil {
		f, remove, err := s.Remote.Copy(ctx, s.File, s.order)
		if err == nil {
			runtime.AddCleanup(s, func(remove func()) { remove() }, remove)
		}
		return f, err
	}
	return s.File.Pick(ctx, s.order)
}

// root is the whole that is no part of another one, and where s begins there.
func (s *Place) root() (root *Place, first int) {
	for root = s; root.Whole != nil; root = root.Whole {
		first += root.First
	}
	return root, first
}

// derived are the same rows, for who makes others of them.
func (s *Place) derived() *Place {
	return &Place{Whole: s, Sparse: s.Sparse, Outside: s.Outside, Class: s.Class, Labels: s.Labels, Remote: s.Remote}
}

// pick returns the place of the given rows, in that order, which have these owners. They are
// copied to a scratch file when they are first read, unless they follow one after the other.
func (s *Place) pick(order []int, o *blocks.Persons) *Place {
	if s == nil {
		return nil
	}
	p := s.derived()
	p.Outside = blocks.Gather(s.Outside, order)
	if s.Remote != nil {
		p.Remote = s.Remote.Of(len(order), nil)
	}
	consecutive := len(order) > 0
	for k, i := range order {
		consecutive = consecutive && i == order[0]+k
	}
	root, first := s.root()
	if consecutive && (s.Remote == nil || root.Remote.Tells(first+order[0], o)) {
		p.First = order[0]
		return p
	}
	root.lock.Lock()
	defer root.lock.Unlock()
	p.Whole, p.of, p.File, p.order = nil, root, root.File, slices.Clone(order)
	for k := range p.order {
		if p.order[k] += first; root.order != nil {
			p.order[k] = root.order[p.order[k]]
		}
	}
	if s.Remote != nil {
		p.Remote = s.Remote.Of(len(order), o)
	}
	return p
}

// partNumbers is how many numbers a part has, roughly: 256 KiB.
const partNumbers = 1 << 15

// partRows is how many rows a part has: whole tiles.
func partRows(t *Table, tileRows int) int {
	width := t.Enc.Columns
	if k := t.Place.Task; k != nil && len(k.Steps) > 0 { // rows that are projected are longer
		width = max(width, k.Measured.Columns)
	}
	if t.IsSparse() {
		width = min(width, partNumbers/512)
	}
	return max(partNumbers/width/tileRows, 1) * tileRows
}

// Reading is what one goroutine needs to read parts.
type Reading struct {
	Reader *rowfile.Reader
	first  int // of the table's rows
	Chunk  rowfile.Chunk
	norm   []float64
	Mapped []float64 // labels under a loss
	Signed []float64 // norms with their signs
}

// ReadPart returns the rows [lo, hi) as a table in memory, good until the next call.
func ReadPart(t *Table, g *Reading, lo, hi int) (*Part, error) {
	c, n, enc, k := &g.Chunk, hi-lo, t.Enc, t.Place.Task
	if k != nil {
		enc = k.Measured
	}
	if err := g.Reader.Read(c, g.first+lo, g.first+hi); err != nil {
		return nil, err
	}
	p := &Table{Enc: enc, Length: t.Length[lo:hi], Persons: t.Persons.Part(lo, hi), From: lo, Workspaces: t.Workspaces}
	p.Layout = blocks.Layout{N: n, TileRows: t.Layout.TileRows, BlockPersons: n, Blocks: 1, Persons: p.Persons}
	if t.Shrink != nil {
		p.Shrink = t.Shrink[lo:hi]
	}
	g.norm = Room(g.norm, n)
	for k, length := range p.Length {
		g.norm[k] = enc.NormBound(length)
	}
	p.Norm = g.norm
	var err error
	if p.Src, err = t.Place.clamped(&enc, c, lo); err != nil {
		return nil, err
	}
	of := &Part{Table: p, Room: g, Labels: t.Place.relabelled(c.Labels)}
	if k != nil {
		err = k.made(of, g.Reader.File(), c)
	}
	return of, err
}

// clamped is the source of a part that begins at row lo.
func (s *Place) clamped(e *encoding.Encoding, c *rowfile.Chunk, lo int) (_ source, err error) {
	src := chunkSource(e.Columns, c)
	if of, ok := src.(SparseSource); ok {
		of.Values, err = e.AdmitSparse(of.Entries)
		return of, err
	}
	if s.Outside != nil {
		return clampedSource{src, e.Min, e.Max, s.Outside[lo : lo+c.Rows]}, nil
	}
	return src, nil
}

func chunkSource(columns int, c *rowfile.Chunk) source {
	if len(c.Indptr) == c.Rows+1 {
		return SparseSource{columns, encoding.Entries{Start: c.Indptr[:c.Rows], End: c.Indptr[1:], Indices: c.Indices, Values: c.Values}}
	}
	return DenseSource{M: blas64.General{Rows: c.Rows, Cols: columns, Stride: columns, Data: c.Values}}
}

// relabelled are the labels of rows of which one class stands against all others.
func (s *Place) relabelled(labels []float64) []float64 {
	if s.Class >= 0 {
		for i, y := range labels {
			labels[i] = 0
			if y == float64(s.Class) {
				labels[i] = 1
			}
		}
	}
	return labels
}

// reader is an accumulator and what is needed to read for it.
type reader[A any] struct {
	a A
	*Reading
}

// readings are kept from pass to pass.
var readings = sync.Pool{New: func() any { return &Reading{Reader: new(rowfile.Reader)} }}

// newReading is one of a file's rows from first on.
func newReading(f *rowfile.File, first int) *Reading {
	g := readings.Get().(*Reading)
	g.Reader.Reset(f)
	g.first = first
	return g
}

// InParts is InOrder for the blocks from begins up to ends of rows in a file: it calls work for the
// parts of each, in their order.
func InParts[A any](ctx context.Context, t *Table, l blocks.Layout, begins, ends, ahead int, acquire func() A, release, begin func(a A), work func(a A, p *Part), merge func(a A)) error {
	file, first, err := t.Place.Source(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs, most := make([]error, ends-begins), partRows(t, l.TileRows)
	err = blocks.InOrder(ctx, ends-begins, ahead,
		func() *reader[A] { return &reader[A]{acquire(), newReading(file, first)} },
		func(r *reader[A]) {
			release(r.a)
			readings.Put(r.Reading)
		},
		func(b int, r *reader[A]) {
			begin(r.a)
			lo, hi := l.Rows(begins + b)
			if k := t.Place.Task; k != nil && k.Bounds != nil {
				lo, hi = k.Bounds[begins+b], k.Bounds[begins+b+1]
			}
			for ; lo < hi && ctx.Err() == nil; lo += most {
				p, err := readyPart(t, r.Reading, lo, min(lo+most, hi))
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

// readyPart is ReadPart, of rows that were measured.
func readyPart(t *Table, g *Reading, lo, hi int) (*Part, error) {
	if k := t.Place.Task; k != nil {
		if err := k.Ready(lo, hi); err != nil {
			return nil, err
		}
		k.Counted.Add(int64(hi - lo))
	}
	return ReadPart(t, g, lo, hi)
}

// Part is a table in memory of rows that a pass adds up: all of those of a matrix, or some of a
// file's.
type Part struct {
	Table   *Table
	Room    *Reading
	Labels  []float64 // as they are in the file; nil for those of a matrix
	Offsets []float64 // that a worker reads
}

// Elsewhere reports whether other processes read the rows.
func (s *Place) Elsewhere() bool { return s != nil && s.Remote != nil }

// Parties reports whether several parties hold the rows.
func (s *Place) Parties() bool { return s.Elsewhere() && s.Remote.Several() }

// AsHeld reports whether rows elsewhere are those that are held there, as they are.
func (s *Place) AsHeld() bool { return s.Whole == nil && s.of == nil }

// Close closes the file, and the one that it was copied from, which is nil where that stays open.
func (s *Place) Close(from *rowfile.File) error {
	root, _ := s.root()
	root.lock.Lock()
	defer root.lock.Unlock()
	var err error
	if root.Remote != nil {
		err = root.Remote.Close()
	}
	if root.File == nil { // of parties
		return err
	}
	if from != nil && from != root.File {
		err = errors.Join(from.Close(), err)
	}
	return errors.Join(root.File.Close(), err)
}

// rebound notes a smaller bound for those who read the rows.
func (s *Place) rebound(bound, constant float64) *Place {
	if s == nil || s.Remote == nil {
		return s
	}
	return s.after(Step{Bound: bound, Constant: constant})
}

// byRows notes for those who read the rows that each counts alike.
func (s *Place) byRows(most int) *Place {
	if s == nil || s.Remote == nil {
		return s
	}
	return s.after(Step{ByRows: most})
}

// after are the rows that a step makes.
func (s *Place) after(next Step) *Place {
	of := s.derived()
	of.Remote = s.Remote.After(next)
	return of
}
