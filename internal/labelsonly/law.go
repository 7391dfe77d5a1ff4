package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Infer is the weights of encoded rows, a step of Newton's from the mode to where no law of weights draws them, and the law of
// their error; nil where nothing is determined.
//
// With slopes H at the mode that step undoes what the mode's prior did, but for slopes' changes. The error's covariance is
// H⁻¹(S + ν²I)H⁻¹, ν being the noise and S the variance of the sum: what the family says it is, moved towards what products of
// gradients say, which are released, by James and Stein's rule.
func Infer(p estimate.Problem, t estimate.Task) ([]float64, *infer.Law, error) {
	least := half
	if p.Asked.Labels() == losses.Real {
		least = tuning.LeastCutReal
	}
	x, constant, err := begin(p, t, nil, aim{true, tuning.ProductsShare, least})
	if err != nil {
		return nil, nil, err
	}
	if constant != nil {
		return constant[0], nil, nil
	}
	mode, o, err := x.estimate()
	if err != nil {
		return nil, nil, err
	}
	scatter, err := x.scatter(mode, o)
	if err != nil {
		return nil, nil, err
	}
	if scatter == nil { // numbers that don't hold it
		return x.weights(mode.theta, mode.times, 0), nil, nil
	}
	if x.cutOff > 0 {
		if err := x.addCutOff(scatter); err != nil {
			return nil, nil, err
		}
	}
	e, ok := x.step(mode, o, scatter)
	if ok {
		ok = !x.unread && !mode.separated(x) && !x.hidden(e, x.labels.Curvature)
	}
	if !ok || !e.held(x) {
		return x.weights(mode.theta, mode.times, 0), nil, nil
	}
	l, err := x.law(e)
	return x.weights(e.theta, e.times, 0), l, err
}

// estimated is a point, how it was moved from the mode by slopes that have an inverse, and the covariance of its error, of which what rows that
// count less may change is a part.
type estimated struct {
	theta, moved                []float64
	times                       float64 // a public point's number
	inverse, covariance, missed *mat.SymDense
}

// step is Newton's from the mode; false where slopes have no inverse.
func (x *fit) step(mode *state, o observation, scatter *mat.SymDense) (e estimated, ok bool) {
	n := len(mode.theta)
	var root mat.Cholesky
	e.inverse = mat.NewSymDense(n, nil)
	if !root.Factorize(mode.slope) || root.InverseTo(e.inverse) != nil {
		return e, false
	}
	left := slices.Clone(o.sum)
	floats.Sub(left, mode.mean)
	moved := mat.NewVecDense(n, nil)
	moved.MulVec(e.inverse, mat.NewVecDense(n, left))
	e.theta, e.moved, e.times = slices.Clone(mode.theta), moved.RawVector().Data, mode.times
	floats.Add(e.theta, e.moved)
	for j := range n {
		scatter.SetSym(j, j, scatter.At(j, j)+o.square(j))
	}
	scatter.SetSym(n-1, n-1, scatter.At(n-1, n-1)+o.beside*o.beside)
	e.covariance, e.missed = linalg.Sandwich(1, e.inverse, scatter), mat.NewSymDense(n, nil)
	x.addMissed(e.missed, o.scale)
	e.covariance.AddSym(e.covariance, e.missed)
	return e, true
}

// held reports whether one score's weights are those of a model.
func (e estimated) held(x *fit) bool {
	return floats.Norm(x.weights(e.theta, 0, 0), math.Inf(1)) < check.MaxScale
}

// addCutOff adds the square of what residuals' ends may have been: a part of them along any direction, and all along the constant of counts; that of numbers has
// it in the error of its sum.
func (x *fit) addCutOff(scatter *mat.SymDense) error {
	m, err := x.space.round(x.space.cut)
	if err != nil {
		return err
	}
	n, square := x.space.dim(), x.cutOff*x.cutOff/x.space.n
	_, real := x.family.(numbers)
	if real { // whose rows that are cut off are taken to be the longest
		square *= x.space.cut * x.space.cut * x.space.n / mat.Trace(m.twice)
	}
	for i := range n {
		for j := i; j < n; j++ {
			part := tuning.CutPart * tuning.CutPart
			if x.space.constant && i == n-1 {
				part = 1
				if real {
					part = 0
				}
			}
			scatter.SetSym(i, j, scatter.At(i, j)+float64(part*square)*m.twice.At(i, j))
		}
	}
	return nil
}

