package dpglm

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
)

// Sparse is a matrix in compressed sparse rows, which [NewDataset] and a [Model] read
// without making it dense. It is read-only, and prints its shape only. [NewSparse] makes one;
// the zero value has no elements.
type Sparse struct{ matrix *curator.Sparse }

var _ mat.Matrix = (*Sparse)(nil)

// NewSparse makes a Sparse: row i has values[indptr[i]:indptr[i+1]] in the columns
// indices[indptr[i]:indptr[i+1]], which increase strictly. The slices are kept,
// not copied. It checks that they describe a rows×cols matrix, in
// O(rows + nonzeros); the error wraps [ErrShape].
func NewSparse(rows, cols int, indptr, indices []int, values []float64) (*Sparse, error) {
	m, err := curator.NewSparse(rows, cols, indptr, indices, values)
	if err != nil {
		return nil, err
	}
	return &Sparse{m}, nil
}

// Dims returns the numbers of rows and columns.
func (s *Sparse) Dims() (rows, cols int) {
	if s.matrix == nil {
		return 0, 0
	}
	return s.matrix.Dims()
}

// At returns one element, in time logarithmic in the row's nonzeros; it panics where
// there is none, as gonum's matrices do.
func (s *Sparse) At(i, j int) float64 {
	if s.matrix == nil {
		panic(mat.ErrRowAccess)
	}
	return s.matrix.At(i, j)
}

// T returns the transpose.
func (s *Sparse) T() mat.Matrix { return mat.Transpose{Matrix: s} }

// Format prints the shape, whatever the verb.
func (s Sparse) Format(f fmt.State, _ rune) {
	if s.matrix == nil {
		fmt.Fprint(f, "dpglm.Sparse, empty")
		return
	}
	rows, cols := s.Dims()
	fmt.Fprintf(f, "dpglm.Sparse of %d×%d", rows, cols)
}
