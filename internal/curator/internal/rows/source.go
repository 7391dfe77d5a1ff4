package rows

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Tile is a run of consecutive raw rows, clamped to their ranges, ready for the
// two operations that every pass is made of.
type Tile struct {
	Rows, cols int
	Data       []float64 // dense: row k starts at k·stride; sparse: all values
	Stride     int
	Sparse     bool
	Start, End []int // of row k's entries in indices and data
	Indices    []int
}

// Part is the rows [lo, hi) of a tile.
func (t Tile) Part(lo, hi int) Tile {
	of := t
	of.Rows = hi - lo
	if t.Sparse {
		of.Start, of.End = t.Start[lo:hi], t.End[lo:hi]
	} else {
		of.Data = t.Data[lo*t.Stride : (hi-1)*t.Stride+t.cols]
	}
	return of
}

// Dot sets z_k = ⟨x_k, v⟩.
func (t Tile) Dot(z, v []float64) {
	if !t.Sparse {
		kernel.Dots(z[:t.Rows], t.Data, t.Stride, v[:t.cols])
		return
	}
	kernel.SparseDots(z[:t.Rows], t.Start, t.End, t.Indices, t.Data, v)
}

// addScaled adds Σ e_k x_k to g.
func (t Tile) addScaled(g, e []float64) {
	if !t.Sparse {
		kernel.AddScaled(g[:t.cols], t.Data, t.Stride, e[:t.Rows])
		return
	}
	kernel.AddSparse(g, e[:t.Rows], t.Start, t.End, t.Indices, t.Data)
}

// copyRow writes raw row k to dst.
func (t Tile) copyRow(dst []float64, k int) {
	if !t.Sparse {
		copy(dst, t.Data[k*t.Stride:k*t.Stride+t.cols])
		return
	}
	clear(dst)
	for i, j := range t.Indices[t.Start[k]:t.End[k]] {
		dst[j] = t.Data[t.Start[k]+i]
	}
}

// source gives the tiles of a matrix. The buffer holds at least rows·columns
// numbers (none for a sparse source) and belongs to the caller.
type source interface {
	Tile(lo, hi int, buf []float64) Tile
	// pick returns the source of the given rows, in that order.
	pick(order []int) source
}

// DenseSource reads a gonum matrix where it lies, or a selection of its rows
// through a copy of each tile.
type DenseSource struct {
	M     blas64.General
	Order []int
}

func (s DenseSource) Tile(lo, hi int, buf []float64) Tile {
	t := Tile{Rows: hi - lo, cols: s.M.Cols, Stride: s.M.Stride}
	if s.Order == nil {
		t.Data = s.M.Data[lo*s.M.Stride : (hi-1)*s.M.Stride+s.M.Cols]
		return t
	}
	for k, i := range s.Order[lo:hi] {
		copy(buf[k*t.cols:(k+1)*t.cols], s.M.Data[i*s.M.Stride:])
	}
	t.Data, t.Stride = buf, t.cols
	return t
}

func (s DenseSource) pick(order []int) source { return DenseSource{s.M, resolve(s.Order, order)} }

// opaqueSource copies an arbitrary matrix element by element.
type opaqueSource struct {
	m     mat.Matrix
	cols  int
	order []int
}

func (s opaqueSource) Tile(lo, hi int, buf []float64) Tile {
	for i := lo; i < hi; i++ {
		row := i
		if s.order != nil {
			row = s.order[i]
		}
		for j := range s.cols {
			buf[(i-lo)*s.cols+j] = s.m.At(row, j)
		}
	}
	return Tile{Rows: hi - lo, cols: s.cols, Stride: s.cols, Data: buf}
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

func (s clampedSource) Tile(lo, hi int, buf []float64) Tile {
	t := s.source.Tile(lo, hi, buf)
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
	return Tile{Rows: t.Rows, cols: t.cols, Stride: t.cols, Data: buf}
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
