package dpglm

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/losses"
)

// Facts are public facts about a matrix's columns and its labels: Bounds or a
// Schema. They must not be derived from the data.
type Facts interface {
	encoding(columns int) (rows.Encoding, error)
	labelBound() float64
}

// Bounds are the plainest facts: a bound on each row's norm.
type Bounds struct {
	// Feature bounds each row's L2 norm; longer rows are scaled down to it.
	Feature float64 `json:"feature"`
	// Label bounds |y| for real labels and y for counts, which are clamped to
	// it. Binary losses don't read it; 0 means not given.
	Label float64 `json:"label,omitempty"`
	// Intercept appends the constant 1 to each row.
	Intercept bool `json:"intercept,omitempty"`
}

func (b Bounds) labelBound() float64 { return b.Label }

func (b Bounds) encoding(columns int) (rows.Encoding, error) {
	if err := check.Bound("Bounds.Feature", b.Feature); err != nil {
		return rows.Encoding{}, err
	}
	return rows.NewIdentity(columns, b.Feature, b.Intercept), nil
}

// Schema describes each column: numeric ranges, mapped linearly to [−1, 1], and
// groups of one-hot columns. With p numeric columns and g groups, a row's norm
// is at most √(p+g) however many columns the groups have; it is enforced.
type Schema struct {
	// Columns are the names of the matrix's columns, in their order.
	Columns []string `json:"columns"`
	// Numeric gives the public range [min, max] of a column; values outside
	// are clamped.
	Numeric map[string][2]float64 `json:"numeric,omitempty"`
	// OneHot gives the columns of each group, of which a row has at most one
	// equal to 1 and the others 0.
	OneHot map[string][]string `json:"onehot,omitempty"`
	// Label and Intercept are as in Bounds.
	Label     float64 `json:"label,omitempty"`
	Intercept bool    `json:"intercept,omitempty"`
}

func (s Schema) labelBound() float64 { return s.Label }

func (s Schema) encoding(columns int) (rows.Encoding, error) {
	if len(s.Columns) != columns {
		return rows.Encoding{}, check.Fail(ErrSchema, "len(Schema.Columns)", len(s.Columns), fmt.Sprintf("must equal the %d columns of the matrix", columns))
	}
	return rows.NewSchema(s.Columns, s.Numeric, s.OneHot, s.Intercept)
}

// Dataset is a table of bounded rows. It keeps a reference to the caller's
// matrix, which it never changes and which must not be changed while the
// Dataset is in use. It is safe for concurrent use.
type Dataset struct {
	table     *rows.Table
	labels    []float64
	facts     Facts
	projected *projection // the last one, where a search keeps it; else nil
}

// Sparse is a matrix in compressed sparse rows, which NewDataset and a Model read
// without making it dense.
type Sparse = rows.Sparse

// NewSparse makes a Sparse: row i has values[indptr[i]:indptr[i+1]] in the columns
// indices[indptr[i]:indptr[i+1]], which increase strictly. The slices are kept,
// not copied.
func NewSparse(nrows, ncols int, indptr, indices []int, values []float64) (*Sparse, error) {
	return rows.NewSparse(nrows, ncols, indptr, indices, values)
}

// NewDataset checks x, n×d, and the n labels y, and bounds the rows by the
// facts. It reads the matrix once. Sparse and gonum's dense matrices are read
// where they lie, a mat.RowNonZeroDoer is compressed once, and any other
// mat.Matrix works, element by element.
func NewDataset(x mat.Matrix, y []float64, facts Facts) (*Dataset, error) {
	if x == nil {
		return nil, check.Fail(ErrConfig, "x", nil, "must not be nil")
	}
	facts, err := ownFacts(facts)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if n != len(y) {
		return nil, check.Fail(ErrShape, "len(y)", len(y), fmt.Sprintf("must equal the %d rows of x", n))
	}
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, check.Fail(ErrValue, fmt.Sprintf("label of row %d", i), nil, "must be finite")
		}
	}
	if b := facts.labelBound(); b != 0 {
		if err := check.Bound("label bound", b); err != nil {
			return nil, err
		}
	}
	enc, err := facts.encoding(d)
	if err != nil {
		return nil, err
	}
	table, err := rows.NewTable(x, enc)
	if err != nil {
		return nil, err
	}
	return &Dataset{table: table, labels: slices.Clone(y), facts: facts}, nil
}

// ownFacts returns a copy of the facts that the caller cannot change.
func ownFacts(facts Facts) (Facts, error) {
	switch f := facts.(type) {
	case Bounds:
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
	e := d.table.Encoding()
	return Shape{Rows: d.table.Rows(), Dim: e.Dim(), Intercept: e.Intercept, FeatureBound: e.FeatureBound(), LabelBound: d.facts.labelBound()}
}

// sums binds the labels to a loss.
func (d *Dataset) sums(loss losses.Loss) (*rows.Sums, error) {
	return rows.NewSums(d.table, d.labels, d.facts.labelBound(), loss)
}

// pick returns the data set of the given rows.
func (d *Dataset) pick(order []int) *Dataset {
	labels := make([]float64, len(order))
	for k, i := range order {
		labels[k] = d.labels[i]
	}
	return &Dataset{table: d.table.Pick(order), labels: labels, facts: d.facts}
}