// hidden reports whether scores, whose curvature under the constant model is given, may be so far off, or have moved so far, that
// slopes tell little.
func (x *fit) hidden(e estimated, curvature float64) bool {
	off := x.family.off()
	if math.IsInf(off, 1) {
		return false
	}
	var root mat.Cholesky
	var product mat.Dense
	of, moved := mat.NewVecDense(len(e.moved), nil), mat.NewVecDense(len(e.moved), e.moved)
	if !root.Factorize(e.inverse) || root.SolveTo(&product, e.covariance) != nil || root.SolveVecTo(of, moved) != nil {
		return true
	}
	return !(mat.Trace(&product)+mat.Dot(moved, of) <= off*off*x.space.n*curvature)
}

// separated reports whether features tell the two classes of nearly all rows apart, so that the minimum is far out: means rise with the
// constant by less than a part of what they do under the constant model.
func (s *state) separated(x *fit) bool {
	_, classes := x.family.(twoClasses)
	last := x.space.dim() - 1
	return classes && x.space.constant && s.slope.At(last, last)*tuning.SeparatedCurvature <= floats.Sum(x.space.factors)*slopes(x.family, constantScores(x.family, x.labels)).At(0, 0)
}

// slopes are those of a row's means by scores.
func slopes(f family, scores []float64) *mat.SymDense {
	n := len(scores)
	mean, slope, variance := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	f.tell(scores, mean, slope, variance)
	return mat.NewSymDense(n, slope)
}

// ofLogOdds is the square of a column of several classes' scores over that of log-odds: these are √2 as long as what two classes' scores have
// along a contrast.
const ofLogOdds = 0.5

// addMissed sets what rows that count less may change, in all columns alike.
func (x *fit) addMissed(to *mat.SymDense, scale float64) {
	if _, classes := x.family.(several); classes {
		scale *= ofLogOdds
	}
	dim := x.space.dim()
	for c := range x.family.columns() {
		for i := range dim {
			for j := i; j < dim; j++ {
				to.SetSym(c*dim+i, c*dim+j, scale*x.missed.At(i, j))
			}
		}
	}
}

// scatter is the variance of the sum.
func (x *fit) scatter(mode *state, o observation) (*mat.SymDense, error) {
	n := x.space.dim()
	model := mat.NewSymDense(n, nil)
	model.ScaleSym(o.scale, mode.scatter)
	limit := x.limit
	if _, binary := x.family.(twoClasses); binary {
		limit = 1
	}
	u, b := x.split(mode.theta)
	slope := x.slope(limit)
	answer, err := x.in.Scatter(x.run.Task.Ctx, u, b, slope)
	packed, err := x.run.Pool.Draw(x.kept, answer, err)
	if err != nil {
		return nil, err
	}
	noise := x.run.Problem.Facts.Positive() * slope.Clip * slope.Clip / x.mu(x.kept)
	spectrum, ok := linalg.Decompose(model)
	if !ok || !(spectrum.Values[n-1] > 0) {
		return nil, nil
	}
	least := math.Max(spectrum.Values[n-1]*ridge, tiny)
	root := spectrum.Map(func(v float64) float64 { return math.Sqrt(math.Max(v, least)) })
	inverse := spectrum.Map(func(v float64) float64 { return 1 / math.Sqrt(math.Max(v, least)) })
	whole := 1 / ((1 - x.lost) * (1 - x.lost)) // as sums are multiplied
	noise *= whole
	seen := linalg.Sandwich(whole, inverse, curator.Unpack(packed, n))
	squared := spectrum.Map(func(v float64) float64 { return 1 / math.Max(v, least) })
	var fourth mat.Dense
	fourth.Mul(squared, squared)
	one, two := mat.Trace(squared), mat.Trace(&fourth)
	shrunk, ok := towardsOne(seen, noise, one, two)
	if !ok {
		return nil, nil
	}
	return linalg.Sandwich(1, root, shrunk), nil
}

// towardsOne moves what was seen in coordinates W in which it should be 1 there, by James and Stein's rule, its size and the rest apart, and
// leaves no eigenvalue below 0; one and two are the traces of W² and W⁴, and the noise N before has a variance of noise² on its diagonal and half of
// that off it.
func towardsOne(seen *mat.SymDense, noise, one, two float64) (*mat.SymDense, bool) {
	n := seen.SymmetricDim()
	mean := mat.Trace(seen) / float64(n)
	size := 1 + (mean-1)*estimate.JamesStein(noise*noise*two/float64(n*n), (mean-1)*(mean-1))
	rest := mat.NewSymDense(n, nil)
	rest.CopySym(seen)
	for j := range n {
		rest.SetSym(j, j, rest.At(j, j)-mean)
	}
	norm := mat.Norm(rest, 2)
	rest.ScaleSym(estimate.JamesStein(noise*noise*(one*one+two)/2, norm*norm), rest)
	for j := range n {
		rest.SetSym(j, j, rest.At(j, j)+size)
	}
	spectrum, ok := linalg.Decompose(rest)
	if !ok {
		return nil, false
	}
	return spectrum.Map(func(v float64) float64 { return math.Max(v, 0) }), true
}

