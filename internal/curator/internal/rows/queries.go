package rows

import (
	"context"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// What callers ask of matrices of their own.

// Scores sets dst_i to the score ⟨w, x_i⟩ of each bounded row. It panics where the
// caller's matrix does, or ends a goroutine.
func Scores(t *Table, dst, w []float64) {
	var f encoding.Folded
	t.Enc.Fold(w, &f)
	err := t.Pass(context.Background(), nil, func(*Part) Adder {
		return func(_ *Workspace, tile Tile, lo int) { t.Score(dst[lo:lo+tile.Rows], tile, lo, &f) }
	})
	if err != nil {
		panic(err)
	}
}

var _ mat.Matrix = (*Sparse)(nil)

// Dims returns the shape.
func (s *Sparse) Dims() (r, c int) { return s.rows, s.cols }

// At returns one element, in logarithmic time.
func (s *Sparse) At(i, j int) float64 {
	if i < 0 || i >= s.rows {
		panic(mat.ErrRowAccess)
	}
	if j < 0 || j >= s.cols {
		panic(mat.ErrColAccess)
	}
	row := s.indices[s.indptr[i]:s.indptr[i+1]]
	if k := sort.SearchInts(row, j); k < len(row) && row[k] == j {
		return s.Values[s.indptr[i]+k]
	}
	return 0
}

// T returns the transpose.
func (s *Sparse) T() mat.Matrix { return mat.Transpose{Matrix: s} }
