package main

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// exact is a fit without privacy: coefficients, the intercept's last, and their sandwich
// standard errors.
type exact struct{ coefficients, errors []float64 }

var errNoFit = errors.New("the maximum likelihood estimate isn't found")

// fitExactly minimises the sum of the losses by Newton's method.
func fitExactly(x *mat.Dense, y []float64, loss losses.Loss) (*exact, error) {
	n, d := x.Dims()
	w := make([]float64, d+1)
	if loss.Labels() == losses.Count {
		w[d] = math.Log(floats.Sum(y) / float64(n))
	}
	for range 50 {
		s := sums(x, y, w, loss)
		var factor mat.Cholesky
		var step mat.VecDense
		if !factor.Factorize(s.hessian) || factor.SolveVecTo(&step, s.gradient) != nil {
			return nil, errNoFit
		}
		floats.Sub(w, step.RawVector().Data)
		if mat.Dot(&step, s.gradient) > 1e-9 {
			continue
		}
		var inverse mat.SymDense
		if err := factor.InverseTo(&inverse); err != nil {
			return nil, errNoFit
		}
		var left, both mat.Dense
		left.Mul(&inverse, s.scatter)
		both.Mul(&left, &inverse)
		f := &exact{coefficients: w}
		for k := range w {
			f.errors = append(f.errors, math.Sqrt(both.At(k, k)))
		}
		return f, nil
	}
	return nil, errNoFit
}

// derivatives of the loss, summed over rows, and the sum of the gradients' products.
type derivatives struct {
	gradient         *mat.VecDense
	hessian, scatter *mat.SymDense
}

func sums(x *mat.Dense, y, w []float64, loss losses.Loss) derivatives {
	curvature, _ := losses.CurvatureOf(loss)
	n, d := x.Dims()
	dim := d + 1
	s := derivatives{mat.NewVecDense(dim, nil), mat.NewSymDense(dim, nil), mat.NewSymDense(dim, nil)}
	g, h, j := s.gradient.RawVector().Data, s.hessian.RawSymmetric().Data, s.scatter.RawSymmetric().Data
	row := make([]float64, dim)
	row[d] = 1
	for i := range n {
		copy(row, x.RawRowView(i))
		label := y[i]
		if loss.Labels() == losses.Binary {
			label = 2*label - 1
		}
		z := floats.Dot(row, w)
		slope, bend := loss.Deriv(z, label), curvature(z, label)
		for a, v := range row {
			g[a] += slope * v
			for b := a; b < dim; b++ {
				h[a*dim+b] += bend * v * row[b]
				j[a*dim+b] += slope * slope * v * row[b]
			}
		}
	}
	return s
}
