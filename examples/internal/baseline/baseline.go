// Package baseline fits a generalized linear model without privacy, to compare
// with. It depends on gonum and package losses only, so that it can be copied.
package baseline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/dpglm/dpglm/losses"
)

// The errors that Fit returns as they are.
var (
	ErrNotSmooth = errors.New("baseline: the loss has a kink") // which a quasi-Newton method can't fit
	ErrLabel     = errors.New("baseline: a count is negative")
)

// Rows are rows of features.
type Rows interface {
	Dims() (rows, columns int)
	// Row returns the values of row i and their columns, ascending; columns is
	// nil if the row has all of them. Both are only read.
	Row(i int) (columns []int, values []float64)
}

// Dense are the rows of a matrix.
type Dense struct{ *mat.Dense }

// Row returns row i.
func (d Dense) Row(i int) ([]int, []float64) { return nil, d.RawRowView(i) }

// Model is a linear model with an intercept.
type Model struct {
	Weights   []float64
	Intercept float64
}

// Scores returns ⟨w, x⟩ + intercept for each row.
func (m *Model) Scores(x Rows) []float64 {
	n, _ := x.Dims()
	z := make([]float64, n)
	for i := range z {
		z[i] = dot(x, i, m.Weights) + m.Intercept
	}
	return z
}

// Fit minimises the mean loss plus ‖w‖²/(2n) by L-BFGS, w being the weights of
// columns scaled to a largest magnitude of 1. The ridge only matters where the
// data leaves the weights undetermined, e.g. for separable classes. Binary
// labels are mapped to ±1 by their sign; other labels are taken as they are, but
// counts must not be negative.
func Fit(x Rows, y []float64, loss losses.Loss) (*Model, error) {
	n, d := x.Dims()
	if n == 0 || n != len(y) {
		return nil, fmt.Errorf("baseline: %d labels for %d rows", len(y), n)
	}
	if math.IsInf(loss.Constants(1, 1).Smoothness, 1) {
		return nil, ErrNotSmooth
	}
	if loss.Labels() == losses.Count && slices.Min(y) < 0 {
		return nil, ErrLabel
	}
	o := &objective{x: x, y: signed(y, loss.Labels()), loss: loss, scale: scales(x), w: make([]float64, d)}
	start, g := make([]float64, d+1), make([]float64, d+1)
	o.gradient(g, start)
	steep := floats.Norm(g, 2)
	result, err := optimize.Minimize(optimize.Problem{Func: o.value, Grad: o.gradient}, start,
		&optimize.Settings{MajorIterations: 1000, Converger: &optimize.FunctionConverge{Relative: 1e-9, Iterations: 20}},
		&optimize.LBFGS{Store: 20})
	if result == nil {
		return nil, fmt.Errorf("baseline: %w", err)
	}
	// At the limit of rounding a line search may fail though the fit is good, so
	// what counts is how flat the objective has become.
	if o.gradient(g, result.X); !(floats.Norm(g, 2) <= 1e-3*steep) {
		return nil, fmt.Errorf("baseline: no convergence, %v: %w", result.Status, err)
	}
	v := result.X
	return &Model{Weights: floats.MulTo(make([]float64, d), v[:d], o.scale), Intercept: v[d]}, nil
}

// objective is the function that Fit minimises, of the weights v of the scaled
// columns, the intercept last.
type objective struct {
	x     Rows
	y     []float64
	loss  losses.Loss
	scale []float64
	w     []float64 // weights of the columns as they are
}

func (o *objective) value(v []float64) float64 {
	d, n := len(o.w), float64(len(o.y))
	floats.MulTo(o.w, v[:d], o.scale)
	var sum float64
	for i, y := range o.y {
		sum += o.loss.Value(dot(o.x, i, o.w)+v[d], y)
	}
	return (sum + floats.Dot(v[:d], v[:d])/2) / n
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
		g[j] = g[j]*s + v[j]
	}
	floats.Scale(1/n, g)
}

func dot(x Rows, i int, w []float64) float64 {
	columns, values := x.Row(i)
	if columns == nil {
		return floats.Dot(values, w)
	}
	var z float64
	for k, j := range columns {
		z += values[k] * w[j]
	}
	return z
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

func signed(y []float64, labels losses.Labels) []float64 {
	mapped := append([]float64(nil), y...)
	if labels == losses.Binary {
		for i, v := range y {
			mapped[i] = -1
			if v > 0 {
				mapped[i] = 1
			}
		}
	}
	return mapped
}
