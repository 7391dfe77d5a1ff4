package labelsonly

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/linalg"
)

// space is coordinates of rows, with what these come to.
type space struct {
	ctx      context.Context
	features curator.Features
	d        int // features
	n        float64
	constant bool
	centre   []float64
	scale    []float64  // one over columns' deviations
	axes     *mat.Dense // d×d: orthonormal, the first ones those of coordinates
	moments  []float64  // along these
	at       curator.Frame
	cut      float64   // K
	norms    []float64 // of rows
	factors  []float64 // what they count
}

// errMoments is about columns that numbers don't hold.
var errMoments = check.Fail(check.ErrBound, "second moments of features", nil, "must have eigenvalues that can be computed")

// newSpace finds the coordinates.
func newSpace(ctx context.Context, f curator.Features, facts curator.Facts) (*space, error) {
	x := &space{ctx: ctx, features: f, d: facts.Columns, n: float64(facts.Rows), constant: facts.Intercept}
	moments, err := x.columns()
	if err != nil {
		return nil, err
	}
	x.scale = make([]float64, x.d)
	for j := range x.scale {
		x.scale[j] = 1
		if v := moments.At(j, j); v > alike*alike*facts.Bound*facts.Bound {
			x.scale[j] = 1 / math.Sqrt(v)
		} else { // a column that is alike in all rows, but for rounding
			for i := range x.d {
				moments.SetSym(i, j, 0)
			}
		}
	}
	for i := range x.d {
		for j := i; j < x.d; j++ {
			moments.SetSym(i, j, moments.At(i, j)*x.scale[i]*x.scale[j])
		}
	}
	spectrum, ok := linalg.Decompose(moments)
	if !ok {
		return nil, errMoments
	}
	x.axes = mat.NewDense(x.d, x.d, nil)
	k := 0
	for i := range x.d { // the largest first
		from := x.d - 1 - i
		x.axes.SetCol(i, spectrum.Vector(from))
		if v := spectrum.Values[from]; v > alike*float64(x.d) {
			x.moments = append(x.moments, v)
			k++
		}
	}
	if k == 0 {
		return x, x.measure()
	}
	matrix := mat.NewDense(x.d, k, nil)
	for j := range x.d {
		for i, v := range x.moments {
			matrix.Set(j, i, x.scale[j]*x.axes.At(j, i)/math.Sqrt(math.Sqrt(v)))
		}
	}
	x.at = curator.Frame{Centre: x.centre, Matrix: matrix}
	return x, x.measure()
}

