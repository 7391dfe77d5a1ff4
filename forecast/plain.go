package forecast

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// sample are made-up rows with their labels as a loss takes them. Rows of one person lie
// together, and share one row's weight.
type sample struct {
	x       *mat.Dense
	y       []float64
	details details
	loss    losses.Loss
	width   float64 // that kinks are smoothed over
}

// plain is a fit without privacy: weights, the intercept's last, and their standard errors.
type plain struct{ weights, errors []float64 }

var errNoFit = errors.New("forecast: the made-up rows have no fit without privacy: there are too few, or the labels' mean is too near the end of its range")

// smooth is the loss to fit, with its second derivative. Kinks are smoothed over a width that
// is small beside what labels vary by.
func smooth(l losses.Loss, width float64) (losses.Loss, func(z, y float64) float64) {
	if e, ok := losses.Envelope(l, width); ok {
		l = e
	}
	if curvature, ok := losses.CurvatureOf(l); ok {
		return l, curvature
	}
	const h = 1e-4
	return l, func(z, y float64) float64 { return (l.Deriv(z+h, y) - l.Deriv(z-h, y)) / (2 * h) }
}

// fit minimises the mean loss by Newton's method, with steps that are halved while they lead
// up. A ridge of a millionth of the curvature holds what rows don't determine.
func (s *sample) fit(ctx context.Context, intercept bool) (*plain, error) {
	n, d := s.x.Dims()
	if intercept {
		d++
	}
	loss, curvature := smooth(s.loss, s.width)
	f := &fitting{sample: s, intercept: intercept, smooth: loss, curvature: curvature, weights: s.shares(n), row: make([]float64, d)}
	if h := loss.Constants(1, 1).Smoothness; !math.IsInf(h, 1) {
		f.least = 0.01 * h
	}
	w := make([]float64, d)
	if intercept {
		w[d-1] = f.start()
	}
	value := f.value(w)
	for range 100 {
		if err := check.Cancelled(ctx); err != nil {
			return nil, err
		}
		step, decrement, err := f.newton(w)
		if err != nil {
			return nil, err
		}
		if decrement <= 1e-12*(1+math.Abs(value)) {
			break
		}
		next, at := make([]float64, d), math.NaN()
		for t := 1.0; t > 1e-10; t /= 2 {
			floats.AddScaledTo(next, w, -t, step)
			if at = f.value(next); at <= value-1e-4*t*decrement {
				break
			}
		}
		if !(at < value) {
			break // as far as rounding lets it
		}
		w, value = next, at
	}
	// A hundred steps don't end where there are kinks, but near the end.
	var factor mat.Cholesky
	if _, hessian := f.derivatives(w, 0); !factor.Factorize(hessian) {
		return nil, errNoFit
	}
	return f.result(w, &factor), nil
}

// newton is Newton's step at w, to be taken off it, and its product with the gradient.
func (f *fitting) newton(w []float64) (step []float64, decrement float64, err error) {
	gradient, hessian := f.derivatives(w, f.least)
	var factor mat.Cholesky
	var solved mat.VecDense
	if !factor.Factorize(hessian) {
		return nil, 0, errNoFit
	}
	if err := factor.SolveVecTo(&solved, gradient); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, 0, errNoFit
	}
	return solved.RawVector().Data, mat.Dot(&solved, gradient), nil
}

// fitting is the function to minimise.
type fitting struct {
	*sample
	intercept bool
	smooth    losses.Loss
	curvature func(z, y float64) float64
	weights   []float64 // of the rows; they sum to 1
	least     float64   // curvature to step by, where a loss is linear
	row       []float64 // to work with
}

// shares are the rows' weights.
func (s *sample) shares(n int) []float64 {
	out := make([]float64, n)
	var persons float64
	for lo := 0; lo < n; {
		hi := lo + 1
		for s.details.persons != nil && hi < n && s.details.persons[hi] == s.details.persons[lo] {
			hi++
		}
		for i := lo; i < hi; i++ {
			out[i] = 1 / float64(hi-lo)
		}
		persons++
		lo = hi
	}
	floats.Scale(1/persons, out)
	return out
}

// start is an intercept to begin with.
func (f *fitting) start() float64 {
	mean := floats.Dot(f.weights, f.y)
	switch kind := f.loss.Labels(); {
	case kind == losses.Real:
		return mean
	case kind == losses.Count && losses.LinkOf(f.loss) == losses.Log, kind == losses.Amount:
		return math.Log(math.Max(mean, 1e-9))
	}
	return 0
}

// score is that of row i, which it puts into f.row.
func (f *fitting) score(i int, w []float64) float64 {
	if copy(f.row, f.x.RawRowView(i)); f.intercept {
		f.row[len(w)-1] = 1
	}
	z := floats.Dot(f.row, w)
	if f.details.offsets != nil {
		z += f.details.offsets[i]
	}
	return z
}

func (f *fitting) value(w []float64) float64 {
	var sum float64
	for i, weight := range f.weights {
		sum += weight * f.smooth.Value(f.score(i, w), f.y[i])
	}
	return sum
}

// derivatives are the gradient and the Hessian of the mean, curvatures being held to the
// least.
func (f *fitting) derivatives(w []float64, least float64) (*mat.VecDense, *mat.SymDense) {
	d := len(w)
	gradient, products := mat.NewVecDense(d, nil), newProducts(d)
	for i, weight := range f.weights {
		z := f.score(i, w)
		floats.AddScaled(gradient.RawVector().Data, weight*f.smooth.Deriv(z, f.y[i]), f.row)
		products.add(weight*math.Max(least, f.curvature(z, f.y[i])), f.row)
	}
	hessian := products.total()
	ridge := 1e-6*mat.Trace(hessian)/float64(d) + 1e-12
	for j := range d {
		hessian.SetSym(j, j, hessian.At(j, j)+ridge)
	}
	return gradient, hessian
}

// products is a sum of products of vectors, of which it takes many at a time.
type products struct {
	sum   *mat.SymDense
	block *mat.Dense
	used  int
}

func newProducts(d int) *products {
	return &products{sum: mat.NewSymDense(d, nil), block: mat.NewDense(256, d, nil)}
}

func (p *products) add(weight float64, v []float64) {
	floats.ScaleTo(p.block.RawRowView(p.used), math.Sqrt(weight), v)
	if p.used++; p.used == p.block.RawMatrix().Rows {
		p.total()
	}
}

func (p *products) total() *mat.SymDense {
	if p.used > 0 {
		p.sum.SymRankK(p.sum, 1, p.block.Slice(0, p.used, 0, p.sum.SymmetricDim()).T())
		p.used = 0
	}
	return p.sum
}

// result has sandwich errors, of persons where there are any.
func (f *fitting) result(w []float64, factor *mat.Cholesky) *plain {
	d := len(w)
	products, sum := newProducts(d), make([]float64, d)
	for i, weight := range f.weights {
		z := f.score(i, w)
		floats.AddScaled(sum, weight*f.smooth.Deriv(z, f.y[i]), f.row)
		if p := f.details.persons; p == nil || i == len(p)-1 || p[i+1] != p[i] {
			products.add(1, sum)
			clear(sum)
		}
	}
	scatter := products.total()
	var inverse mat.SymDense
	out := &plain{weights: w, errors: make([]float64, d)}
	if err := factor.InverseTo(&inverse); err != nil && !errors.As(err, new(mat.Condition)) {
		return out
	}
	for j := range d {
		row := mat.NewVecDense(d, mat.Row(nil, j, &inverse))
		out.errors[j] = math.Sqrt(mat.Inner(row, scatter, row))
	}
	return out
}
