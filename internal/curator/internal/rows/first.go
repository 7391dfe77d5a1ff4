package rows

import "context"

// First returns the first feature of each bounded row, with the same bits as
// Encode has for the same dense row.
func First(ctx context.Context, t *Table) ([]float64, error) {
	first := make([]float64, len(t.Length))
	return first, t.Pass(ctx, nil, func(p *Part) Adder {
		return func(a *Workspace, tile Tile, lo int) {
			a.Row = Room(a.Row, t.Enc.Dim())
			for k := range tile.Rows {
				p.Table.Encode(a.Row, tile, lo, k)
				first[p.Table.From+lo+k] = a.Row[0]
			}
		}
	})
}
