package labelsonly

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
)

// InferClasses is the weights of encoded rows of each class less the reference's, 0 of the reference, by a step of Newton's from the mode of
// all classes together to where no law of weights draws them, and of each class the law of their error; nil, and the mode's weights, where
// nothing is determined of it. Classes that features tell from the reference stay at the mode while others move.
//
// With slopes H at the mode the error's covariance is H⁻¹(S + ν²I)H⁻¹, ν being the noise and S the variance of the sum by softmax: classes are
// taken to have the probabilities that it says. Products of gradients aren't asked for.
func InferClasses(p estimate.Problem, t estimate.Task, classes *curator.Classes, reference int) ([][]float64, []*infer.Law, error) {
	laws := make([]*infer.Law, p.Classes)
	x, constant, err := begin(p, t, classes, aim{infers: true, least: half})
	if err != nil {
		return nil, nil, err
	}
	if constant != nil {
		return against(constant, reference), laws, nil
	}
	mode, o, err := x.ofClasses()
	if err != nil {
		return nil, nil, err
	}
	told := mode.told(x, o, reference)
	theta, dim := slices.Clone(mode.theta), x.space.dim()
	for k, e := range told {
		if e == nil {
			continue
		}
		for c, v := range x.family.(several).contrasts.RawRowView(k) {
			floats.AddScaled(theta[c*dim:(c+1)*dim], v, e.moved)
		}
	}
	for k, e := range told {
		if e == nil {
			continue
		}
		if laws[k], err = x.law(*e); err != nil {
			return nil, nil, err
		}
		if laws[k].Steepness, err = x.space.steepness(x.family.(several), theta, k, reference); err != nil {
			return nil, nil, err
		}
	}
	return against(x.weightsOfClasses(theta, mode.times), reference), laws, nil
}

// told is what is known of each class's point less the reference's; nil where nothing is.
func (s *state) told(x *fit, o observation, reference int) []*estimated {
	f, dim, told := x.family.(several), x.space.dim(), make([]*estimated, x.family.columns()+1)
	among, curvature := s.among(x, reference)
	if len(among) < 2 {
		return told
	}
	of, few := *x, f.among(among)
	by := f.turn(few, dim)
	of.family, o.sum = few, turned(by, o.sum)
	e, ok := of.step(&state{
		theta: turned(by, s.theta), mean: turned(by, s.mean), times: s.times,
		slope: linalg.Sandwich(1, by, s.slope),
	}, o, linalg.Sandwich(1, by, s.scatter))
	for _, k := range among {
		if !ok || k == reference {
			continue
		}
		if one := e.ofClass(few, k, reference); one.held(x) && !x.hidden(one, curvature[k]) {
			told[k] = &one
		}
	}
	return told
}

// among are the reference and the classes that features don't tell from it, with the curvature by log-odds against it under the constant model,
// where scores of others follow.
func (s *state) among(x *fit, reference int) (list []int, curvature []float64) {
	f, dim := x.family.(several), x.space.dim()
	curvature = f.between(slopes(f, constantScores(f, x.labels)), reference)
	left, rows := curvature, 0.0
	if x.space.constant {
		at := mat.NewSymDense(f.columns(), nil)
		for i := range f.columns() {
			for j := i; j < f.columns(); j++ {
				at.SetSym(i, j, s.slope.At((i+1)*dim-1, (j+1)*dim-1))
			}
		}
		left, rows = f.between(at, reference), floats.Sum(x.space.factors)
	}
	for k, v := range left {
		if k == reference || v*tuning.SeparatedCurvature > rows*curvature[k] {
			list = append(list, k)
		}
	}
	return list, curvature
}

// between are slopes by log-odds of each class against another where scores of others follow, of slopes by columns' scores: one over squares of a distance.
func (c several) between(slopes *mat.SymDense, other int) []float64 {
	out := make([]float64, c.columns()+1)
	spectrum, ok := linalg.Decompose(slopes)
	if !ok {
		return out
	}
	least := math.Max(ridge*spectrum.Values[c.columns()-1], tiny) // along contrasts of which these two have nothing
	inverse := spectrum.Map(func(v float64) float64 { return 1 / math.Max(v, least) })
	for k := range out {
		b := mat.NewVecDense(c.columns(), slices.Clone(c.contrasts.RawRowView(k)))
		floats.Sub(b.RawVector().Data, c.contrasts.RawRowView(other))
		out[k] = 1 / mat.Inner(b, inverse, b)
	}
	return out
}

