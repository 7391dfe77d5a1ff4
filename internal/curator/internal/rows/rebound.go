package rows

import "math"

// Rebound returns the table of the same rows, scaled down to a smaller bound where
// they are longer, with another constant feature, a power of two, where there is
// an intercept. It takes O(rows): the matrix isn't read.
//
// The factor of a row and its norm have two roundings more than in a table that
// was made with that bound, which the slack of GradientSensitivity has room for.
func (t *Table) Rebound(bound, constant float64) *Table {
	n := len(t.length)
	r := &Table{enc: t.enc.Rebound(bound, constant), src: t.src, layout: t.layout, Persons: t.Persons, stored: t.stored.rebound(bound, constant),
		shrink: make([]float64, n), length: make([]float64, n), norm: make([]float64, len(t.norm)), workspaces: t.workspaces}
	for i, length := range t.length {
		r.shrink[i] = r.enc.Shrink(length) * factor(t.shrink, i)
		r.length[i] = math.Min(length, bound)
		if t.norm != nil {
			r.norm[i] = r.enc.NormBound(r.length[i])
		}
	}
	return r
}
