package rows

import (
	"context"
	"encoding/gob"
	"slices"

	"github.com/dpglm/dpglm/internal/rowfile"
)

// What rows have beside features and labels, where workers read them. The driver is told whose
// they are and what they weigh, as it says which rows count and in what order. Their shares are
// in the copies that follow from that; offsets workers read themselves.

// Beside says whose the rows are, and their weights.
func Beside(ctx context.Context, t *Table) (Owners, error) {
	f := t.stored.file
	columns := make([][]float64, len(f.Beside))
	if !slices.Contains(f.Beside, rowfile.Person) && !slices.Contains(f.Beside, rowfile.Weight) {
		return ownersOf(&rowfile.Facts{}, nil)
	}
	raw := make([]float64, len(f.Beside)*f.Rows)
	q, at := &besides{len(f.Beside)}, 0
	c := q.cut(t)
	err := t.stored.remote.sum(ctx, t, q, c, func(of []float64) {
		rows := min(c.BlockPersons, f.Rows-at)
		for k := range columns {
			copy(raw[k*f.Rows+at:], of[k*c.BlockPersons:][:rows])
		}
		at += rows
	})
	if err != nil {
		return Owners{}, err
	}
	for k := range columns {
		columns[k] = raw[k*f.Rows : (k+1)*f.Rows]
	}
	return ownersOf(&f.Facts, columns)
}

// besides asks for so many columns beside features and labels, one after the other: a block's sum
// are those of its rows.
type besides struct{ Columns int }

func (q *besides) cut(t *Table) cut { return t.inTiles(q.Columns * t.layout.BlockPersons) }

func (*besides) shifted() bool { return false }

func (q *besides) add(p *part) adder {
	return func(a *workspace, rows tile, lo int) {
		n := len(a.sum) / q.Columns
		at := (p.from + lo) % n
		for k := range q.Columns {
			copy(a.sum[k*n+at:], p.chunk.Beside[k][lo:lo+rows.rows])
		}
	}
}

func init() {
	gob.Register(&besides{})
}
