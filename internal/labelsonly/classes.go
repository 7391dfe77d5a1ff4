package labelsonly

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
)

// InferClasses is the weights of encoded rows of each class less the reference's, 0 of the reference, by a step of Newton's from the mode of
// all classes together to where no law of weights draws them, and of each class the law of their error; nil where nothing is determined.
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
	e, ok := x.step(mode, o, mode.scatter)
	if !ok {
		return against(x.weightsOfClasses(mode.theta, mode.times), reference), laws, nil
	}
	list := against(x.weightsOfClasses(e.theta, e.times), reference)
	for k := range laws {
		if k == reference {
			continue
		}
		if laws[k], err = x.law(e.ofClass(x.family.(several), k, reference)); err != nil {
			return nil, nil, err
		}
		if laws[k].Steepness, err = x.space.steepness(x.family.(several), e.theta, k, reference); err != nil {
			return nil, nil, err
		}
	}
	return list, laws, nil
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
	one := estimated{theta: make([]float64, dim), times: e.times}
	mat.NewVecDense(dim, one.theta).MulVec(pick, mat.NewVecDense(columns*dim, e.theta))
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
