package questions

import (
	"context"
	"encoding/gob"
	"slices"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// What rows have beside features and labels, where workers read them. The driver is told whose
// they are and what they weigh, as it says which rows count and in what order. Their shares are
// in the copies that follow from that; offsets workers read themselves.

// Beside says whose the rows are, and their weights.
func Beside(ctx context.Context, t *rows.Table) (rows.Owners, error) {
	f := t.Place.File
	columns := make([][]float64, len(f.Beside))
	if !slices.Contains(f.Beside, rowfile.Person) && !slices.Contains(f.Beside, rowfile.Weight) {
		return rows.OwnersOf(&f.Facts, columns) // which may say that how many there are is secret
	}
	raw := make([]float64, len(f.Beside)*f.Rows)
	q, at := &besides{len(f.Beside)}, 0
	c := q.Cut(t)
	err := t.Place.Remote.Sum(ctx, t, q, c, func(of []float64) {
		rows := min(c.BlockPersons, f.Rows-at)
		for k := range columns {
			copy(raw[k*f.Rows+at:], of[k*c.BlockPersons:][:rows])
		}
		at += rows
	})
	if err != nil {
		return rows.Owners{}, err
	}
	for k := range columns {
		columns[k] = raw[k*f.Rows : (k+1)*f.Rows]
	}
	return rows.OwnersOf(&f.Facts, columns)
}

// besides asks for so many columns beside features and labels, one after the other: a block's sum
// are those of its rows.
type besides struct{ Columns int }

func (q *besides) Cut(t *rows.Table) rows.Cut { return t.InTiles(q.Columns * t.Layout.BlockPersons) }

func (*besides) Shifted() bool { return false }

func (q *besides) Add(p *rows.Part) rows.Adder {
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := len(a.Sum) / q.Columns
		at := (p.Table.From + lo) % n
		for k := range q.Columns {
			copy(a.Sum[k*n+at:], p.Room.Chunk.Beside[k][lo:lo+tile.Rows])
		}
	}
}

func init() {
	gob.Register(&besides{})
}
