package rows

import "math"

// Rebound returns the table of the same rows, scaled down to a smaller bound where
// they are longer, with another constant feature, a power of two, where there is
// an intercept. It takes O(rows): the matrix isn't read.
//
// The factor of a row and its norm have two roundings more than in a table that
// was made with that bound, which the slack of GradientSensitivity has room for.
func (t *Table) Rebound(bound, constant float64) *Table {
	n := len(t.Length)
	r := &Table{Enc: t.Enc.Rebound(bound, constant), Src: t.Src, Layout: t.Layout, Persons: t.Persons, Place: t.Place.rebound(bound, constant),
		Shrink: make([]float64, n), Length: make([]float64, n), Norm: make([]float64, len(t.Norm)), Workspaces: t.Workspaces}
	for i, length := range t.Length {
		r.Shrink[i] = r.Enc.Shrink(length) * Factor(t.Shrink, i)
		r.Length[i] = math.Min(length, bound)
		if len(t.Norm) > 0 {
			r.Norm[i] = r.Enc.NormBound(r.Length[i])
		}
	}
	return r
}
