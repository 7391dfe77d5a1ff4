package rows

import (
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
)

// Dims returns the shape of the caller's matrix, or says why it has none: it is nil,
// or a nil pointer, or empty, or its method panics.
func Dims(x mat.Matrix) (n, d int, err error) {
	if err := check.Given("matrix", x); err != nil {
		return 0, 0, err
	}
	if err := unlessItPanics("Dims", func() { n, d = x.Dims() }); err != nil {
		return 0, 0, err
	}
	if n < 1 || d < 1 {
		return 0, 0, check.Fail(check.ErrShape, "matrix", fmt.Sprintf("%d×%d", n, d), "must have at least one row and one column")
	}
	return n, d, nil
}

// newSource picks the fastest source for x, of n rows and d columns. What is faster
// than At is taken from types that are known to agree with their At only: a type that
// embeds one of them has its methods too, and may have another At.
func newSource(x mat.Matrix, n, d int) (src source, err error) {
	switch m := x.(type) {
	case *Sparse:
		return newSparseSource(m), nil
	case *mat.Dense:
		raw := m.RawMatrix()
		if raw.Stride < d || len(raw.Data) < (n-1)*raw.Stride+d {
			return nil, check.Fail(check.ErrShape, "raw data of the matrix", nil, fmt.Sprintf("must hold %d×%d numbers", n, d))
		}
		return DenseSource{M: raw}, nil
	case mat.RowNonZeroDoer:
		if !declaresNonZeros(x) {
			break
		}
		var s *Sparse
		var broken error
		if err := unlessItPanics("DoRowNonZero", func() { s, broken = compress(m, n, d) }); err != nil {
			return nil, err
		}
		if broken != nil {
			return nil, broken
		}
		return newSparseSource(s), nil
	}
	return opaqueSource{m: x, cols: d}, nil
}

// declaresNonZeros reports whether the method DoRowNonZero is of x's own type, not
// promoted from an embedded one's. Where an embedded type has it, it may be either,
// and is taken to be promoted.
func declaresNonZeros(x mat.Matrix) bool {
	t := reflect.TypeOf(x)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	doer := reflect.TypeFor[mat.RowNonZeroDoer]()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && (f.Type.Implements(doer) || reflect.PointerTo(f.Type).Implements(doer)) {
			return false
		}
	}
	return true
}

// unlessItPanics calls f, which calls the named method of the caller's matrix, and
// makes a panic an error. The error leaves out what the panic said, which might be data.
func unlessItPanics(method string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = check.Fail(check.ErrConfig, method+" of the matrix", nil, fmt.Sprintf("must not panic (with a %T)", p))
		}
	}()
	f()
	return nil
}

// compress copies a matrix that knows its nonzeros, which it must name in order.
func compress(x mat.RowNonZeroDoer, n, d int) (*Sparse, error) {
	indptr, indices, values := make([]int, 1, n+1), []int{}, []float64{}
	for i := range n {
		astray := false
		x.DoRowNonZero(i, func(row, j int, v float64) {
			astray = astray || row != i
			indices = append(indices, j)
			values = append(values, v)
		})
		if astray {
			return nil, check.Fail(check.ErrShape, "DoRowNonZero of the matrix", nil, fmt.Sprintf("must name entries of row %d when asked for them", i))
		}
		indptr = append(indptr, len(indices))
	}
	return NewSparse(n, d, indptr, indices, values)
}