// law is that of standardised weights along the axes, the constant's last: those of axes along which rows don't vary are not determined.
func (x *fit) law(e estimated) (*infer.Law, error) {
	s := x.space
	dim, k, raw := s.raw(), len(s.moments), s.raw()
	l := &infer.Law{
		Weights: mat.NewDense(raw, dim, nil), Covariance: mat.NewSymDense(dim, nil), Inverse: mat.NewSymDense(dim, nil),
		Misfit: mat.NewSymDense(dim, nil), Seen: 1, Curved: 1,
	}
	at, size := make([]int, s.dim()), make([]float64, s.dim()) // where coordinates are, and by how much these are longer
	for i := range k {
		at[i], size[i] = i, 1/math.Sqrt(math.Sqrt(s.moments[i]))
	}
	if s.constant {
		at[k], size[k] = s.d, 1
		l.Weights.Set(s.d, s.d, 1)
	}
	for i := range s.d {
		for j := range s.d {
			v := s.scale[j] * s.axes.At(j, i)
			l.Weights.Set(j, i, v)
			if s.constant {
				l.Weights.Set(s.d, i, l.Weights.At(s.d, i)-float64(s.centre[j]*v))
			}
		}
		if i >= k {
			direction := make([]float64, dim)
			direction[i] = 1
			l.Drowned = append(l.Drowned, direction)
		}
	}
	for i, a := range at {
		for j, b := range at {
			if b >= a {
				l.Covariance.SetSym(a, b, e.covariance.At(i, j)*size[i]*size[j])
				l.Misfit.SetSym(a, b, e.missed.At(i, j)*size[i]*size[j])
				l.Inverse.SetSym(a, b, e.inverse.At(i, j)*size[i]*size[j]*s.n)
			}
		}
	}
	if err := x.drownFar(l); err != nil {
		return nil, err
	}
	l.Steepness = infer.Steepness{Mean: 1, By: make([]float64, dim)}
	return l, x.steepen(&l.Steepness, e.theta, at, size)
}

// steepen finds what means rise by on average, at a point whose coordinates are longer than a law's by a size.
func (x *fit) steepen(to *infer.Steepness, theta []float64, at []int, size []float64) error {
	f, one := x.family.(single)
	if !one {
		return nil
	}
	s, raw := x.space, x.space.raw()
	w := s.from(theta)
	sums, err := s.each(raw+2, func(r rows, sum []float64) {
		t := r.tell(x.family, w)
		for i, v := range t.slope {
			sum[raw] += v
			sum[raw+1] += float64(v * v)
			floats.AddScaled(sum[:raw], f.growth(t.mean[i], v), r.x.Data[i*r.x.Stride:i*r.x.Stride+raw])
		}
	})
	if err != nil {
		return err
	}
	floats.Scale(1/s.n, sums)
	to.Mean = sums[raw]
	to.Noise = math.Sqrt(math.Max(0, sums[raw+1]-float64(sums[raw]*sums[raw])) / s.n)
	for i, v := range s.into(sums[:raw]) {
		to.By[at[i]] = v / size[i]
	}
	return nil
}

// drownFar has what isn't determined grow by each weight whose error may be so large that means aren't linear in it, by the step that the column's rows take: a level's, say,
// or what few rows are off a centre.
func (x *fit) drownFar(l *infer.Law) error {
	off := x.family.off()
	if math.IsInf(off, 1) {
		return nil
	}
	steps, err := stepsOf(x.space)
	if err != nil {
		return err
	}
	dim := x.space.raw()
	for j := range x.space.d {
		c := mat.VecDenseCopyOf(mat.NewVecDense(dim, mat.Row(nil, j, l.Weights)))
		if mat.Inner(c, l.Covariance, c)*steps[j]*steps[j] <= off*off {
			continue
		}
		whole := mat.Norm(c, 2)
		for _, d := range l.Drowned {
			direction := mat.NewVecDense(dim, d)
			c.AddScaledVec(c, -mat.Dot(direction, c), direction)
		}
		if norm := mat.Norm(c, 2); norm > ridge*whole {
			c.ScaleVec(1/norm, c)
			l.Drowned = append(l.Drowned, c.RawVector().Data)
		}
	}
	return nil
}
