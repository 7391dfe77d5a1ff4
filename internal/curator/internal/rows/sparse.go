package rows

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// Sparse is a matrix in compressed sparse rows: row i has the values
// values[indptr[i]:indptr[i+1]] in the columns indices[indptr[i]:indptr[i+1]],
// which increase strictly. It is read-only.
type Sparse struct {
	rows, cols int
	indptr     []int
	indices    []int
	Values     []float64
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

// SparseSource reads the rows of a Sparse, which may be a selection.
type SparseSource struct {
	Cols int
	encoding.Entries
}

func newSparseSource(s *Sparse) SparseSource {
	return SparseSource{s.cols, encoding.Entries{Start: s.indptr[:s.rows], End: s.indptr[1:], Indices: s.indices, Values: s.Values}}
}

func (s SparseSource) Tile(lo, hi int, _ []float64) Tile {
	return Tile{Rows: hi - lo, cols: s.Cols, Sparse: true, Start: s.Start[lo:hi], End: s.End[lo:hi], Indices: s.Indices, Data: s.Values}
}

func (s SparseSource) pick(order []int) source {
	return SparseSource{s.Cols, encoding.Entries{Start: blocks.Gather(s.Start, order), End: blocks.Gather(s.End, order), Indices: s.Indices, Values: s.Values}}
}
