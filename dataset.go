package dpglm

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/table"
)

// Facts are public facts about a matrix's columns and its labels: Bounds or a
// Schema. They must not be derived from the data.
type Facts interface {
	encoding(columns int) (curator.Encoding, error)
	// labels returns the middle of the labels' public range and half its width, 0 and
	// 0 where none was given.
	labels() (centre, bound float64, err error)
	intercept() bool
}

// Bounds are the plainest facts: a bound on each row's norm.
type Bounds struct {
	// Feature bounds each row's L2 norm; longer rows are scaled down to it. There is no
	// default.
	Feature float64 `json:"feature"`
	// LabelRange is the public range [lo, hi] that labels are clamped to; zeros mean
	// not given. Learners see real labels less its middle, and predictions are on the
	// labels' own scale: a range on one side of 0 makes half the noise that a bound
	// does, as far as noise grows with the bound. That of counts and amounts must begin at 0.
	// Binary losses don't read it.
	LabelRange [2]float64 `json:"label_range,omitzero"`
	// Label Y is short for the range [−Y, Y] of real labels and [0, Y] of counts and amounts; 0
	// means not given. Only one of the two may be given.
	Label float64 `json:"label,omitempty"`
	// Intercept appends the constant 1 to each row.
	Intercept bool `json:"intercept,omitempty"`
}

func (b Bounds) labels() (centre, bound float64, err error) {
	return labelsIn("Bounds", b.Label, b.LabelRange)
}

func (b Bounds) intercept() bool { return b.Intercept }

func (b Bounds) encoding(columns int) (curator.Encoding, error) {
	if err := check.Bound("Bounds.Feature", b.Feature); err != nil {
		return curator.Encoding{}, err
	}
	return curator.NewIdentity(columns, b.Feature, b.Intercept), nil
}

// Schema describes each column: numeric ranges, mapped linearly to [−1, 1], and
// groups of one-hot columns. With p numeric columns and g groups, a row's norm
// is at most √(p+g) however many columns the groups have; it is enforced.
type Schema struct {
	// Columns are the names of the matrix's columns, in their order; each is in Numeric or in one
	// group of OneHot.
	Columns []string `json:"columns"`
	// Numeric gives the public range [min, max] of a column, within ±1e60; values outside
	// are clamped.
	Numeric map[string][2]float64 `json:"numeric,omitempty"`
	// OneHot gives the columns of each group, of which a row has at most one
	// equal to 1 and the others 0; any other value is an error, in training and
	// in prediction.
	OneHot map[string][]string `json:"onehot,omitempty"`
	// LabelRange, Label and Intercept are as in Bounds.
	LabelRange [2]float64 `json:"label_range,omitzero"`
	Label      float64    `json:"label,omitempty"`
	Intercept  bool       `json:"intercept,omitempty"`
}

func (s Schema) labels() (centre, bound float64, err error) {
	return labelsIn("Schema", s.Label, s.LabelRange)
}

func (s Schema) intercept() bool { return s.Intercept }

func (s Schema) encoding(columns int) (curator.Encoding, error) {
	if len(s.Columns) != columns {
		return curator.Encoding{}, check.Fail(ErrSchema, "len(Schema.Columns)", len(s.Columns), fmt.Sprintf("must equal the %d columns of the matrix", columns))
	}
	return curator.NewSchema(s.Columns, s.Numeric, s.OneHot, s.Intercept)
}

// labelsIn returns the middle of the labels' range and half its width. Rounding may
// move the ends a little: labels are held to the range that the two numbers make.
func labelsIn(facts string, bound float64, ends [2]float64) (float64, float64, error) {
	lo, hi := ends[0], ends[1]
	switch {
	case ends == [2]float64{} && bound == 0:
		return 0, 0, nil
	case ends == [2]float64{}:
		return 0, bound, check.Bound("label bound", bound)
	case bound != 0:
		return 0, 0, check.Fail(ErrBound, facts+".LabelRange", ends, "must not be given beside Label")
	case !(lo < hi && -lo <= check.MaxScale && hi <= check.MaxScale):
		return 0, 0, check.Fail(ErrBound, facts+".LabelRange", ends, fmt.Sprintf("must be two numbers within ±%g, the first below the second", check.MaxScale))
	}
	return (lo + hi) / 2, (hi - lo) / 2, check.Bound("half the width of "+facts+".LabelRange", (hi-lo)/2)
}

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

// ownFacts returns a copy of the facts that the caller cannot change.
func ownFacts(facts Facts) (Facts, error) {
	switch f := facts.(type) {
	case Bounds, tableFacts:
		return f, nil
	case Schema:
		f.Columns = slices.Clone(f.Columns)
		f.Numeric = maps.Clone(f.Numeric)
		f.OneHot = maps.Clone(f.OneHot)
		for group, names := range f.OneHot {
			f.OneHot[group] = slices.Clone(names)
		}
		return f, nil
	}
	return nil, check.Fail(ErrConfig, "facts", fmt.Sprintf("%T", facts), "must be a Bounds or a Schema")
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
