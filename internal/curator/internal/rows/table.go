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
	enc     encoding.Encoding
	src     source
	layout  blocks.Layout
	shrink  []float64       // factor ≤ 1 that brings a row to the bound; nil if all are 1
	length  []float64       // norm of the bounded row without the constant feature
	norm    []float64       // bound on it with the constant feature: Encoding.normBound
	Persons *blocks.Persons // whose the rows are; nil if each is a person's only one

	stored *stored // where the rows are if they lie in a file: then src and norm are nil, as are a loss's labels
	from   int     // of a part of such rows: the first one's number

	workspaces *sync.Pool
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
	return newTable(src, n, enc)
}

func newTable(src source, n int, enc encoding.Encoding) (*Table, error) {
	t := &Table{enc: enc, src: src, shrink: make([]float64, n), length: make([]float64, n), norm: make([]float64, n), workspaces: new(sync.Pool)}
	t.layout = blocks.NewLayout(n, enc.Columns, t.isSparse(), nil)
	if sp, ok := src.(sparseSource); ok {
		var err error
		if sp.Values, err = enc.AdmitSparse(sp.Entries); err != nil {
			return nil, err
		}
		t.src = sp
	}
	outside, err := t.intake()
	if err != nil {
		return nil, err
	}
	if slices.Min(t.shrink) == 1 {
		t.shrink = nil
	}
	if slices.Contains(outside, true) {
		t.src = clampedSource{t.src, enc.Min, enc.Max, outside}
	}
	return t, nil
}

func (t *Table) isSparse() bool {
	_, ok := t.src.(sparseSource)
	return ok || t.stored != nil && t.stored.sparse
}

// Pick returns the table of the given persons' rows, in that order. It copies O(1)
// numbers a row.
func (t *Table) Pick(persons []int) *Table {
	return t.arrange(len(persons), t.Persons.RowsOf(persons), t.Persons.Pick(persons))
}

// arrange returns the table of the given rows of n persons, in that order.
func (t *Table) arrange(n int, order []int, o *blocks.Persons) *Table {
	p := &Table{enc: t.enc, shrink: blocks.Gather(t.shrink, order), length: blocks.Gather(t.length, order), norm: blocks.Gather(t.norm, order), Persons: o, workspaces: t.workspaces}
	if p.stored = t.stored.pick(order, o); p.stored == nil {
		p.src = t.src.pick(order)
	}
	p.layout = blocks.NewLayout(n, t.enc.Columns, p.isSparse(), o)
	return p
}

// Len is the number of persons, which is public: that of rows where each is a person's only
// one.
func (t *Table) Len() int { return t.layout.N }

// Encoding is how rows become features.
func (t *Table) Encoding() *encoding.Encoding { return &t.enc }

// buffer returns a buffer for the tiles of t.
func (t *Table) buffer() []float64 {
	if t.isSparse() {
		return nil
	}
	return make([]float64, t.layout.TileRows*t.enc.Columns)
}

// encode writes row k of a tile that starts at row lo, encoded and bounded, to
// dst, which has Dim numbers.
func (t *Table) encode(dst []float64, rows tile, lo, k int) {
	rows.copyRow(dst[:t.enc.Columns], k)
	t.enc.Bounded(dst, factor(t.shrink, lo+k))
}

// factor is row i's of factors that are nil if all are 1.
func factor(factors []float64, i int) float64 {
	if factors == nil {
		return 1
	}
	return factors[i]
}

// score sets z to the scores of the bounded rows of a tile that starts at row lo.
// The operations on a row are the same whether or not any row is shrunk: one row
// must not change the rounding of the others.
func (t *Table) score(z []float64, rows tile, lo int, f *encoding.Folded) {
	rows.dot(z, f.V)
	t.place(z, lo, f)
}

// place turns products with raw rows into scores.
func (t *Table) place(z []float64, lo int, f *encoding.Folded) {
	if t.shrink == nil {
		for k := range z {
			z[k] = (z[k] + f.Offset) + f.Intercept
		}
		return
	}
	for k, s := range t.shrink[lo : lo+len(z)] {
		z[k] = float64(s*(z[k]+f.Offset)) + f.Intercept
	}
}
