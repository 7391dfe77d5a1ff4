package dpglm

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// worst is a learner that reaches its whole ε: it releases the sum of its labels
// with Laplace noise as the second weight, on which no score depends here. The
// first weight says which model it is: always Fixed, or the first label times 10
// where Fixed is 0, which is not private in the rows that its audits leave alone.
type worst struct{ Fixed float64 }

func (l worst) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	epsilon, err := b.pureEpsilon()
	if err != nil {
		return nil, err
	}
	noise := mechanisms.Laplace{Epsilon: epsilon}
	ledger, err := noise.Ledger("sum of labels", 1)
	run := func(_ context.Context, d *Dataset, env *Env) ([]float64, error) {
		w, total := []float64{l.Fixed, 0}, 0.0
		for _, y := range d.labels {
			total += y
		}
		if l.Fixed == 0 {
			w[0] = 10 * d.labels[0]
		}
		return w, noise.Release(w[1:], []float64{total}, 2, env.noise())
	}
	return &Plan{Learner: l, Problem: p, Ledger: ledger, shape: s, run: run, reach: 10}, err
}

// combined is a pair of four rows (1, 0) for a combinator over worst learners. The
// rows are named by their place in the order of the combinator's seed 1; the last
// but one favours the second model, and one row's label changes from 1 to −1.
func combined(l Learner, labels []float64, changed int) pair {
	p := pair{learner: l, problem: Problem{losses.Logistic{}, 10}, budget: PureDP(1), facts: Bounds{Feature: 1}}
	x := mat.NewDense(4, 2, []float64{1, 0, 1, 0, 1, 0, 1, 0})
	order := permutation(4, 1)
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
	byError := GridSearchConfig{Candidates: candidates, Score: ZeroOneError, Seed: 1}
	byLoss := GridSearchConfig{Candidates: candidates, Seed: 1}
	boost := BoostConfig{Learner: worst{}, Chunks: 2, Seed: 1}
	noisy := boost
	noisy.NoisyMax = true
	single := BoostConfig{Learner: worst{10}, Chunks: 1, Seed: 1}
	even := []float64{1, -1, -1, 0} // the last label changes
	var list []audited
	add := func(name string, reachable float64, p pair, statistic func(w []float64) float64) {
		list = append(list, audited{name, inEpsilon, epsilon, reachable, 40_000, p.sample(statistic)})
	}
	secondWeight := func(w []float64) float64 { return w[1] }
	add("GridSearch by error, selection", epsilon, combined(byError, even, 3), firstWeight)
	add("GridSearch by loss, selection", byLossReach(epsilon), combined(byLoss, even, 3), firstWeight)
	add("GridSearch by error, training", epsilon/2, combined(byError, []float64{0, -1, -1, -1}, 0), secondWeight)
	add("Boost, selection", epsilon, combined(boost, even, 3), firstWeight)
	add("Boost by noisy max, selection", noisyMaxReach(epsilon), combined(noisy, even, 3), firstWeight)
	add("Boost, training", epsilon, combined(single, []float64{0, 1, 1, 1}, 0), secondWeight)
	return list
}

// byLossReach is what the selection by loss reaches: two models whose losses on
// the held-out rows are (capped) near 0 and c, or the reverse, on each row, with
// equal penalties, beside the zero model.
func byLossReach(epsilon float64) float64 {
	k := losses.Logistic{}.Constants(10, 0)
	c, logs := math.Min(k.Value, maxCap*k.AtZero), math.Log(2*2/0.05)
	penalty := math.Sqrt(2*c*k.AtZero*logs*2) + c*logs/3
	m := mechanisms.GeneralizedExponential{Epsilon: epsilon, Beta: 0.05}
	small := math.Log1p(math.Exp(-10))
	even, apart := c+small+penalty, []float64{2*c + penalty, 2*small + penalty}
	return generalizedReach(m, []float64{even, even, 2 * k.AtZero}, append(apart, 2*k.AtZero), []float64{c, c, 0})
}
