package linalg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Scores and products are the same by old and new coordinates, with one that stays beside
// them too; no change changes nothing.
func TestChange(t *testing.T) {
	m := mat.NewSymDense(3, []float64{4, 1, 0, 1, 3, -0.5, 0, -0.5, 1.5})
	plain, ok := NewChange(m)
	if !ok {
		t.Fatal("not found")
	}
	close := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	more := mat.NewSymDense(4, nil)
	for i := range 3 {
		for j := range 3 {
			more.SetSym(i, j, m.At(i, j))
		}
	}
	more.SetSym(3, 3, 1)
	for _, c := range []struct {
		change *Change
		square mat.Symmetric // S⁻²
	}{{plain, m}, {plain.Beside(), more}, {nil, Identity(3)}} {
		dim, _ := c.square.Dims()
		w, row := []float64{1, -2, 0.5, 7}[:dim], mat.NewDense(1, dim, []float64{0.3, 0.2, -1, 2}[:dim])
		moved := row
		if c.change != nil {
			moved = c.change.Columns(row)
		}
		if a, b := floats.Dot(w, row.RawRowView(0)), floats.Dot(c.change.Stretch(w), moved.RawRowView(0)); !close(a, b) {
			t.Errorf("a score is %g, in new coordinates %g", a, b)
		}
		square := mat.NewSymDense(dim, nil)
		square.CopySym(c.square)
		if one := c.change.Into(square); !mat.EqualApprox(one, Identity(dim), 1e-12) {
			t.Errorf("S·S⁻²·S is %v", mat.Formatted(one))
		}
		product := mat.NewSymDense(dim, nil)
		product.SymOuterK(1, row.T())
		into := mat.NewSymDense(dim, nil)
		into.SymOuterK(1, moved.T())
		if !mat.EqualApprox(c.change.Into(product), into, 1e-12) {
			t.Error("products of rows are others in new coordinates")
		}
	}
}
