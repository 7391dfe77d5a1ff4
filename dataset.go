package dpglm

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/table"
)

// Dataset is a table of bounded rows. It keeps a reference to the caller's
// matrix, which it never changes and which must not be changed while the
// Dataset is in use. It prints its shape only. It is safe for concurrent use.
type Dataset struct {
	data  *curator.Data
	facts Facts
}

// NewDataset checks x, n×d, and the n labels y, and bounds the rows by the
// facts. It reads the matrix once. A [Sparse], a table.CSR and a mat.Dense are read where
// they lie, a type that declares a mat.RowNonZeroDoer's method itself is compressed once,
// and any other mat.Matrix is read element by element, so that a type which embeds
// one of these may override At.
//
// Each row is a person's only one, unless [Persons] are given with it; rows may have
// [Weights] and [Offsets], too.
//
// It fails where sizes don't fit (ErrShape), the facts break their rules (ErrBound, ErrSchema), or
// a value isn't finite (ErrValue); whether labels suit a loss is checked when one is given.
// Its errors are those of intake: they may depend on the data (they name the row, counted
// from 1 as package table does, and the column, never a value), and are for the curator's
// eyes only.
func NewDataset(x mat.Matrix, y []float64, facts Facts, more ...RowDetail) (*Dataset, error) {
	x, columns, err := raw(x)
	if err != nil {
		return nil, err
	}
	if facts, err = ownFacts(facts); err != nil {
		return nil, err
	}
	centre, bound, err := facts.labels()
	if err != nil {
		return nil, err
	}
	enc, err := facts.encoding(columns)
	if err != nil {
		return nil, err
	}
	data, err := curator.Open(x, y, enc, centre, bound)
	if err != nil {
		return nil, err
	}
	if data, err = apply(data, more); err != nil {
		return nil, err
	}
	return &Dataset{data, facts}, nil
}

// raw returns the matrix that curator reads in place of x, and its columns.
func raw(x mat.Matrix) (mat.Matrix, int, error) {
	switch s := x.(type) {
	case *Sparse:
		if s != nil && s.matrix != nil {
			x = s.matrix
		}
	case *table.CSR:
		if s != nil {
			m, err := NewSparse(s.Rows, s.Cols, s.Indptr, s.Indices, s.Values)
			if err != nil {
				return nil, 0, err
			}
			x = m.matrix
		}
	}
	columns, err := curator.Columns(x)
	return x, columns, err
}

// Shape returns the data set's public facts.
func (d *Dataset) Shape() Shape {
	if d == nil || d.data == nil {
		return Shape{}
	}
	return shapeOf(d.data)
}

func shapeOf(d *curator.Data) Shape {
	f := d.Facts()
	return Shape{Rows: f.Rows, Dim: f.Dim, Intercept: f.Intercept, FeatureBound: f.FeatureBound, LabelCentre: f.LabelCentre, LabelBound: f.LabelBound,
		PersonRows: f.PersonRows, PersonsOccur: f.PersonsOccur, Weighted: f.Weighted, OffsetRange: f.Offsets}
}

// given refuses a data set or a context that is missing, and a cancelled one.
func (d *Dataset) given(ctx context.Context) error {
	if d == nil || d.data == nil {
		return check.Fail(ErrConfig, "dataset", nil, "must be made by NewDataset")
	}
	if ctx == nil {
		return check.Fail(ErrConfig, "context", nil, "must not be nil")
	}
	return check.Cancelled(ctx)
}

// whole is given for what asks more of the rows than several parties answer.
func (d *Dataset) whole(ctx context.Context) error {
	if err := d.given(ctx); err != nil {
		return err
	}
	return ofOneParty(d.data)
}

// ofOneParty refuses rows that several parties hold.
func ofOneParty(d *curator.Data) error {
	if d.Parties() {
		return check.Fail(ErrConfig, "dataset", nil, "must have its rows with one party: several answer NoisyGD's questions only")
	}
	return nil
}

// Format prints the shape, whatever the verb: fmt would print the rows.
func (d *Dataset) Format(f fmt.State, _ rune) {
	s := d.Shape()
	fmt.Fprintf(f, "dpglm.Dataset of %s × %d weights", s.units(s.Rows), s.Dim)
}

// levels finds, once it is asked, the columns of each group of levels.
func (d *Dataset) levels() func() [][]int {
	return sync.OnceValue(func() [][]int { return levelsOf(d.facts) })
}
