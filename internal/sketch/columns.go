package sketch

import "slices"

// columns keeps some coordinates and drops the others.
type columns struct {
	d    int
	kept []int
}

// NewColumns is the map of R^d that keeps the given columns, in their order, one of them
// twice where it is listed twice. They must be public.
func NewColumns(d int, kept []int) Map {
	return specified{columns{d, kept}, Spec{Kind: keptColumns, K: len(kept), D: d, Kept: kept}}
}

func (m columns) oblivious() {}

func (m columns) Dims() (k, d int) { return len(m.kept), m.d }

func (m columns) Apply(dst, x []float64) {
	for i, j := range m.kept {
		dst[i] = x[j]
	}
}

func (m columns) ApplySparse(dst []float64, indices []int, values []float64) {
	for i, j := range m.kept {
		dst[i] = 0
		if at, found := slices.BinarySearch(indices, j); found {
			dst[i] = values[at]
		}
	}
}

func (m columns) Transpose(dst, w []float64) {
	clear(dst)
	for i, j := range m.kept {
		dst[j] += w[i]
	}
}
