package labelsonly

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
)

// observation is the sum of labels' statistics less their middle, times rows' factors, for each column of scores one after
// another, with noise of one deviation, and the scale of the variance that the family gives one.
type observation struct {
	sum      []float64
	noise    float64
	constant float64 // deviation of the last one's noise where that has less; 0 where it hasn't
	beside   float64 // error of the last one beside, of which no more is known
	scale    float64
	unit     float64 // of scores
}

// square is that of a coordinate's noise.
func (o observation) square(j int) float64 {
	if o.constant > 0 && j == len(o.sum)-1 {
		return o.constant * o.constant
	}
	return o.noise * o.noise
}

// state is what a family makes of features at a point θ, the columns' coordinates one after another.
type state struct {
	theta   []float64
	mean    []float64     // of the sum
	slope   *mat.SymDense // its derivatives
	scatter *mat.SymDense // its variance, but for the scale
	times   float64       // a public point's number, once that is found; else 0
}

// told are a family's numbers for each row.
type told struct{ mean, slope, variance []float64 }

// tell is given the weights of columns, one after another.
func (r rows) tell(f family, w []float64) told {
	n, c, d := r.x.Rows, f.columns(), r.x.Cols
	eta := make([]float64, n*c)
	for k := range c {
		blas64.Gemv(blas.NoTrans, 1, r.x, blas64.Vector{N: d, Inc: 1, Data: w[k*d : (k+1)*d]}, 0, blas64.Vector{N: n, Inc: c, Data: eta[k:]})
	}
	if r.offsets != nil && c == 1 {
		floats.Add(eta, r.offsets)
	}
	t := told{make([]float64, n*c), make([]float64, n*c*c), make([]float64, n*c*c)}
	for i := range n {
		f.tell(eta[i*c:(i+1)*c], t.mean[i*c:(i+1)*c], t.slope[i*c*c:(i+1)*c*c], t.variance[i*c*c:(i+1)*c*c])
	}
	return t
}

// means adds Σ aᵢ·meanᵢ·xᵢ.
func (r rows) means(t told, columns int, sum []float64) {
	n, d := r.x.Rows, r.x.Cols
	w := make([]float64, n)
	for c := range columns {
		for i, a := range r.factors {
			w[i] = a * t.mean[i*columns+c]
		}
		blas64.Gemv(blas.Trans, 1, r.x, blas64.Vector{N: n, Inc: 1, Data: w}, 1, blas64.Vector{N: d, Inc: 1, Data: sum[c*d : (c+1)*d]})
	}
}

// columns are a point's weights of each column, one after another.
func (x *space) columnsOf(theta []float64, columns int) (w []float64) {
	for c, dim := 0, x.dim(); c < columns; c++ {
		w = append(w, x.from(theta[c*dim:(c+1)*dim])...)
	}
	return w
}

// intoEach is into, of each column.
func (x *space) intoEach(sum []float64, columns int) (out []float64) {
	for c, d := 0, x.raw(); c < columns; c++ {
		out = append(out, x.into(sum[c*d:(c+1)*d])...)
	}
	return out
}

// mean is the sum's mean at a point.
func (x *space) mean(f family, theta []float64) ([]float64, error) {
	c := f.columns()
	w := x.columnsOf(theta, c)
	sum, err := x.each(len(w), func(r rows, sum []float64) { r.means(r.tell(f, w), c, sum) })
	return x.intoEach(sum, c), err
}

// weighted is Σ aᵢvᵢzᵢ.
func (x *space) weighted(v []float64) ([]float64, error) {
	sum, err := x.features.Sum(x.ctx, x.raw(), func(t curator.Tile, sum []float64) {
		r, w := rows{x: x.centred(t)}, slices.Clone(v[t.First:t.First+t.N])
		floats.Mul(w, x.factors[t.First:t.First+t.N])
		blas64.Gemv(blas.Trans, 1, r.x, blas64.Vector{N: r.x.Rows, Inc: 1, Data: w}, 1, blas64.Vector{N: r.x.Cols, Inc: 1, Data: sum})
	})
	return x.into(sum), err
}

// meansOf are those of rows at a point of one column.
func meansOf(x *space, f family, theta []float64) ([]float64, error) {
	w, means := x.columnsOf(theta, 1), make([]float64, len(x.factors))
	_, err := x.features.Sum(x.ctx, 1, func(t curator.Tile, _ []float64) {
		of := rows{x.centred(t), x.factors[t.First : t.First+t.N], t.Offsets}
		copy(means[t.First:], of.tell(f, w).mean)
	})
	return means, err
}

// state is that at a point.
func (x *space) state(f family, theta []float64) (*state, error) {
	c, dim, raw := f.columns(), x.dim(), x.raw()
	w, square := x.columnsOf(theta, c), raw*raw
	pairs := c * (c + 1) / 2
	sum, err := x.each(len(w)+2*pairs*square, func(r rows, sum []float64) {
		t, weights := r.tell(f, w), make([]float64, r.x.Rows)
		r.means(t, c, sum)
		sum = sum[len(w):]
		for i := range c {
			for j := i; j < c; j++ {
				add := r.weigh
				if i != j {
					add = r.weighAny
				}
				for k, a := range r.factors {
					weights[k] = a * t.slope[k*c*c+i*c+j]
				}
				add(weights, sum[:square])
				for k, a := range r.factors {
					weights[k] = a * a * t.variance[k*c*c+i*c+j]
				}
				add(weights, sum[square:2*square])
				sum = sum[2*square:]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s := &state{theta: theta, mean: x.intoEach(sum[:len(w)], c), slope: mat.NewSymDense(c*dim, nil), scatter: mat.NewSymDense(c*dim, nil)}
	sum = sum[len(w):]
	for i := range c {
		for j := i; j < c; j++ {
			for _, to := range []*mat.SymDense{s.slope, s.scatter} {
				block := x.squared(sum[:square])
				sum = sum[square:]
				for a := range dim {
					for b := range dim {
						if i != j || b >= a {
							to.SetSym(i*dim+a, j*dim+b, block.At(a, b))
						}
					}
				}
			}
		}
	}
	return s, nil
}
