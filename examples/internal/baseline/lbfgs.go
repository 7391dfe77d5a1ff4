package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/losses"
)

// lbfgs fits where a Hessian is too large to hold, by L-BFGS: it minimises the mean
// loss plus ‖w‖²/(2n) times [steepness], w being the weights of columns scaled to a largest
// magnitude of 1. With more columns than rows this ridge is what makes a fit that
// predicts.
func lbfgs(x Rows, y []float64, loss losses.Loss) (*Model, error) {
	_, d := x.Dims()
	o := &objective{x: x, y: y, loss: loss, scale: scales(x), ridge: steepness(y, loss), w: make([]float64, d)}
	start := make([]float64, d+1)
	v, err := minimise(o.value, o.gradient, start)
	if err != nil {
		return nil, err
	}
	return &Model{Weights: floats.MulTo(make([]float64, d), v[:d], o.scale), Intercept: v[d]}, nil
}

// minimise finds a minimum of a smooth convex function.
func minimise(value func([]float64) float64, gradient func(g, v []float64), start []float64) ([]float64, error) {
	g := make([]float64, len(start))
	gradient(g, start)
	steep := floats.Norm(g, 2)
	result, err := optimize.Minimize(optimize.Problem{Func: value, Grad: gradient}, start,
		&optimize.Settings{MajorIterations: 1000, Converger: &optimize.FunctionConverge{Relative: 1e-9, Iterations: 20}},
		&optimize.LBFGS{Store: 20})
	if result == nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	// At the limit of rounding a line search may fail though the fit is good, so
	// what counts is how flat the objective has become.
	if gradient(g, result.X); !(floats.Norm(g, 2) <= 1e-3*steep) {
		return nil, fmt.Errorf("baseline: no convergence, %v: %w", result.Status, err)
	}
	return result.X, nil
}

// objective is the function that lbfgs minimises, of the weights v of the scaled
// columns, the intercept last.
type objective struct {
	x     Rows
	y     []float64
	loss  losses.Loss
	scale []float64
	ridge float64
	w     []float64 // weights of the columns as they are
}

func (o *objective) value(v []float64) float64 {
	d, n := len(o.w), float64(len(o.y))
	floats.MulTo(o.w, v[:d], o.scale)
	var sum float64
	for i, y := range o.y {
		sum += o.loss.Value(dot(o.x, i, o.w)+v[d], y)
	}
	return (sum + o.ridge*floats.Dot(v[:d], v[:d])/2) / n
}

func (o *objective) gradient(g, v []float64) {
	d, n := len(o.w), float64(len(o.y))
	floats.MulTo(o.w, v[:d], o.scale)
	clear(g)
	for i, y := range o.y {
		e := o.loss.Deriv(dot(o.x, i, o.w)+v[d], y)
		g[d] += e
		columns, values := o.x.Row(i)
		if columns == nil {
			floats.AddScaled(g[:d], e, values)
		}
		for k, j := range columns {
			g[j] += e * values[k]
		}
	}
	for j, s := range o.scale {
		g[j] = g[j]*s + o.ridge*v[j]
	}
	floats.Scale(1/n, g)
}

// scales are the factors that bring each column's largest magnitude to 1.
func scales(x Rows) []float64 {
	n, d := x.Dims()
	s := make([]float64, d)
	for i := range n {
		columns, values := x.Row(i)
		for k, v := range values {
			j := k
			if columns != nil {
				j = columns[k]
			}
			s[j] = max(s[j], math.Abs(v))
		}
	}
	for j, v := range s {
		if v > 0 {
			s[j] = 1 / v
		}
	}
	return s
}
