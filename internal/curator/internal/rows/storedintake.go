package rows

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/losses"
)

// NewStored checks and bounds the rows of a file, all of which it reads once, as NewTable does
// those of a matrix, and their labels, which must be finite. A context that is cancelled stops it
// within a block.
func NewStored(ctx context.Context, f *rowfile.File, enc encoding.Encoding) (*Table, error) {
	if f.Columns != enc.Columns {
		return nil, check.Fail(check.ErrShape, "columns of the file", f.Columns, fmt.Sprintf("must equal the %d described", enc.Columns))
	}
	t := NewUnmeasured(f, enc)
	if err := intakeStored(ctx, t, f); err != nil {
		return nil, err
	}
	if !slices.Contains(t.Place.Outside, true) {
		t.Place.Outside = nil
	}
	return t, nil
}

// newStored is the table before its rows are measured.
func NewUnmeasured(f *rowfile.File, enc encoding.Encoding) *Table {
	n := f.Rows
	t := &Table{Enc: enc, Place: &Place{File: f, Sparse: f.Sparse, Class: -1, Labels: AnyLabels()}, Workspaces: new(sync.Pool),
		Length: make([]float64, n)}
	t.Layout = blocks.NewLayout(n, enc.Columns, f.Sparse, nil)
	if enc.Min != nil && !f.Sparse {
		t.Place.Outside = make([]bool, n)
	}
	return t
}

// intakeStored measures the rows block by block of the file.
func intakeStored(ctx context.Context, t *Table, f *rowfile.File) error {
	type taking struct {
		reader *rowfile.Reader
		chunk  rowfile.Chunk
		labels LabelDomain
	}
	errs := make([]error, f.Blocks())
	going, stop := context.WithCancel(ctx)
	defer stop()
	err := blocks.InOrder(going, f.Blocks(), 0, func() *taking { return &taking{reader: f.Reader()} }, func(*taking) {},
		func(b int, g *taking) {
			lo, hi := f.Block(b)
			if errs[b] = check.Cancelled(ctx); errs[b] == nil {
				errs[b] = g.reader.Read(&g.chunk, lo, hi)
			}
			if errs[b] == nil {
				errs[b] = TakeIn(t, &g.chunk, lo)
			}
			if g.labels = AnyLabels(); errs[b] == nil {
				errs[b] = g.labels.Add(g.chunk.Labels, lo)
			}
			if errs[b] != nil {
				stop()
			}
		},
		func(_ int, g *taking) { t.Place.Labels.merge(g.labels) })
	return cmp.Or(append(errs, err)...)
}

// TakeIn measures the rows of a chunk, which begins at row lo, as a table of their own.
func TakeIn(t *Table, c *rowfile.Chunk, lo int) error {
	enc := t.Enc
	enc.From = lo
	p, err := NewOfSource(chunkSource(enc.Columns, c), c.Rows, enc)
	if err != nil {
		return err
	}
	copy(t.Length[lo:], p.Length)
	if p.Shrink != nil {
		MakeFactors(t)
		copy(t.Shrink[lo:], p.Shrink)
	}
	if of, ok := p.Src.(clampedSource); ok {
		copy(t.Place.Outside[lo:], of.outside)
	}
	return nil
}

// MakeFactors makes room for those of all rows, which are 1 unless they are set.
func MakeFactors(t *Table) {
	t.Place.lock.Lock()
	defer t.Place.lock.Unlock()
	if t.Shrink == nil {
		t.Shrink = make([]float64, len(t.Length))
		for i := range t.Shrink {
			t.Shrink[i] = 1
		}
	}
}

// CheckLabels refuses labels outside of a kind's domain.
// It reads labels only where one is outside, to say which.
func CheckLabels(t *Table, kind losses.Labels) error {
	fits := func(d LabelDomain) bool {
		switch kind {
		case losses.Binary:
			return d.Binary
		case losses.Count, losses.Amount:
			return d.Least >= 0
		}
		return true
	}
	return EachLabel(context.Background(), t, fits, func(i int, y float64) error {
		if _, ok := MapLabel(kind, y, 0, 0); !ok {
			return check.Fail(check.ErrLabel, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, LabelRule(kind))
		}
		return nil
	})
}

// EachLabel calls f for each label unless all labels fit.
func EachLabel(ctx context.Context, t *Table, fit func(LabelDomain) bool, f func(i int, y float64) error) error {
	domain := t.Place.Labels
	if t.Place.Class >= 0 {
		domain = LabelDomain{Binary: true, Whole: true, Least: 0, Most: 1}
	}
	if fit(domain) {
		return nil
	}
	if t.Place.Elsewhere() {
		return check.Fail(check.ErrLabel, "labels of the file", nil, "must all be in the loss's domain")
	}
	labels, err := ReadLabels(ctx, t)
	for i, y := range labels {
		if err == nil {
			err = f(i, y)
		}
	}
	return err
}

// ReadLabels reads the labels of rows in a file.
func ReadLabels(ctx context.Context, t *Table) ([]float64, error) {
	labels := make([]float64, len(t.Length))
	err := t.Pass(ctx, nil, func(p *Part) Adder {
		copy(labels[p.Table.From:], p.Labels)
		return func(*Workspace, Tile, int) {}
	})
	return labels, err
}

// Against returns the rows in a file with labels of 1 for those of a class and 0 for others.
func (t *Table) Against(class int) *Table {
	of := *t
	of.Place = t.Place.derived()
	of.Place.Class = class
	return &of
}

// Rows is the number of rows, which is private where persons have several.
func (t *Table) Rows() int {
	if t.Place.Elsewhere() {
		return t.Place.Remote.Rows()
	}
	return len(t.Length)
}
