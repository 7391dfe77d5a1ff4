package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// chooseCut makes the forecast of the risk least, that of weights whose scores vary by a unit, by the constant model. It
// begins with a cut of half of what rows are long, for intervals of real labels of twice it (tuning.LeastCutReal), beyond which next to all are cut alike, and doubles it as long as that helps.
func (x *fit) chooseCut() error {
	s := x.space
	typical, largest := s.lengths()
	whole, err := s.round(math.Inf(1))
	if err != nil {
		return err
	}
	curvature, variance := x.labels.Curvature, x.labels.Residual
	prior := s.prior()
	floats.Scale(x.unit()*x.unit()/float64(s.d), prior) // for scores that vary by a unit
	best := math.Inf(1)
	for cut := x.least * typical; ; cut *= 2 {
		m, err := s.round(cut)
		if err != nil {
			return err
		}
		noise := 2 * x.likely() * cut / x.mu(x.run.Pool.Left)
		risk := m.risk(whole, curvature, variance, noise, prior)
		of := mat.NewSymDense(s.dim(), nil)
		if x.infers {
			if missed, ok := m.misfit(whole); ok {
				of = missed
			}
			var product mat.Dense
			product.Mul(whole.once, of)
			risk += x.unit() * x.unit() * mat.Trace(&product)
		}
		if !(risk < best) && x.missed != nil {
			break
		}
		best, x.missed = risk, of
		s.cutAt(cut)
		if cut >= largest {
			break
		}
	}
	return nil
}

// likely is half of how far labels' statistics are apart at most: of numbers and counts, likely.
func (x *fit) likely() float64 {
	far := tuning.LikelyDeviations * math.Sqrt(x.labels.Residual)
	switch x.family.(type) {
	case numbers:
		return far
	case counts: // of which most are 0 where they are few, and 1 the least beside
		far = math.Max(far, 1)
		return held{below: far, above: math.Min(far, x.labels.Mean)}.limit()
	case several: // (1, 0) and (0, 1) of two classes
		return math.Sqrt2 / 2
	}
	return half
}

// unit is that of scores.
func (x *fit) unit() float64 {
	if _, real := x.family.(numbers); real {
		return math.Sqrt(x.labels.Residual)
	}
	return 1
}

// rounded are second moments of rows in the coordinates, by their factors and by these's squares.
type rounded struct {
	once, twice *mat.SymDense
	rows        float64
}

func (x *space) round(cut float64) (m rounded, err error) {
	was, square := x.cut, x.raw()*x.raw()
	x.cutAt(cut)
	sum, err := x.each(2*square, func(r rows, sum []float64) {
		r.weigh(r.factors, sum[:square])
		squares := slices.Clone(r.factors)
		floats.Mul(squares, r.factors)
		r.weigh(squares, sum[square:])
	})
	x.cutAt(was)
	return rounded{symmetric(x.squared(sum[:square])), symmetric(x.squared(sum[square:])), x.n}, err
}

// misfit is the square of what rows that count less may change of a point where the model isn't that of labels, in units of
// scores: as much along each direction as its curvature is off those of others, as for other intervals.
func (m rounded) misfit(whole rounded) (*mat.SymDense, bool) {
	spectrum, ok := linalg.Decompose(whole.once)
	if !ok {
		return nil, false
	}
	n := len(spectrum.Values)
	least := ridge * spectrum.Values[n-1]
	root := spectrum.Map(func(v float64) float64 { return 1 / math.Sqrt(math.Max(v, least)) })
	counted, ok := linalg.Decompose(linalg.Sandwich(1, root, m.once))
	if !ok {
		return nil, false
	}
	mean := floats.Sum(counted.Values) / float64(n)
	return linalg.Sandwich(whole.rows, root, counted.Map(func(v float64) float64 { return math.Pow(tuning.Misfit*(1-v/mean), 2) })), true
}

// symmetric is the upper triangle.
func symmetric(m *mat.Dense) *mat.SymDense {
	n, _ := m.Dims()
	return mat.NewSymDense(n, m.RawMatrix().Data)
}

// risk is the expected squared error of scores: the trace of moments and the posterior's variance.
func (m rounded) risk(whole rounded, curvature, variance, noise float64, prior []float64) float64 {
	dim := len(prior)
	v := mat.NewSymDense(dim, nil)
	v.ScaleSym(variance, m.twice)
	for j := range dim {
		v.SetSym(j, j, v.At(j, j)*(1+ridge)+noise*noise)
	}
	var root, all mat.Cholesky
	if !root.Factorize(v) {
		return math.Inf(1)
	}
	var solved, information mat.Dense
	if root.SolveTo(&solved, m.once) != nil {
		return math.Inf(1)
	}
	information.Mul(m.once, &solved)
	a := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			a.SetSym(i, j, curvature*curvature*(information.At(i, j)+information.At(j, i))/2)
		}
		a.SetSym(i, i, a.At(i, i)*(1+ridge)+1/prior[i])
	}
	if !all.Factorize(a) || all.SolveTo(&solved, whole.once) != nil {
		return math.Inf(1)
	}
	return mat.Trace(&solved)
}
