package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Change is one to coordinates S·x for x, S being symmetric and positive. Stretch,
// Into, From and Noise take a nil one for no change.
type Change struct{ by, back *mat.SymDense } // S and S⁻¹

// NewChange is the one whose S⁻² is given, and false where it isn't found.
func NewChange(inverseSquare mat.Symmetric) (*Change, bool) {
	s, ok := Decompose(inverseSquare)
	if !ok {
		return nil, false
	}
	return &Change{s.Map(func(l float64) float64 { return 1 / math.Sqrt(l) }), s.Map(math.Sqrt)}, true
}

// Beside is the same with one more coordinate, the last, which stays.
func (c *Change) Beside() *Change {
	more := func(m *mat.SymDense) *mat.SymDense {
		d := m.SymmetricDim()
		whole := mat.NewSymDense(d+1, nil)
		whole.SetSym(d, d, 1)
		for i := range d {
			for j := i; j < d; j++ {
				whole.SetSym(i, j, m.At(i, j))
			}
		}
		return whole
	}
	return &Change{more(c.by), more(c.back)}
}

// Columns is m·S: for rows x·m, those in the new coordinates.
func (c *Change) Columns(m *mat.Dense) *mat.Dense { return Product(m, c.by) }

// Stretch is S⁻¹·v: the new weights for old ones, and the old gradient for the new one.
func (c *Change) Stretch(v []float64) []float64 {
	if c == nil {
		return v
	}
	var out mat.VecDense
	out.MulVec(c.back, mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

// Into is S·m·S: a matrix of products in the new coordinates.
func (c *Change) Into(m *mat.SymDense) *mat.SymDense {
	if c == nil {
		return m
	}
	return Sandwich(1, c.by, m)
}
