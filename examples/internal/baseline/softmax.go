package baseline

import (
	"fmt"
	"math"
	"slices"

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

// FitClasses minimises the sum of −log of the probability of each row's class, 0 to k−1, times the row's weight; nil weights are 1. With
// fewer columns than rows it is the maximum likelihood estimate, up to [ridgeShare], by
// Newton's method; see [classLBFGS] for more columns, or so many that a Hessian is too large.
func FitClasses(x Rows, y, weights []float64, k int) (Classes, error) {
	n, d := x.Dims()
	if n == 0 || n != len(y) || weights != nil && n != len(weights) {
		return nil, fmt.Errorf("baseline: %d labels and %d weights for %d rows", len(y), len(weights), n)
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	if d < n && (k-1)*(d+1) <= mostColumns && n*d <= mostValues {
		return classNewton(x, y, weights, k)
	}
	return classLBFGS(x, y, weights, k)
}

// classNewton finds the scores of all classes but the first beside its own, and then takes
// off each weight's mean over the classes, which changes no probability.
func classNewton(x Rows, y, weights []float64, k int) (Classes, error) {
	n, _ := x.Dims()
	s := standardise(x)
	if err := s.whiten(); err != nil {
		return nil, err
	}
	_, width := s.design.Dims()
	o := &classCurved{s.design, y, weights, k, ridgeShare * math.Sqrt(float64(n))}
	m := make(Classes, k)
	parts := mat.NewDense(k, width, nil)
	if k > 1 {
		v := mat.NewVecDense((k-1)*width, nil)
		if err := minimiseCurved(o, v, 1e-12*o.value(v)); err != nil {
			return nil, err
		}
		parts.Slice(1, k, 0, width).(*mat.Dense).Copy(mat.NewDense(k-1, width, v.RawVector().Data))
	}
	for j := range width {
		mean := mat.Sum(parts.ColView(j)) / float64(k)
		for c := range k {
			parts.Set(c, j, parts.At(c, j)-mean)
		}
	}
	for c := range m {
		m[c] = *s.model(mat.NewVecDense(width, parts.RawRowView(c)))
	}
	return m, nil
}

// classCurved is the function that classNewton minimises, of the weights of each class but
// the first, a class after the other. The ridge holds the intercepts too: that of a class
// without rows has no minimiser.
type classCurved struct {
	design     *mat.Dense // a column of ones last
	y, weights []float64
	k          int
	ridge      float64
}

// probabilities are those of each row's classes, and the sum of the losses.
func (o *classCurved) probabilities(v *mat.VecDense) (*mat.Dense, float64) {
	n, width := o.design.Dims()
	p, sum := mat.NewDense(n, o.k, nil), 0.0
	p.Slice(0, n, 1, o.k).(*mat.Dense).Mul(o.design, mat.NewDense(o.k-1, width, v.RawVector().Data).T())
	for i, y := range o.y {
		row := p.RawRowView(i)
		own := row[int(y)]
		sum += o.weights[i] * (Softmax(row) - own)
	}
	return p, sum
}

func (o *classCurved) value(v *mat.VecDense) float64 {
	_, sum := o.probabilities(v)
	return sum + o.ridge*mat.Dot(v, v)/2
}

func (o *classCurved) derivatives(v *mat.VecDense) (*mat.VecDense, *mat.SymDense, float64) {
	n, width := o.design.Dims()
	p, _ := o.probabilities(v)
	gradient, hessian := mat.NewVecDense(v.Len(), nil), mat.NewSymDense(v.Len(), nil)
	scaled, block := mat.NewDense(n, width, nil), mat.NewDense(width, width, nil)
	for a := 1; a < o.k; a++ {
		for b := a; b < o.k; b++ {
			for i := range n {
				curvature := -p.At(i, a) * p.At(i, b)
				if a == b {
					curvature += p.At(i, a)
				}
				floats.ScaleTo(scaled.RawRowView(i), o.weights[i]*curvature, o.design.RawRowView(i))
			}
			block.Mul(o.design.T(), scaled)
			for i := range width {
				for j := range width {
					hessian.SetSym((a-1)*width+i, (b-1)*width+j, block.At(i, j))
				}
			}
		}
	}
	for i, y := range o.y {
		p.Set(i, int(y), p.At(i, int(y))-1)
		floats.Scale(o.weights[i], p.RawRowView(i))
	}
	mat.NewDense(o.k-1, width, gradient.RawVector().Data).Mul(p.Slice(0, n, 1, o.k).T(), o.design)
	gradient.AddScaledVec(gradient, o.ridge, v)
	for j := range v.Len() {
		hessian.SetSym(j, j, hessian.At(j, j)+o.ridge)
	}
	return gradient, hessian, mat.Norm(p, 2)
}

// classLBFGS adds ‖w‖²/2 to what it minimises, w being the weights of columns scaled to a
// largest magnitude of 1.
func classLBFGS(x Rows, y, weights []float64, k int) (Classes, error) {
	_, d := x.Dims()
	o := &classObjective{x: x, y: y, weights: weights, k: k, scale: scales(x)}
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

// classObjective is the function that classLBFGS minimises, over the rows, of each class's weights of the
// scaled columns, its intercept last.
type classObjective struct {
	x          Rows
	y, weights []float64
	k          int
	scale      []float64
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
	o.each(v, func(i int, _ []float64, loss float64) { sum += o.weights[i] * loss })
	return sum / float64(len(o.y))
}

func (o *classObjective) gradient(g, v []float64) {
	clear(g)
	d := len(o.scale)
	o.each(v, func(i int, p []float64, _ float64) {
		columns, values := o.x.Row(i)
		p[int(o.y[i])]--
		floats.Scale(o.weights[i], p)
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
