package questions

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/vector"
)

// Frame is public coordinates of rows: x̃ = Aᵀ(x − m), x being a bounded row's features
// without the constant one, shortened to NormBound where that isn't 0. A is
// Matrix, or diagonal (Scale), or the identity where both are nil; m is 0 where Centre
// is nil.
//
// A Matrix has a row for each of the d features and 1 to d columns, one for each coordinate.
// What is said of rows is then what the square matrix says that has columns of zeros beside
// these, but for the coordinates that are 0. No bound needs A to have an inverse: those of
// square matrices hold.
type Frame struct {
	Centre    []float64
	Matrix    *mat.Dense // features × coordinates
	Scale     []float64
	NormBound float64
	// Each, where it isn't 0, is what each row of the largest weight counts in gradients, their products and Hessians, of
	// which those of a person are added up first and then held to the bounds: see bundle. Else rows count their shares.
	Each float64
	// Base, where it isn't nil, has a number for each weight: what all rows' scores have beside those of a point.
	Base []float64
}

// frameMap is a frame for rows of an encoding.
type frameMap struct {
	Frame
	enc    *encoding.Encoding
	dim    int       // the number of coordinates
	axes   []float64 // A's columns, one after the other; nil without Matrix
	size   float64   // bound on the operator norm of A: the Frobenius norm of a Matrix
	centre float64   // ‖m‖, rounded up
}

func newFrameMap(f Frame, enc *encoding.Encoding) (*frameMap, error) {
	d := enc.Columns
	if err := f.fits(d); err != nil {
		return nil, err
	}
	m := &frameMap{Frame: f, enc: enc, dim: d, size: 1}
	switch {
	case f.Matrix != nil:
		_, m.dim = f.Matrix.Dims()
		m.axes, m.size = make([]float64, m.dim*d), 0
		for k := range m.dim {
			axis := m.axes[k*d : (k+1)*d]
			mat.Col(axis, k, f.Matrix)
			m.size = math.Hypot(m.size, vector.Norm(axis))
		}
	case f.Scale != nil:
		m.size = floats.Norm(f.Scale, math.Inf(1))
	}
	// Norm adds up d squares, and the chain of Hypot is no longer.
	up := 1 + float64(4*encoding.Unit*float64(d+16))
	m.size, m.centre = float64(m.size*up), float64(vector.Norm(f.Centre)*up)
	// Between these no square overflows, and what vanishes is nothing beside missed.
	if largest := m.size * (enc.Magnitude + m.centre); !(largest < 1e100 && (largest > 1e-100 || m.size == 0)) {
		return nil, check.Fail(check.ErrBound, "frame", largest, "must stretch rows to norms between 1e-100 and 1e100")
	}
	return m, nil
}

// fits refuses what isn't made for rows of d features.
func (f *Frame) fits(d int) error {
	if f.Matrix != nil {
		if r, k := f.Matrix.Dims(); r != d || k < 1 || k > d {
			return check.Fail(check.ErrShape, "frame", fmt.Sprintf("%d×%d", r, k), fmt.Sprintf("must have a row for each of the %d features, and 1 to %d columns", d, d))
		}
	}
	if f.Each != 0 && (!(f.Each > 0 && f.Each <= check.MaxScale) || f.NormBound != 0) {
		return check.Fail(check.ErrConfig, "what each row counts", f.Each, "must be above 0, in a frame that shortens no rows")
	}
	if f.Base != nil && (len(f.Base) < d || len(f.Base) > d+1 || f.NormBound != 0) {
		return check.Fail(check.ErrShape, "frame", len(f.Base), "must have a base for each weight, and then shorten no rows")
	}
	for _, v := range [][]float64{f.Centre, f.Scale} {
		if v != nil && len(v) != d {
			return check.Fail(check.ErrShape, "frame", len(v), fmt.Sprintf("must have a number for each of the %d features", d))
		}
	}
	return nil
}

// missed bounds what rounding may hide of a row's norm, whether the row is taken to be its
// raw terms times their factor, as combine takes it, or its rounded features, as moments
// does. Both, and what measure computes, differ by
//
//   - d+16 roundings of the raw terms, of norm magnitude, and of m, times ‖A‖, with room
//     for both ways in the factor 4, d being the number of features, which each
//     coordinate is a sum of;
//   - the row's own features, times ‖A‖: a slack each.
func (m *frameMap) missed() float64 {
	e := m.enc
	d := float64(e.Columns)
	return m.size * (float64(4*(d+16)*encoding.Unit*(e.Magnitude+m.centre)) + float64(2*e.Slack()*e.Bound))
}

