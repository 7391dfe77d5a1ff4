package rows

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
)

// kernel is gonum's own BLAS, whatever implementation the program has
// registered: its results depend on nothing but its arguments.
var kernel gonum.Implementation

// tile is a run of consecutive raw rows, clamped to their ranges, ready for the
// two operations that every pass is made of.
type tile struct {
	rows, cols, stride int
	data               []float64
}

// dot sets z_k = ⟨x_k, v⟩.
func (t tile) dot(z, v []float64) {
	kernel.Dgemv(blas.NoTrans, t.rows, t.cols, 1, t.data, t.stride, v, 1, 0, z, 1)
}

// addScaled adds Σ e_k x_k to g.
func (t tile) addScaled(g, e []float64) {
	kernel.Dgemv(blas.Trans, t.rows, t.cols, 1, t.data, t.stride, e, 1, 1, g, 1)
}

// source gives the tiles of a matrix. The buffer holds len(buf) ≥ rows·columns
// numbers and belongs to the caller.
type source interface {
	tile(lo, hi int, buf []float64) tile
}

// newSource picks the fastest source for x.
func newSource(x mat.Matrix) source {
	if r, ok := x.(mat.RawMatrixer); ok {
		return denseSource{r.RawMatrix()}
	}
	return opaqueSource{x}
}

// denseSource reads a gonum matrix where it lies.
type denseSource struct{ m blas64.General }

func (s denseSource) tile(lo, hi int, _ []float64) tile {
	return tile{hi - lo, s.m.Cols, s.m.Stride, s.m.Data[lo*s.m.Stride : (hi-1)*s.m.Stride+s.m.Cols]}
}

// opaqueSource copies an arbitrary matrix element by element.
type opaqueSource struct{ m mat.Matrix }

func (s opaqueSource) tile(lo, hi int, buf []float64) tile {
	_, cols := s.m.Dims()
	t := tile{hi - lo, cols, cols, buf}
	for i := lo; i < hi; i++ {
		for j := range cols {
			buf[(i-lo)*cols+j] = s.m.At(i, j)
		}
	}
	return t
}

// clampedSource clamps the tiles that hold out-of-range values, in a copy.
type clampedSource struct {
	source
	min, max []float64
	outside  []bool // per tile, of tileRows rows
	tileRows int
}

func (s clampedSource) tile(lo, hi int, buf []float64) tile {
	t := s.source.tile(lo, hi, buf)
	if !s.outside[lo/s.tileRows] {
		return t
	}
	for i := range t.rows {
		row := buf[i*t.cols : (i+1)*t.cols]
		copy(row, t.data[i*t.stride:i*t.stride+t.cols])
		for j, v := range row {
			row[j] = min(max(v, s.min[j]), s.max[j])
		}
	}
	return tile{t.rows, t.cols, t.cols, buf}
}
