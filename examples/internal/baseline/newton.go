package baseline

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// The largest problems for Newton's method, which holds a copy of the rows and a
// Hessian.
const (
	mostColumns = 1000
	mostValues  = 50_000_000
)

// newton fits by iteratively reweighted least squares, Newton's method with steps
// that are halved while they lead up. It minimises the sum of the losses plus
// λ‖v‖²/2, v being the weights of columns with mean 0 and variance 1, with
// λ = min(1, d/n), times [steepness]. Beside a Hessian that grows as n that is nothing where rows
// abound; collinear columns share their weight.
//
// It stops where the Newton decrement says that the objective could fall by 10⁻¹²
// of what weights of 0 have (for real labels, the best constant): each weight is then
// within some thousandths of its standard error of the minimiser's.
func newton(x Rows, y []float64, loss losses.Loss, curvature func(z, y float64) float64) (*Model, error) {
	n, d := x.Dims()
	s := standardise(x)
	o := &reweighted{design: s.design, y: y, loss: loss, curvature: curvature,
		ridge: math.Min(1, float64(d)/float64(n)) * steepness(y, loss), least: 1e-6 * loss.Constants(1, 1).Smoothness}
	v := mat.NewVecDense(d+1, nil)
	scale := o.value(v)
	v.SetVec(d, Constant(y, loss))
	value := o.value(v)
	if loss.Labels() == losses.Real { // whose distance from 0 says nothing
		scale = value
	}
	tolerance := 1e-12 * scale
	for range 200 {
		gradient, hessian := o.derivatives(v)
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			return nil, errors.New("baseline: the Hessian is not positive definite")
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil && !errors.As(err, new(mat.Condition)) {
			return nil, fmt.Errorf("baseline: %w", err)
		}
		decrement := mat.Dot(gradient, &step)
		if decrement <= tolerance {
			return s.model(v), nil
		}
		if value = o.descend(v, &step, value+tolerance/10, decrement); math.IsNaN(value) {
			break
		}
	}
	return nil, errors.New("baseline: no convergence")
}

// reweighted is the function that newton minimises.
type reweighted struct {
	design    *mat.Dense // a column of ones last
	y         []float64
	loss      losses.Loss
	curvature func(z, y float64) float64
	ridge     float64
	least     float64 // curvature, where a loss is linear
}

func (o *reweighted) scores(v *mat.VecDense) []float64 {
	var z mat.VecDense
	z.MulVec(o.design, v)
	return z.RawVector().Data
}

// weights are those that the ridge holds, all but the intercept.
func weights(v *mat.VecDense) []float64 { return v.RawVector().Data[:v.Len()-1] }

func (o *reweighted) value(v *mat.VecDense) float64 {
	sum := o.ridge * floats.Dot(weights(v), weights(v)) / 2
	for i, z := range o.scores(v) {
		sum += o.loss.Value(z, o.y[i])
	}
	return sum
}

// descend moves v against the step, as far as the value falls enough below the
// given one, and returns the new value, or NaN.
func (o *reweighted) descend(v, step *mat.VecDense, value, decrement float64) float64 {
	var next mat.VecDense
	for t := 1.0; t > 1e-12; t /= 2 {
		next.AddScaledVec(v, -t, step)
		if at := o.value(&next); at <= value-1e-4*t*decrement {
			v.CopyVec(&next)
			return at
		}
	}
	return math.NaN()
}

// derivatives returns the gradient and the Hessian, blocks of rows at a time.
func (o *reweighted) derivatives(v *mat.VecDense) (*mat.VecDense, *mat.SymDense) {
	n, width := o.design.Dims()
	gradient, hessian := mat.NewVecDense(width, nil), mat.NewSymDense(width, nil)
	slopes := mat.NewVecDense(n, nil)
	const size = 256
	block := mat.NewDense(size, width, nil)
	for i, z := range o.scores(v) {
		slopes.SetVec(i, o.loss.Deriv(z, o.y[i]))
		root := math.Sqrt(math.Max(o.curvature(z, o.y[i]), o.least))
		floats.ScaleTo(block.RawRowView(i%size), root, o.design.RawRowView(i))
		if i%size == size-1 || i == n-1 {
			hessian.SymRankK(hessian, 1, block.Slice(0, i%size+1, 0, width).T())
		}
	}
	gradient.MulVec(o.design.T(), slopes)
	for j, w := range weights(v) {
		gradient.SetVec(j, gradient.AtVec(j)+o.ridge*w)
		hessian.SetSym(j, j, hessian.At(j, j)+o.ridge)
	}
	return gradient, hessian
}

// standardised are rows whose columns have mean 0 and variance 1, beside a column
// of ones. A column that is constant, up to rounding, becomes 0.
type standardised struct {
	design       *mat.Dense
	means, scale []float64 // scale is 1 over the standard deviation, or 0
}

func standardise(x Rows) *standardised {
	n, d := x.Dims()
	s := &standardised{mat.NewDense(n, d+1, nil), make([]float64, d), make([]float64, d)}
	for i := range n {
		row := s.design.RawRowView(i)
		row[d] = 1
		columns, values := x.Row(i)
		if columns == nil {
			copy(row, values)
		}
		for k, j := range columns {
			row[j] = values[k]
		}
		floats.AddScaled(s.means, 1/float64(n), row[:d])
	}
	largest := make([]float64, d)
	for i := range n {
		row := s.design.RawRowView(i)[:d]
		for j, v := range row {
			largest[j] = math.Max(largest[j], math.Abs(v))
			row[j] -= s.means[j]
			s.scale[j] += row[j] * row[j] / float64(n)
		}
	}
	for j, variance := range s.scale {
		s.scale[j] = 0
		if deviation := math.Sqrt(variance); deviation > 1e-10*largest[j] {
			s.scale[j] = 1 / deviation
		}
	}
	for i := range n {
		row := s.design.RawRowView(i)[:d]
		floats.Mul(row, s.scale)
	}
	return s
}

// model maps weights back to the columns as they are.
func (s *standardised) model(v *mat.VecDense) *Model {
	d := len(s.means)
	m := &Model{Weights: floats.MulTo(make([]float64, d), weights(v), s.scale), Intercept: v.AtVec(d)}
	m.Intercept -= floats.Dot(m.Weights, s.means)
	return m
}
