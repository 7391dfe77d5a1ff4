package rows

import "context"

// First returns the first feature of each bounded row, with the same bits as
// Encode has for the same dense row.
func (t *Table) First(ctx context.Context) ([]float64, error) {
	first := make([]float64, len(t.length))
	return first, t.pass(ctx, nil, func(p *part) adder {
		return func(a *workspace, rows tile, lo int) {
			a.row = room(a.row, t.enc.Dim())
			for k := range rows.rows {
				p.encode(a.row, rows, lo, k)
				first[p.from+lo+k] = a.row[0]
			}
		}
	})
}
