package dpglm

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/audit/evidence"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// worst is a learner that reaches its whole ε: it releases the sum of its labels
// with Laplace noise as the second weight, on which no score depends here. The
// first weight says which model it is: always Fixed, or the first label times 10
// where Fixed is 0, which is not private in the rows that its audits leave alone.
type worst struct{ Fixed float64 }

func (l worst) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	return once(l, s, p, b, func(r *run) ([]float64, error) {
		w := []float64{l.Fixed}
		if l.Fixed == 0 {
			first, err := labels(r.data.Cut(r.data.Facts().Rows)[0])
			if err != nil {
				return nil, err
			}
			w[0] = 10 * first
		}
		total, err := labels(r.data)
		if err != nil {
			return nil, err
		}
		sum, err := r.allow.AddNoise(release.NewAnswer(r.data.Rows(), []float64{total}, 2))
		return append(w, sum...), err
	})
}

// once is the plan of a learner that may make one release of one number with
// discrete Laplace noise.
func once(l Learner, s Shape, p Problem, b Budget, train func(*run) ([]float64, error)) (*Plan, error) {
	epsilon, err := b.pureEpsilon()
	if err != nil {
		return nil, err
	}
	schedule, err := release.Laplace("sum of labels", epsilon, 1, 1)
	if err != nil {
		return nil, err
	}
	return planScore(l, s, p, b, schedule, train)
}

// labels is the sum of the labels, ±1, of rows (1, 0): their gradients at 0 are −y/2.
func labels(d *curator.Data) (float64, error) {
	sums, err := d.Under(losses.Logistic{})
	if err != nil {
		return 0, err
	}
	answer, err := sums.Gradient(context.Background(), []float64{0, 0}, NoClip)
	if err != nil {
		return 0, err
	}
	g, _, err := overhear(d.Rows(), answer, 2)
	if err != nil {
		return 0, err
	}
	return -2 * g[0], nil
}

// combined is a pair of four rows (1, 0) for a combinator over worst learners. The
// rows are named by their place in the order of the combinator's seed 1; one row's
// label changes from 1 to −1.
func combined(l Learner, labels []float64, changed int) pair {
	p := pair{learner: l, problem: Problem{Loss: losses.Logistic{}, Radius: 10}, budget: PureDP(1), facts: Bounds{Feature: 1}}
	x := mat.NewDense(4, 2, []float64{1, 0, 1, 0, 1, 0, 1, 0})
	order := shuffled(4, 1)
	for side := range p.x {
		p.x[side], p.y[side] = x, make([]float64, 4)
		for k, y := range labels {
			p.y[side][order[k]] = y
		}
		p.y[side][order[changed]] = 1 - 2*float64(side)
	}
	return p
}

// auditedCombinators audits either stage of grid search and of boosting: the
// selection, whose output is which model, and the training, whose output is the
// noisy sum that a model carries. Only one of a search's two models comes out, so
// half of what the two trainings spend can be seen.
func auditedCombinators(t *testing.T) []audited {
	t.Helper()
	const epsilon = 1.0
	candidates := []Candidate{{worst{10}, 0}, {worst{-10}, 0}}
	byError := GridSearchConfig{Candidates: candidates, Criterion: ZeroOneError, Validation: 0.5, Seed: 1}
	boost := BoostConfig{Learner: worst{}, Chunks: 2, Seed: 1}
	noisy := boost
	noisy.NoisyMax = true
	single := BoostConfig{Learner: worst{10}, Chunks: 1, Seed: 1}
	even := []float64{1, -1, -1, 0} // the last label changes; the other held-out row favours the second model
	var list []audited
	add := func(name string, reachable float64, p pair, statistic func(w []float64) float64) {
		list = append(list, audited{name, evidence.Epsilon, epsilon, reachable, 100_000, p.sample(statistic)})
	}
	secondWeight := func(w []float64) float64 { return w[1] }
	add("GridSearch by error, selection", epsilon, combined(byError, even, 3), firstWeight)
	add("GridSearch by error, training", epsilon/2, combined(byError, []float64{1, 0, 1, -1}, 1), ofSecondModel)
	add("Boost, selection", epsilon, combined(boost, even, 3), firstWeight)
	add("Boost by noisy max, selection", noisyMaxRatio(epsilon), combined(noisy, even, 3), firstWeight)
	add("Boost, training", epsilon, combined(single, []float64{0, 1, 1, 1}, 0), secondWeight)
	add("Boost, training, persons", epsilon, combined(single, []float64{0, 1, 1, 1}, 0).ofPersons(), secondWeight)
	return append(list, auditedByLoss(epsilon))
}

// constant is a learner that trains nothing: it releases public weights.
type constant []float64

func (l constant) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	return once(l, s, p, b, func(*run) ([]float64, error) { return slices.Clone(l), nil })
}

// auditedByLoss is the selection between the weights (7, 7), (7, −7) and 0. All rows
// but two are (1, 0) with label 1, which makes either model better than 0. The
// losses on (0, 1) are near 0 and the cap: one such row of label −1 favours the
// second model, and the other's label changes from 1 to −1.
func auditedByLoss(epsilon float64) audited {
	const n, held = 400, 200
	c := GridSearchConfig{Candidates: []Candidate{{constant{7, 7}, 0}, {constant{7, -7}, 0}}, Validation: 0.5, Seed: 1}
	p := pair{learner: c, problem: Problem{Loss: losses.Logistic{}, Radius: 10}, budget: PureDP(epsilon), facts: Bounds{Feature: 1}}
	order := shuffled(n, 1)
	for side := range p.x {
		x, y := mat.NewDense(n, 2, nil), make([]float64, n)
		for i := range y {
			x.SetRow(i, []float64{1, 0})
			y[i] = 1
		}
		for k, label := range []float64{-1, 1 - 2*float64(side)} {
			i := order[n-1-k]
			x.SetRow(i, []float64{0, 1})
			y[i] = label
		}
		p.x[side], p.y[side] = x, y
	}
	return audited{"GridSearch by loss, selection", evidence.Epsilon, epsilon, byLossRatio(epsilon, held), 200_000,
		p.sample(func(w []float64) float64 { return w[1] })}
}

// ofSecondModel is the noisy sum where the second model is selected, negative so
// that it counts where the changed label is −1.
func ofSecondModel(w []float64) float64 {
	if w[0] > 0 {
		return math.Inf(-1)
	}
	return -w[1]
}

// byLossRatio is what auditedByLoss reaches: either model loses the cap on one of
// the two rows, or the first loses it on both.
func byLossRatio(epsilon, held float64) float64 {
	k := losses.Logistic{}.Constants(10, 0)
	limit, logs := math.Min(k.Value, maxCap*k.AtZero), math.Log(2*2/0.05)
	m := mechanisms.GeneralizedExponential{Epsilon: epsilon, Beta: 0.05}
	small := math.Log1p(math.Exp(-7))
	rest := (held-2)*small + math.Sqrt(2*limit*k.AtZero*logs*held) + limit*logs/3
	zero := k.AtZero * held
	even := limit + small + rest
	return generalizedRatio(m, []float64{even, even, zero}, []float64{2*limit + rest, 2*small + rest, zero}, []float64{limit, limit, 0})
}
