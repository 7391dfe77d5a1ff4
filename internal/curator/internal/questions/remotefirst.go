package questions

import (
	"context"
	"encoding/gob"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// FirstAndLabels are the first feature of each bounded row, of persons with one row each, and the rows' labels as they are in the file. They
// are read here, or workers send them: 16 bytes a row.
func FirstAndLabels(ctx context.Context, t *rows.Table) (features, labels []float64, err error) {
	if !t.Place.Elsewhere() {
		if features, err = rows.First(ctx, t); err != nil {
			return nil, nil, err
		}
		labels, err = rows.ReadLabels(ctx, t)
		return features, labels, err
	}
	q, n := &firsts{}, t.Len()
	c := q.Cut(t)
	err = t.Place.Remote.Sum(ctx, t, q, c, func(of []float64) {
		some := min(c.BlockPersons, n-len(features))
		features = append(features, of[:some]...)
		labels = append(labels, of[c.BlockPersons:][:some]...)
	})
	return features, labels, err
}

// firsts asks for features and then labels: a block's sum are those of its rows.
type firsts struct{ rows.Nothing }

func (*firsts) Cut(t *rows.Table) rows.Cut { return t.InTiles(2 * t.Layout.BlockPersons) }

func (*firsts) Shifted() bool { return false }

func (*firsts) Add(p *rows.Part) rows.Adder {
	return func(a *rows.Workspace, tile rows.Tile, lo int) {
		n := len(a.Sum) / 2
		at := (p.Table.From + lo) % n
		a.Row = rows.Room(a.Row, p.Table.Enc.Dim())
		for k := range tile.Rows {
			p.Table.Encode(a.Row, tile, lo, k)
			a.Sum[at+k] = a.Row[0]
		}
		copy(a.Sum[n+at:], p.Labels[lo:lo+tile.Rows])
	}
}

func init() {
	gob.Register(&firsts{})
}