// stepsOf are how far rows that carry a column are off its centre: √(Σx⁴/Σx²).
func stepsOf(x *space) ([]float64, error) {
	sums, err := x.features.Sum(x.ctx, 2*x.d, func(t curator.Tile, sum []float64) {
		for k := range t.N {
			for j, v := range t.Rows[k*t.Dim : k*t.Dim+x.d] {
				square := (v - x.centre[j]) * (v - x.centre[j])
				sum[j] += square
				sum[x.d+j] += float64(square * square)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	steps := make([]float64, x.d)
	for j := range steps {
		steps[j] = math.Sqrt(sums[x.d+j] / math.Max(sums[j], tiny))
	}
	return steps, nil
}

// alike is how little of its size a column, or a direction, may vary to be taken as one that doesn't.
const alike = 1e-9

// columns sets the centre, the mean beside a constant and 0 else, and returns second moments about it.
func (x *space) columns() (*mat.SymDense, error) {
	d := x.d
	x.centre = make([]float64, d)
	if x.constant {
		sum, err := x.features.Sum(x.ctx, d, func(t curator.Tile, sum []float64) {
			for k := range t.N {
				floats.Add(sum, t.Rows[k*t.Dim:k*t.Dim+d])
			}
		})
		if err != nil {
			return nil, err
		}
		floats.AddScaled(x.centre, 1/x.n, sum)
	}
	sum, err := x.features.Sum(x.ctx, d*d, func(t curator.Tile, sum []float64) {
		for k := range t.N {
			floats.Sub(t.Rows[k*t.Dim:k*t.Dim+d], x.centre)
		}
		of := blas64.General{Rows: t.N, Cols: d, Stride: t.Dim, Data: t.Rows}
		blas64.Syrk(blas.Trans, 1/x.n, of, 1, blas64.Symmetric{N: d, Stride: d, Data: sum, Uplo: blas.Upper})
	})
	if err != nil {
		return nil, err
	}
	return mat.NewSymDense(d, sum), nil
}

// dim is the number of coordinates, that of the constant included.
func (x *space) dim() int {
	if x.constant {
		return len(x.moments) + 1
	}
	return len(x.moments)
}

// rows are a tile's features less their centre, and the constant 1 last where there is one.
type rows struct {
	x       blas64.General
	factors []float64 // what they count
	offsets []float64 // or nil
}

// each sums over rows.
func (x *space) each(width int, add func(r rows, sum []float64)) ([]float64, error) {
	return x.features.Sum(x.ctx, width, func(t curator.Tile, sum []float64) {
		add(rows{x.centred(t), x.factors[t.First : t.First+t.N], t.Offsets}, sum)
	})
}

// centred takes the centre away.
func (x *space) centred(t curator.Tile) blas64.General {
	for k := range t.N {
		row := t.Rows[k*t.Dim : (k+1)*t.Dim]
		floats.Sub(row[:x.d], x.centre)
		if x.constant {
			row[x.d] = 1
		}
	}
	return blas64.General{Rows: t.N, Cols: t.Dim, Stride: t.Dim, Data: t.Rows}
}

// measure finds rows' norms in the coordinates, which no row's is taken to be below 1.
func (x *space) measure() error {
	x.norms, x.factors = make([]float64, int(x.n)), make([]float64, int(x.n))
	_, err := x.features.Sum(x.ctx, 1, func(t curator.Tile, _ []float64) {
		of, k := x.centred(t), len(x.moments)
		z := blas64.General{Rows: t.N, Cols: max(1, k), Stride: max(1, k), Data: make([]float64, t.N*max(1, k))}
		if k > 0 {
			of.Cols = x.d
			blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, of, x.at.Matrix.RawMatrix(), 0, z)
		}
		for i := range t.N {
			norm := floats.Norm(z.Data[i*z.Stride:i*z.Stride+z.Cols], 2)
			if x.constant {
				x.norms[t.First+i] = math.Hypot(norm, 1)
			} else {
				x.norms[t.First+i] = math.Max(norm, 1)
			}
		}
	})
	return err
}

// cutAt has rows count as a cut says.
func (x *space) cutAt(cut float64) {
	x.cut = cut
	for i, v := range x.norms {
		x.factors[i] = math.Min(1, cut/v)
	}
}

// weigh adds the upper triangle of Σ wᵢxᵢxᵢᵀ to a square sum. No w is negative.
func (r rows) weigh(w []float64, sum []float64) {
	scaled := r.x
	scaled.Data = slices.Clone(r.x.Data)
	for i, v := range w {
		floats.Scale(math.Sqrt(v), scaled.Data[i*scaled.Stride:(i+1)*scaled.Stride])
	}
	blas64.Syrk(blas.Trans, 1, scaled, 1, blas64.Symmetric{N: r.x.Cols, Stride: r.x.Cols, Data: sum, Uplo: blas.Upper})
}

// weighAny is weigh of any w.
func (r rows) weighAny(w []float64, sum []float64) {
	negative := slices.Clone(w)
	for i, v := range w {
		w[i], negative[i] = math.Max(v, 0), math.Max(-v, 0)
	}
	r.weigh(w, sum)
	minus := make([]float64, len(sum))
	r.weigh(negative, minus)
	floats.Sub(sum, minus)
}

// into is a sum over features, and the constant, in the coordinates.
func (x *space) into(sum []float64) []float64 {
	out := make([]float64, x.dim())
	if k := len(x.moments); k > 0 {
		mat.NewVecDense(k, out[:k]).MulVec(x.at.Matrix.T(), mat.NewVecDense(x.d, sum[:x.d]))
	}
	if x.constant {
		out[len(x.moments)] = sum[x.d]
	}
	return out
}

// from is a point's weights of centred features, and of the constant.
func (x *space) from(theta []float64) []float64 {
	w := make([]float64, x.d, x.d+1)
	if k := len(x.moments); k > 0 {
		mat.NewVecDense(x.d, w).MulVec(x.at.Matrix, mat.NewVecDense(k, theta[:k]))
	}
	if x.constant {
		w = append(w, theta[len(x.moments)])
	}
	return w
}

// raw is the number of features, and the constant.
func (x *space) raw() int {
	if x.constant {
		return x.d + 1
	}
	return x.d
}

// squared is a square sum in the coordinates.
func (x *space) squared(sum []float64) *mat.Dense {
	n, dim := x.raw(), x.dim()
	whole := mat.DenseCopyOf(mat.NewSymDense(n, sum))
	half := mat.NewDense(dim, n, nil)
	for j := range n { // Bᵀ times each column, twice
		half.SetCol(j, x.into(mat.Col(nil, j, whole)))
	}
	out := mat.NewDense(dim, dim, nil)
	for i := range dim {
		out.SetRow(i, x.into(half.RawRowView(i)))
	}
	return out
}

// lengths are the root mean square of rows' norms, and the largest.
func (x *space) lengths() (typical, largest float64) {
	return floats.Norm(x.norms, 2) / math.Sqrt(x.n), floats.Max(x.norms)
}

// prior are the variances of a column's coordinates where each weight of standardised columns has the variance 1; +Inf is
// the constant's.
func (x *space) prior() []float64 {
	p := make([]float64, x.dim())
	for k, v := range x.moments {
		p[k] = math.Sqrt(v)
	}
	if x.constant {
		p[len(x.moments)] = math.Inf(1)
	}
	return p
}

// weights maps a point of one column to those of features and an intercept.
func (x *space) weights(theta []float64) (w []float64, b float64) {
	w = x.from(theta)
	if x.constant {
		b = w[x.d] - floats.Dot(w[:x.d], x.centre)
	}
	return w[:x.d], b
}
