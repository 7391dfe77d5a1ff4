package rows

import (
	"cmp"
	"context"
	"errors"
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
	t := newStored(f, enc)
	if err := t.intakeStored(ctx, f); err != nil {
		return nil, err
	}
	if !slices.Contains(t.stored.outside, true) {
		t.stored.outside = nil
	}
	return t, nil
}

// newStored is the table before its rows are measured.
func newStored(f *rowfile.File, enc encoding.Encoding) *Table {
	n := f.Rows
	t := &Table{enc: enc, stored: &stored{file: f, sparse: f.Sparse, class: -1, labels: anyLabels()}, workspaces: new(sync.Pool),
		length: make([]float64, n)}
	t.layout = blocks.NewLayout(n, enc.Columns, f.Sparse, nil)
	if enc.Min != nil && !f.Sparse {
		t.stored.outside = make([]bool, n)
	}
	return t
}

// intakeStored measures the rows block by block of the file.
func (t *Table) intakeStored(ctx context.Context, f *rowfile.File) error {
	type taking struct {
		reader *rowfile.Reader
		chunk  rowfile.Chunk
		labels labelDomain
	}
	errs := make([]error, f.Blocks())
	going, stop := context.WithCancel(ctx)
	defer stop()
	err := blocks.InOrder(going, f.Blocks(), 0, func() *taking { return &taking{reader: f.Reader()} }, func(*taking) {},
		func(b int, g *taking) {
			lo := b * f.BlockRows
			if errs[b] = check.Cancelled(ctx); errs[b] == nil {
				errs[b] = g.reader.Read(&g.chunk, lo, min(lo+f.BlockRows, f.Rows))
			}
			if errs[b] == nil {
				errs[b] = t.takeIn(&g.chunk, lo)
			}
			if g.labels = anyLabels(); errs[b] == nil {
				errs[b] = g.labels.add(g.chunk.Labels, lo)
			}
			if errs[b] != nil {
				stop()
			}
		},
		func(_ int, g *taking) { t.stored.labels.merge(g.labels) })
	return cmp.Or(append(errs, err)...)
}

// takeIn measures the rows of a chunk, which begins at row lo, as a table of their own.
func (t *Table) takeIn(c *rowfile.Chunk, lo int) error {
	enc := t.enc
	enc.From = lo
	p, err := newTable(chunkSource(enc.Columns, c), c.Rows, enc)
	if err != nil {
		return err
	}
	copy(t.length[lo:], p.length)
	if p.shrink != nil {
		t.factors()
		copy(t.shrink[lo:], p.shrink)
	}
	if of, ok := p.src.(clampedSource); ok {
		copy(t.stored.outside[lo:], of.outside)
	}
	return nil
}

// factors makes room for those of all rows, which are 1 unless they are set.
func (t *Table) factors() {
	t.stored.lock.Lock()
	defer t.stored.lock.Unlock()
	if t.shrink == nil {
		t.shrink = make([]float64, len(t.length))
		for i := range t.shrink {
			t.shrink[i] = 1
		}
	}
}

// checkLabels refuses labels outside of a kind's domain.
// It reads labels only where one is outside, to say which.
func (t *Table) checkLabels(kind losses.Labels) error {
	fits := func(d labelDomain) bool {
		switch kind {
		case losses.Binary:
			return d.binary
		case losses.Count, losses.Amount:
			return d.least >= 0
		}
		return true
	}
	return t.eachLabel(context.Background(), fits, func(i int, y float64) error {
		if _, ok := mapLabel(kind, y, 0, 0); !ok {
			return check.Fail(check.ErrLabel, fmt.Sprintf("label of row %d (counted from 1)", i+1), nil, labelRule(kind))
		}
		return nil
	})
}

// eachLabel calls f for each label unless all labels fit.
func (t *Table) eachLabel(ctx context.Context, fit func(labelDomain) bool, f func(i int, y float64) error) error {
	domain := t.stored.labels
	if t.stored.class >= 0 {
		domain = labelDomain{binary: true, whole: true, least: 0, most: 1}
	}
	if fit(domain) {
		return nil
	}
	if t.elsewhere() {
		return check.Fail(check.ErrLabel, "labels of the file", nil, "must all be in the loss's domain")
	}
	labels, err := t.Labels(ctx)
	for i, y := range labels {
		if err == nil {
			err = f(i, y)
		}
	}
	return err
}

// Labels reads the labels of rows in a file.
func (t *Table) Labels(ctx context.Context) ([]float64, error) {
	labels := make([]float64, len(t.length))
	err := t.pass(ctx, nil, func(p *part) adder {
		copy(labels[p.from:], p.labels)
		return func(*workspace, tile, int) {}
	})
	return labels, err
}

// Against returns the rows in a file with labels of 1 for those of a class and 0 for others.
func (t *Table) Against(class int) *Table {
	of := *t
	of.stored = t.stored.derived()
	of.stored.class = class
	return &of
}

// Stored reports whether the rows lie in a file.
func (t *Table) Stored() bool { return t.stored != nil }

// Rows is the number of rows, which is private where persons have several.
func (t *Table) Rows() int {
	if t.elsewhere() {
		return t.stored.remote.rows()
	}
	return len(t.length)
}

// Parties reports whether parties hold the rows, who answer with sums of gradients only.
func (t *Table) Parties() bool { return t.elsewhere() && t.stored.remote.gradientsOnly() }

// Close closes the file.
func (t *Table) Close() error {
	root, _ := t.stored.root()
	root.lock.Lock()
	defer root.lock.Unlock()
	var err error
	if root.remote != nil {
		err = root.remote.close()
	}
	if root.file == nil { // of parties
		return err
	}
	return errors.Join(root.file.Close(), err)
}
