package rows

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

// Sparse is a matrix in compressed sparse rows: row i has the values
// values[indptr[i]:indptr[i+1]] in the columns indices[indptr[i]:indptr[i+1]],
// which increase strictly. It is read-only.
type Sparse struct {
	rows, cols int
	indptr     []int
	indices    []int
	values     []float64
}

// NewSparse makes a Sparse of the given slices, which it keeps. It checks
// that they describe a rows×cols matrix, in O(rows + nonzeros).
func NewSparse(rows, cols int, indptr, indices []int, values []float64) (*Sparse, error) {
	if rows < 1 || cols < 1 {
		return nil, check.Fail(check.ErrShape, "matrix", fmt.Sprintf("%d×%d", rows, cols), "must have at least one row and one column")
	}
	if len(indptr) != rows+1 || indptr[0] != 0 || indptr[rows] != len(indices) {
		return nil, check.Fail(check.ErrShape, "indptr", nil, "must have rows+1 entries from 0 to len(indices)")
	}
	if len(indices) != len(values) {
		return nil, check.Fail(check.ErrShape, "len(indices)", len(indices), fmt.Sprintf("must equal len(values) = %d", len(values)))
	}
	for i := range rows {
		if indptr[i] > indptr[i+1] || indptr[i+1] > len(indices) {
			return nil, check.Fail(check.ErrShape, "indptr", nil, fmt.Sprintf("must increase from 0 to len(indices), not so at row %d", i))
		}
		last := -1
		for _, j := range indices[indptr[i]:indptr[i+1]] {
			if j <= last || j >= cols {
				return nil, check.Fail(check.ErrShape, "indices", nil, fmt.Sprintf("must increase strictly within [0, %d) in row %d", cols, i))
			}
			last = j
		}
	}
	return &Sparse{rows, cols, indptr, indices, values}, nil
}

// sparseSource reads the rows of a Sparse, which may be a selection: row i lies
// between start[i] and end[i].
type sparseSource struct {
	cols       int
	start, end []int
	indices    []int
	values     []float64
}

func newSparseSource(s *Sparse) sparseSource {
	return sparseSource{s.cols, s.indptr[:s.rows], s.indptr[1:], s.indices, s.values}
}

func (s sparseSource) tile(lo, hi int, _ []float64) tile {
	return tile{rows: hi - lo, cols: s.cols, sparse: true, start: s.start[lo:hi], end: s.end[lo:hi], indices: s.indices, data: s.values}
}

func (s sparseSource) pick(order []int) source {
	return sparseSource{s.cols, Gather(s.start, order), Gather(s.end, order), s.indices, s.values}
}

// admitSparse checks the values of all rows, clamps them in a copy where a range
// asks for it, and returns the source to use from then on.
func (e *Encoding) admitSparse(s sparseSource) (sparseSource, error) {
	for j := range e.Min {
		if e.Min[j] > 0 || e.Max[j] < 0 {
			return s, check.Fail(check.ErrSchema, "range of "+e.column(j), [2]float64{e.Min[j], e.Max[j]}, "must contain 0, as the matrix is sparse")
		}
	}
	if err := e.admitSparseGroups(s); err != nil {
		return s, err
	}
	clamped := false
	for i := range s.start {
		for k := s.start[i]; k < s.end[i]; k++ {
			v, err := e.admit(s.values[k], i, s.indices[k])
			if err != nil {
				return s, err
			}
			if v != s.values[k] {
				if !clamped {
					s.values, clamped = slices.Clone(s.values), true
				}
				s.values[k] = v
			}
		}
	}
	return s, nil
}

// sparseNorm is norm for a sparse row. Absent columns contribute their shift:
// its squares are summed once, in base, and corrected where a value is present.
// The correction cancels, so its rounding error is added.
func (e *Encoding) sparseNorm(indices []int, values []float64, base float64) float64 {
	if e.Scale == nil {
		return e.norm(values)
	}
	sum, magnitude := base, base
	for k, j := range indices {
		u := e.feature(j, values[k])
		here, absent := float64(u*u), float64(e.Shift[j]*e.Shift[j])
		sum += here - absent
		magnitude += here + absent
	}
	return math.Sqrt(math.Max(0, sum) + float64(4*unit*float64(e.Columns)*magnitude))
}
