package rows

import (
	"sync"

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

func (t *Table) Acquire() *Workspace {
	if a, ok := t.Workspaces.Get().(*Workspace); ok {
		return a
	}
	var buf []float64
	if !t.IsSparse() {
		buf = make([]float64, t.Layout.TileRows*t.Enc.Columns)
	}
	return &Workspace{Buf: buf, Z: make([]float64, t.Layout.TileRows), Beside: make([]float64, t.Layout.TileRows)}
}

func (t *Table) Release(a *Workspace) { t.Workspaces.Put(a) }