// measure sets length to the norms of the rows of s, which are never too small: it adds
// missed, and for the sum of squares and its root d+16 roundings relative to the norm itself,
// as there are d coordinates at most. Of k axes it scores the rows k times: O(rows·d·k).
func (m *frameMap) measure(ctx context.Context, s *Sums, length []float64) error {
	whole, missed := s.t, m.missed()
	up := 1 + float64(2*encoding.Unit*float64(m.enc.Columns+16))
	if m.axes == nil && m.Scale == nil && m.Centre == nil {
		for i, v := range whole.Length {
			length[i] = float64(v*up) + missed
		}
		return nil
	}
	axes := m.foldAxes()
	return s.pass(ctx, nil, func(s *Sums) rows.Adder {
		of := length[s.t.From-whole.From:]
		return func(a *rows.Workspace, tile rows.Tile, lo int) {
			a.Row = rows.Room(a.Row, m.enc.Dim())
			sum := of[lo : lo+tile.Rows]
			if axes != nil {
				setSquares(sum, a.Z[:tile.Rows], s.t, tile, lo, axes)
			} else {
				for k := range sum {
					sum[k] = m.square(a.Row, s.t, tile, lo, k)
				}
			}
			for k, v := range sum {
				sum[k] = float64(math.Sqrt(v)*up) + missed
			}
		}
	})
}

// foldAxes returns A's columns a, in terms of raw rows, whose scores less their
// intercepts −⟨a, m⟩ are coordinates; nil without Matrix.
func (m *frameMap) foldAxes() []encoding.Folded {
	if m.axes == nil {
		return nil
	}
	d := m.enc.Columns
	axes, w, offset := make([]encoding.Folded, m.dim), make([]float64, m.enc.Dim()), make([]float64, 1)
	for k := range axes {
		axis := m.axes[k*d : (k+1)*d]
		copy(w, axis)
		m.enc.Fold(w, &axes[k])
		if m.Centre != nil {
			kernel.Dots(offset, axis, d, m.Centre)
			axes[k].Intercept = -offset[0]
		}
	}
	return axes
}

// square is the squared norm of row k of a tile, where A is diagonal. Absent entries of
// a sparse row add nothing, unless they have shifts or a centre.
func (m *frameMap) square(row []float64, t *rows.Table, tile rows.Tile, lo, k int) (sum float64) {
	if tile.Sparse && t.Enc.Scale == nil && m.Centre == nil {
		s := rows.Factor(t.Shrink, lo+k)
		for i, j := range tile.Indices[tile.Start[k]:tile.End[k]] {
			v := s * tile.Data[tile.Start[k]+i] * m.Scale[j]
			sum += float64(v * v)
		}
		return sum
	}
	m.features(row, t, tile, lo, k)
	row = row[:m.enc.Columns]
	if m.Scale != nil {
		for j, a := range m.Scale {
			row[j] *= a
		}
	}
	for _, v := range row {
		sum += float64(v * v)
	}
	return sum
}

// features sets row to x − m for row k of a tile.
func (m *frameMap) features(row []float64, t *rows.Table, tile rows.Tile, lo, k int) {
	t.Encode(row, tile, lo, k)
	for j, v := range m.Centre {
		row[j] -= v
	}
}

// weights returns w and c with ⟨u, Aᵀ(x−m)⟩ = ⟨w, x⟩ − c, the base's beside: u has a number for each coordinate,
// w one for each weight.
func (m *frameMap) weights(u []float64) (w []float64, c float64) {
	d := m.enc.Columns
	w = make([]float64, m.enc.Dim())
	switch {
	case m.axes != nil:
		kernel.AddScaled(w[:d], m.axes, d, u)
	case m.Scale != nil:
		for j, a := range m.Scale {
			w[j] = a * u[j]
		}
	default:
		copy(w, u)
	}
	for j, v := range m.Centre {
		c += float64(w[j] * v)
	}
	for j, v := range m.Base {
		w[j] += v
	}
	return w, c
}

// into returns Aᵀv, a number for each coordinate, of a sum v over features. It may change v.
func (m *frameMap) into(v []float64) []float64 {
	switch {
	case m.axes != nil:
		out := make([]float64, m.dim)
		kernel.Dots(out, m.axes, len(v), v)
		return out
	case m.Scale != nil:
		for j, a := range m.Scale {
			v[j] *= a
		}
	}
	return v
}

// transform returns BᵀMB of a matrix M, B being A beside the constant's 1.
func (m *frameMap) transform(of *mat.SymDense) *mat.SymDense {
	if m.axes == nil && m.Scale == nil {
		return of
	}
	n, d, full := of.SymmetricDim(), m.enc.Columns, mat.DenseCopyOf(of).RawMatrix().Data
	height, width := n, m.dim+n-d
	for range 2 { // Bᵀ times each row becomes a column
		next := make([]float64, width*height)
		for i := range height {
			row := full[i*n : (i+1)*n]
			for j, v := range slices.Concat(m.into(row[:d]), row[d:]) {
				next[j*height+i] = v
			}
		}
		full, height = next, width
	}
	return mat.NewSymDense(width, full)
}

// setSquares sets sum to the squared norms of a tile's rows, axis by axis.
func setSquares(sum, z []float64, t *rows.Table, tile rows.Tile, lo int, axes []encoding.Folded) {
	clear(sum)
	for k := range axes {
		t.Score(z, tile, lo, &axes[k])
		for i, v := range z {
			sum[i] += float64(v * v)
		}
	}
}
