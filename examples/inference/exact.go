package main

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// exact is a fit without privacy: coefficients, the intercept's last, and their sandwich
// standard errors.
type exact struct{ coefficients, errors []float64 }

var errNoFit = errors.New("the maximum likelihood estimate isn't found")

// drawn are rows and labels and, where a population has them, the rows' offsets and weights.
type drawn struct {
	x       *mat.Dense
	y       []float64
	offsets *dpglm.Offsets
	weights *dpglm.Weights
}

// details are what rows have besides features and a label.
func (s *drawn) details() (list []dpglm.RowDetail) {
	if s.offsets != nil {
		list = append(list, *s.offsets)
	}
	if s.weights != nil {
		list = append(list, *s.weights)
	}
	return list
}

// offset and weight are the i-th row's.
func (s *drawn) offset(i int) float64 {
	if s.offsets == nil {
		return 0
	}
	return s.offsets.Of[i]
}

func (s *drawn) weight(i int) float64 {
	if s.weights == nil {
		return 1
	}
	return s.weights.Of[i] / s.weights.Max
}

// rate is the logarithm of the number of events over what is exposed to them.
func (s *drawn) rate() float64 {
	var events, exposed float64
	for i, y := range s.y {
		events += s.weight(i) * y
		exposed += s.weight(i) * math.Exp(s.offset(i))
	}
	return math.Log(events / exposed)
}

// fitExactly minimises the weighted sum of the losses by Newton's method.
func fitExactly(rows *drawn, loss losses.Loss) (*exact, error) {
	_, d := rows.x.Dims()
	w := make([]float64, d+1)
	if loss.Labels() == losses.Count {
		w[d] = rows.rate()
	}
	for range 50 {
		s := sums(rows, w, loss)
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

func sums(rows *drawn, w []float64, loss losses.Loss) derivatives {
	curvature, _ := losses.CurvatureOf(loss)
	n, d := rows.x.Dims()
	dim := d + 1
	s := derivatives{mat.NewVecDense(dim, nil), mat.NewSymDense(dim, nil), mat.NewSymDense(dim, nil)}
	g, h, j := s.gradient.RawVector().Data, s.hessian.RawSymmetric().Data, s.scatter.RawSymmetric().Data
	row := make([]float64, dim)
	row[d] = 1
	for i := range n {
		copy(row, rows.x.RawRowView(i))
		label := rows.y[i]
		if loss.Labels() == losses.Binary {
			label = 2*label - 1
		}
		z, weight := floats.Dot(row, w)+rows.offset(i), rows.weight(i)
		slope, bend := weight*loss.Deriv(z, label), weight*curvature(z, label)
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
