package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"

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

// ridgeShare is the ridge where the data determine the weights, times √n: the gradient's
// standard deviation grows as √n too, so that the ridge moves the minimiser by about a
// billionth of a standard error.
const ridgeShare = 1e-9

// flat is the length of the gradient at which a fit ends, as a share of the length of the
// rows' slopes, which is that of the gradient's noise.
const flat = 1e-9

// The most steps, and those from where only rounding is left of the function's fall: where no
// step makes the gradient flat, as for labels that are all 0, they could follow without end.
const (
	mostSteps  = 200
	mostPolish = 10
)

// newton fits by iteratively reweighted least squares. It minimises the sum of the losses
// plus λ‖v‖²/2 times [steepness]. With fewer columns than rows, v are the weights of
// uncorrelated combinations of the columns, see [standardised.whiten], and λ is
// [ridgeShare]·√n: the minimiser is the maximum likelihood estimate however closely columns
// are correlated, and separable classes have one. Otherwise v are the weights of the columns
// with variance 1, and λ = 1, which makes a fit that predicts.
func newton(x Rows, y []float64, loss losses.Loss, curvature func(z, y float64) float64) (*Model, error) {
	n, d := x.Dims()
	s, ridge := standardise(x), 1.0
	if d < n {
		ridge = ridgeShare * math.Sqrt(float64(n))
		if err := s.whiten(); err != nil {
			return nil, err
		}
	}
	o := &reweighted{design: s.design, y: y, loss: loss, curvature: curvature,
		ridge: ridge * steepness(y, loss), least: 1e-6 * loss.Constants(1, 1).Smoothness}
	_, width := s.design.Dims()
	v := mat.NewVecDense(width, nil)
	scale := o.value(v)
	v.SetVec(width-1, Constant(y, loss))
	if of, _, _ := plain(loss); of.Labels() == losses.Real { // whose distance from 0 says nothing
		scale = o.value(v)
	}
	if err := minimiseCurved(o, v, 1e-12*scale); err != nil {
		return nil, err
	}
	return s.model(v), nil
}

// curved is a convex function with a Hessian.
type curved interface {
	value(v *mat.VecDense) float64
	// derivatives returns the gradient, the Hessian, and the length of the rows' slopes.
	derivatives(v *mat.VecDense) (gradient *mat.VecDense, hessian *mat.SymDense, slopes float64)
}

// minimiseCurved moves v to the minimum by Newton's method. Steps are halved while they lead
// up, until the Newton decrement says that the function could fall by no more than the
// tolerance, which is above its rounding. From there at most [mostPolish] full steps follow, as
// long as they halve the gradient and it isn't [flat].
func minimiseCurved(o curved, v *mat.VecDense, tolerance float64) error {
	value := o.value(v)
	last, before, polished := math.Inf(1), mat.VecDenseCopyOf(v), 0
	for range mostSteps {
		gradient, hessian, slopes := o.derivatives(v)
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			return errors.New("baseline: the Hessian is not positive definite")
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil && !errors.As(err, new(mat.Condition)) {
			return fmt.Errorf("baseline: %w", err)
		}
		decrement, length := mat.Dot(gradient, &step), mat.Norm(gradient, 2)
		if decrement > tolerance {
			if value = descend(o, v, &step, value+tolerance/10, decrement); math.IsNaN(value) {
				break
			}
			last = math.Inf(1)
			continue
		}
		if length > last { // the last step led up
			v.CopyVec(before)
		}
		if length <= flat*slopes || length > last/2 || polished == mostPolish {
			return nil
		}
		last = length
		polished++
		before.CopyVec(v)
		v.SubVec(v, &step)
		value = o.value(v)
	}
	return errors.New("baseline: no convergence")
}

// descend moves v against the step, as far as the value falls enough below the
// given one, and returns the new value, or NaN.
func descend(o curved, v, step *mat.VecDense, value, decrement float64) float64 {
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

// derivatives takes blocks of rows at a time.
func (o *reweighted) derivatives(v *mat.VecDense) (*mat.VecDense, *mat.SymDense, float64) {
	n, width := o.design.Dims()
	gradient, hessian := mat.NewVecDense(width, nil), mat.NewSymDense(width, nil)
	slopes := mat.NewVecDense(n, nil)
	const size = 256
	block := mat.NewDense(size, width, nil)
	for i, z := range o.scores(v) {
		slopes.SetVec(i, o.loss.Deriv(z, o.y[i]))
		curvature := o.curvature(z, o.y[i])
		if !(curvature > 0) {
			curvature = o.least
		}
		floats.ScaleTo(block.RawRowView(i%size), math.Sqrt(curvature), o.design.RawRowView(i))
		if i%size == size-1 || i == n-1 {
			hessian.SymRankK(hessian, 1, block.Slice(0, i%size+1, 0, width).T())
		}
	}
	gradient.MulVec(o.design.T(), slopes)
	for j, w := range weights(v) {
		gradient.SetVec(j, gradient.AtVec(j)+o.ridge*w)
		hessian.SetSym(j, j, hessian.At(j, j)+o.ridge)
	}
	return gradient, hessian, mat.Norm(slopes, 2)
}

// standardised are rows whose columns have mean 0 and variance 1, beside a column
// of ones. A column that is constant, up to rounding, becomes 0.
type standardised struct {
	design       *mat.Dense
	means, scale []float64  // scale is 1 over the standard deviation, or 0
	basis        *mat.Dense // of the design's columns but the ones, or nil: see whiten
}

func standardise(x Rows) *standardised {
	n, d := x.Dims()
	s := &standardised{design: mat.NewDense(n, d+1, nil), means: make([]float64, d), scale: make([]float64, d)}
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

// collinear is the singular value below which a combination of columns is rounding, as a
// share of the largest.
const collinear = 1e-10

// whiten replaces columns by combinations that are uncorrelated and have variance 1; those
// without variance are left out.
func (s *standardised) whiten() error {
	n, width := s.design.Dims()
	d := width - 1
	if d == 0 {
		return nil
	}
	columns := s.design.Slice(0, n, 0, d)
	var svd mat.SVD
	if !svd.Factorize(columns, mat.SVDThinV) {
		return errors.New("baseline: no singular values")
	}
	var v mat.Dense
	svd.VTo(&v)
	values, rank := svd.Values(nil), 0
	for rank < d && values[rank] > collinear*values[0] {
		rank++
	}
	s.basis = mat.NewDense(d, d, nil)
	for j := range rank {
		for i := range d {
			s.basis.Set(i, j, v.At(i, j)*math.Sqrt(float64(n))/values[j])
		}
	}
	next := mat.NewDense(n, width, nil)
	next.Slice(0, n, 0, d).(*mat.Dense).Mul(columns, s.basis)
	for i := range n {
		next.Set(i, d, 1)
	}
	s.design = next
	return nil
}

// model maps weights back to the columns as they are.
func (s *standardised) model(v *mat.VecDense) *Model {
	d := len(s.means)
	w := slices.Clone(weights(v))
	if s.basis != nil {
		mat.NewVecDense(d, w).MulVec(s.basis, mat.NewVecDense(d, weights(v)))
	}
	m := &Model{Weights: floats.MulTo(w, w, s.scale), Intercept: v.AtVec(d)}
	m.Intercept -= floats.Dot(m.Weights, s.means)
	return m
}
