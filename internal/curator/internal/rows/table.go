package rows

import (
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// Table is a matrix whose rows are bounded: row i enters every computation as
// its encoding times shrink[i]. The matrix itself is neither copied nor
// changed, and must not change while the Table is in use.
type Table struct {
	Enc     encoding.Encoding
	Src     source
	Layout  blocks.Layout
	Shrink  []float64       // factor ≤ 1 that brings a row to the bound; nil if all are 1
	Length  []float64       // norm of the bounded row without the constant feature
	Norm    []float64       // bound on it with the constant feature: Encoding.normBound
	Persons *blocks.Persons // whose the rows are; nil if each is a person's only one

	Place *Place // where the rows are if they lie in a file: then src and norm are nil, as are a loss's labels
	From  int    // of a part of such rows: the first one's number

	Workspaces *sync.Pool
}

// NewTable checks and bounds the rows of x. The error names the first bad row
// and column, and is for the curator's eyes.
func NewTable(x mat.Matrix, enc encoding.Encoding) (*Table, error) {
	n, d, err := Dims(x)
	if err != nil {
		return nil, err
	}
	if d != enc.Columns {
		return nil, check.Fail(check.ErrShape, "columns of the matrix", d, fmt.Sprintf("must equal the %d described", enc.Columns))
	}
	src, err := newSource(x, n, d)
	if err != nil {
		return nil, err
	}
	return NewOfSource(src, n, enc)
}

func NewOfSource(src source, n int, enc encoding.Encoding) (*Table, error) {
	t := &Table{Enc: enc, Src: src, Shrink: make([]float64, n), Length: make([]float64, n), Norm: make([]float64, n), Workspaces: new(sync.Pool)}
	t.Layout = blocks.NewLayout(n, enc.Columns, t.IsSparse(), nil)
	if sp, ok := src.(SparseSource); ok {
		var err error
		if sp.Values, err = enc.AdmitSparse(sp.Entries); err != nil {
			return nil, err
		}
		t.Src = sp
	}
	outside, err := t.intake()
	if err != nil {
		return nil, err
	}
	if slices.Min(t.Shrink) == 1 {
		t.Shrink = nil
	}
	if slices.Contains(outside, true) {
		t.Src = clampedSource{t.Src, enc.Min, enc.Max, outside}
	}
	return t, nil
}

func (t *Table) IsSparse() bool {
	_, ok := t.Src.(SparseSource)
	return ok || t.Place != nil && t.Place.Sparse
}

// Pick returns the table of the given persons' rows, in that order. It copies O(1)
// numbers a row.
func (t *Table) Pick(persons []int) *Table {
	return t.arrange(len(persons), t.Persons.RowsOf(persons), t.Persons.Pick(persons))
}

// arrange returns the table of the given rows of n persons, in that order.
func (t *Table) arrange(n int, order []int, o *blocks.Persons) *Table {
	p := &Table{Enc: t.Enc, Shrink: blocks.Gather(t.Shrink, order), Length: blocks.Gather(t.Length, order), Norm: blocks.Gather(t.Norm, order), Persons: o, Workspaces: t.Workspaces}
	if p.Place = t.Place.pick(order, o); p.Place == nil {
		p.Src = t.Src.pick(order)
	}
	p.Layout = blocks.NewLayout(n, t.Enc.Columns, p.IsSparse(), o)
	return p
}

// Len is the number of persons, which is public: that of rows where each is a person's only
// one.
func (t *Table) Len() int { return t.Layout.N }

// Encoding is how rows become features.
func (t *Table) Encoding() *encoding.Encoding { return &t.Enc }

// Buffer returns a buffer for the tiles of t.
func (t *Table) Buffer() []float64 {
	if t.IsSparse() {
		return nil
	}
	return make([]float64, t.Layout.TileRows*t.Enc.Columns)
}

// Encode writes row k of a tile that starts at row lo, encoded and bounded, to
// dst, which has Dim numbers.
func (t *Table) Encode(dst []float64, tile Tile, lo, k int) {
	tile.copyRow(dst[:t.Enc.Columns], k)
	t.Enc.Bounded(dst, Factor(t.Shrink, lo+k))
}

// Factor is row i's of factors that are nil if all are 1.
func Factor(factors []float64, i int) float64 {
	if factors == nil {
		return 1
	}
	return factors[i]
}