// among are contrasts of some of the classes, those of others staying.
func (c several) among(classes []int) several {
	all, _ := c.contrasts.Dims()
	few := newSeveral(len(classes)).contrasts
	b := mat.NewDense(all, len(classes)-1, nil)
	for i, k := range classes {
		b.SetRow(k, few.RawRowView(i))
	}
	return several{b}
}

// turn leads from points of columns, one after another, to those along other contrasts.
func (c several) turn(to several, dim int) *mat.Dense {
	var out mat.Dense
	out.Kronecker(linalg.Product(to.contrasts.T(), c.contrasts), mat.NewDiagDense(dim, slices.Repeat([]float64{1}, dim)))
	return &out
}

// turned is a matrix times a vector.
func turned(by mat.Matrix, v []float64) []float64 {
	n, _ := by.Dims()
	out := mat.NewVecDense(n, nil)
	out.MulVec(by, mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

// against has the reference's weights taken from all.
func against(list [][]float64, reference int) [][]float64 {
	for k, w := range list {
		if k != reference {
			floats.Sub(w, list[reference])
		}
	}
	clear(list[reference])
	return list
}

// ofClass is what is known of a class's point less the reference's, of all columns' one after another.
func (e estimated) ofClass(f several, class, reference int) estimated {
	b, columns := f.contrasts, f.columns()
	dim := len(e.theta) / columns
	pick := mat.NewDense(dim, columns*dim, nil)
	for c := range columns {
		for j := range dim {
			pick.Set(j, c*dim+j, b.At(class, c)-b.At(reference, c))
		}
	}
	one := estimated{theta: turned(pick, e.theta), moved: turned(pick, e.moved), times: e.times}
	of := func(m *mat.SymDense) *mat.SymDense {
		var half, whole mat.Dense
		half.Mul(pick, m)
		whole.Mul(&half, pick.T())
		return symmetric(&whole)
	}
	one.inverse, one.covariance, one.missed = of(e.inverse), of(e.covariance), of(e.missed)
	return one
}

// steepness is by how much a class's probability among two rises with its score less the other's, on average over the rows that are likely of
// either. How many these are is taken not to change with scores.
func (x *space) steepness(f several, theta []float64, class, other int) (infer.Steepness, error) {
	to, raw, columns := infer.Steepness{By: make([]float64, x.raw())}, x.raw(), f.columns()
	w := x.columnsOf(theta, columns)
	sums, err := x.each(raw+3, func(r rows, sum []float64) {
		t := r.tell(f, w)
		for i := range r.x.Rows {
			mean := t.mean[i*columns : (i+1)*columns]
			one, two := f.probability(mean, class), f.probability(mean, other)
			both := one + two
			q := one / math.Max(both, tiny)
			rises := q * (1 - q)
			sum[raw] += both
			sum[raw+1] += both * rises
			sum[raw+2] += float64(both * rises * rises)
			floats.AddScaled(sum[:raw], both*rises*(1-2*q), r.x.Data[i*r.x.Stride:i*r.x.Stride+raw])
		}
	})
	if err != nil {
		return to, err
	}
	both := math.Max(sums[raw], tiny)
	floats.Scale(1/both, sums[:raw])
	to.Mean = sums[raw+1] / both
	to.Noise = math.Sqrt(math.Max(0, sums[raw+2]/both-float64(to.Mean*to.Mean)) / both)
	for i, v := range x.into(sums[:raw]) {
		if i < len(x.moments) {
			to.By[i] = v * math.Sqrt(math.Sqrt(x.moments[i]))
		} else {
			to.By[x.d] = v
		}
	}
	return to, nil
}

// probability is a class's, of the means of columns: contrasts of probabilities, which sum to 1.
func (c several) probability(mean []float64, class int) float64 {
	return math.Max(0, floats.Dot(c.contrasts.RawRowView(class), mean)+1/float64(c.columns()+1))
}
