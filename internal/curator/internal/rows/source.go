package rows

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
)

// tile is a run of consecutive raw rows, clamped to their ranges, ready for the
// two operations that every pass is made of.
type tile struct {
	rows, cols int
	data       []float64 // dense: row k starts at k·stride; sparse: all values
	stride     int
	sparse     bool
	start, end []int // of row k's entries in indices and data
	indices    []int
}

// dot sets z_k = ⟨x_k, v⟩.
func (t tile) dot(z, v []float64) {
	if !t.sparse {
		kernel.Dots(z[:t.rows], t.data, t.stride, v[:t.cols])
		return
	}
	kernel.SparseDots(z[:t.rows], t.start, t.end, t.indices, t.data, v)
}

// addScaled adds Σ e_k x_k to g.
func (t tile) addScaled(g, e []float64) {
	if !t.sparse {
		kernel.AddScaled(g[:t.cols], t.data, t.stride, e[:t.rows])
		return
	}
	kernel.AddSparse(g, e[:t.rows], t.start, t.end, t.indices, t.data)
}

// copyRow writes raw row k to dst.
func (t tile) copyRow(dst []float64, k int) {
	if !t.sparse {
		copy(dst, t.data[k*t.stride:k*t.stride+t.cols])
		return
	}
	clear(dst)
	for i, j := range t.indices[t.start[k]:t.end[k]] {
		dst[j] = t.data[t.start[k]+i]
	}
}

// source gives the tiles of a matrix. The buffer holds at least rows·columns
// numbers (none for a sparse source) and belongs to the caller.
type source interface {
	tile(lo, hi int, buf []float64) tile
	// pick returns the source of the given rows, in that order.
	pick(order []int) source
}

// denseSource reads a gonum matrix where it lies, or a selection of its rows
// through a copy of each tile.
type denseSource struct {
	m     blas64.General
	order []int
}

func (s denseSource) tile(lo, hi int, buf []float64) tile {
	t := tile{rows: hi - lo, cols: s.m.Cols, stride: s.m.Stride}
	if s.order == nil {
		t.data = s.m.Data[lo*s.m.Stride : (hi-1)*s.m.Stride+s.m.Cols]
		return t
	}
	for k, i := range s.order[lo:hi] {
		copy(buf[k*t.cols:(k+1)*t.cols], s.m.Data[i*s.m.Stride:])
	}
	t.data, t.stride = buf, t.cols
	return t
}

func (s denseSource) pick(order []int) source { return denseSource{s.m, resolve(s.order, order)} }

// opaqueSource copies an arbitrary matrix element by element.
type opaqueSource struct {
	m     mat.Matrix
	cols  int
	order []int
}

func (s opaqueSource) tile(lo, hi int, buf []float64) tile {
	for i := lo; i < hi; i++ {
		row := i
		if s.order != nil {
			row = s.order[i]
		}
		for j := range s.cols {
			buf[(i-lo)*s.cols+j] = s.m.At(row, j)
		}
	}
	return tile{rows: hi - lo, cols: s.cols, stride: s.cols, data: buf}
}

func (s opaqueSource) pick(order []int) source {
	return opaqueSource{s.m, s.cols, resolve(s.order, order)}
}

// clampedSource clamps the rows that hold out-of-range values, in a copy.
type clampedSource struct {
	source
	min, max []float64
	outside  []bool // per row
}

func (s clampedSource) tile(lo, hi int, buf []float64) tile {
	t := s.source.tile(lo, hi, buf)
	if !slices.Contains(s.outside[lo:hi], true) {
		return t
	}
	for k, o := range s.outside[lo:hi] {
		row := buf[k*t.cols : (k+1)*t.cols]
		t.copyRow(row, k)
		for j := 0; o && j < len(row); j++ {
			row[j] = min(max(row[j], s.min[j]), s.max[j])
		}
	}
	return tile{rows: t.rows, cols: t.cols, stride: t.cols, data: buf}
}

func (s clampedSource) pick(order []int) source {
	return clampedSource{s.source.pick(order), s.min, s.max, blocks.Gather(s.outside, order)}
}

// resolve composes two selections of rows, of which the first may be nil for
// all rows.
func resolve(first, second []int) []int {
	if first == nil {
		return second
	}
	return blocks.Gather(first, second)
}
