package baseline

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Classes is a softmax model: a linear score for each class.
type Classes []Model

// Probabilities are those of each class, rows × classes.
func (m Classes) Probabilities(x Rows) *mat.Dense {
	n, _ := x.Dims()
	p := mat.NewDense(n, len(m), nil)
	for i := range n {
		row := p.RawRowView(i)
		for k := range m {
			row[k] = dot(x, i, m[k].Weights) + m[k].Intercept
		}
		Softmax(row)
	}
	return p
}

// Softmax turns scores into probabilities, and returns the logarithm of the sum of their
// exponentials.
func Softmax(z []float64) float64 {
	top := floats.LogSumExp(z)
	for k, v := range z {
		z[k] = math.Exp(v - top)
	}
	return top
}

// FitClasses minimises the mean of −log of the probability of each row's class, 0 to k−1,
// plus ‖w‖²/(2n), w being the weights of columns scaled to a largest magnitude of 1, by
// L-BFGS.
func FitClasses(x Rows, y []float64, k int) (Classes, error) {
	n, d := x.Dims()
	if n == 0 || n != len(y) {
		return nil, fmt.Errorf("baseline: %d labels for %d rows", len(y), n)
	}
	o := &classObjective{x: x, y: y, k: k, scale: scales(x)}
	v, err := minimise(o.value, o.gradient, make([]float64, k*(d+1)))
	if err != nil {
		return nil, err
	}
	m := make(Classes, k)
	for c := range m {
		w, b := o.of(v, c)
		m[c] = Model{Weights: floats.MulTo(make([]float64, d), w, o.scale), Intercept: b}
	}
	return m, nil
}

// classObjective is the function that FitClasses minimises, of each class's weights of the
// scaled columns, its intercept last.
type classObjective struct {
	x     Rows
	y     []float64
	k     int
	scale []float64
}

// of returns the part of a class.
func (o *classObjective) of(v []float64, class int) (w []float64, b float64) {
	d := len(o.scale)
	part := v[class*(d+1) : (class+1)*(d+1)]
	return part[:d], part[d]
}

// each calls f with the probabilities of each row's classes, and its loss.
func (o *classObjective) each(v []float64, f func(i int, p []float64, loss float64)) {
	p, at := make([]float64, o.k), make([][]float64, o.k)
	for c := range at {
		w, _ := o.of(v, c)
		at[c] = floats.MulTo(make([]float64, len(w)), w, o.scale)
	}
	for i, y := range o.y {
		for c := range p {
			_, b := o.of(v, c)
			p[c] = dot(o.x, i, at[c]) + b
		}
		own := p[int(y)]
		f(i, p, Softmax(p)-own)
	}
}

func (o *classObjective) value(v []float64) float64 {
	sum := 0.0
	for c := range o.k {
		w, _ := o.of(v, c)
		sum += floats.Dot(w, w) / 2
	}
	o.each(v, func(_ int, _ []float64, loss float64) { sum += loss })
	return sum / float64(len(o.y))
}

func (o *classObjective) gradient(g, v []float64) {
	clear(g)
	d := len(o.scale)
	o.each(v, func(i int, p []float64, _ float64) {
		columns, values := o.x.Row(i)
		p[int(o.y[i])]--
		for c, e := range p {
			part := g[c*(d+1) : (c+1)*(d+1)]
			part[d] += e
			if columns == nil {
				floats.AddScaled(part[:d], e, values)
			}
			for at, j := range columns {
				part[j] += e * values[at]
			}
		}
	})
	for c := range o.k {
		w, _ := o.of(v, c)
		part := g[c*(d+1) : (c+1)*(d+1)]
		for j, s := range o.scale {
			part[j] = part[j]*s + w[j]
		}
	}
	floats.Scale(1/float64(len(o.y)), g)
}
