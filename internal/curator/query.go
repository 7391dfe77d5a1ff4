package curator

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// Encoding is how raw rows become features, in public numbers.
type Encoding = encoding.Encoding

// Sparse is a matrix in compressed sparse rows.
type Sparse = rows.Sparse

// The constructors of encodings and sparse matrices are those of the table.
var (
	NewSparse   = rows.NewSparse
	NewIdentity = encoding.NewIdentity
	NewSchema   = encoding.NewSchema
)

// MaxOffset is the largest Encoding.Offset of a schema.
const MaxOffset = encoding.MaxOffset

// Columns returns a matrix's number of columns, and an error for one that is
// missing or empty.
func Columns(x mat.Matrix) (int, error) {
	_, columns, err := rows.Dims(x)
	return columns, err
}

// Scores returns ⟨w, u⟩ for each row of x, encoded and bounded as private rows
// are; x is the caller's own.
func Scores(x mat.Matrix, enc Encoding, w []float64) ([]float64, error) {
	table, err := rows.NewTable(x, enc)
	if err != nil {
		return nil, err
	}
	z := make([]float64, table.Len())
	rows.Scores(table, z, w)
	return z, nil
}

// Unpack returns the matrix of packed moments that were released: its upper triangle row
// by row, entries off the diagonal times √2.
func Unpack(packed []float64, dim int) *mat.SymDense {
	m := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			v := packed[0]
			packed = packed[1:]
			if i != j {
				v /= math.Sqrt2
			}
			m.SetSym(i, j, v)
		}
	}
	return m
}
