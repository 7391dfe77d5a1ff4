package main

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
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
	ridge   float64 // per row; 0 where rows tell all coefficients
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

// resampled draws n rows with replacement.
func (s *drawn) resampled(n int, seed uint64) *drawn {
	r := rand.New(mechanisms.NewSeededSource(seed))
	_, d := s.x.Dims()
	out := &drawn{x: mat.NewDense(n, d, nil), y: make([]float64, n), ridge: s.ridge}
	if s.offsets != nil {
		out.offsets = &dpglm.Offsets{Of: make([]float64, n), Range: s.offsets.Range}
	}
	for i := range n {
		row := r.IntN(len(s.y))
		out.x.SetRow(i, s.x.RawRowView(row))
		out.y[i] = s.y[row]
		if s.offsets != nil {
			out.offsets.Of[i] = s.offsets.Of[row]
		}
	}
	return out
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
	n, d := rows.x.Dims()
	w, ridge := make([]float64, d+1), rows.ridge*float64(n)
	if loss.Labels() == losses.Count {
		w[d] = rows.rate()
	}
	for range 50 {
		s := sums(rows, w, loss)
		for k, v := range w {
			s.hessian.SetSym(k, k, s.hessian.At(k, k)+ridge)
			s.gradient.SetVec(k, s.gradient.AtVec(k)+ridge*v)
		}
		var factor mat.Cholesky
		var step mat.VecDense
		if !factor.Factorize(s.hessian) || factor.SolveVecTo(&step, s.gradient) != nil {
			return nil, errNoFit
		}
		fraction := 1.0
		if loss.Labels() == losses.Count { // whose means grow by more than a parabola's
			fraction = math.Min(1, 2/furthest(rows, step.RawVector().Data))
		}
		floats.AddScaled(w, -fraction, step.RawVector().Data)
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

// furthest is by how much a step moves a row's score at most.
func furthest(rows *drawn, step []float64) float64 {
	d := len(step) - 1
	most := 0.0
	for i := range rows.y {
		most = math.Max(most, math.Abs(floats.Dot(rows.x.RawRowView(i), step[:d])+step[d]))
	}
	return most
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
		slope, weighted := weight*loss.Deriv(z, label), weight*curvature(z, label)
		for a, v := range row {
			g[a] += slope * v
			for b := a; b < dim; b++ {
				h[a*dim+b] += weighted * v * row[b]
				j[a*dim+b] += slope * slope * v * row[b]
			}
		}
	}
	return s
}
