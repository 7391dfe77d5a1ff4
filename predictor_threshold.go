package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
)

// ThresholdConfig holds the parameters of NewThreshold.
type ThresholdConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int
	// Alpha sets the walk's limit, T = ⌈2·log(2/Alpha)/ε⌉, in (0, 1); 0 takes
	// 0.05. Privacy doesn't depend on it.
	Alpha float64
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool
}

// NewThreshold classifies by a single feature, by thresholds or unions of
// intervals, without knowing how many: the exponential projected walk [DF18,
// Figure 1]. It goes through the rows by increasing feature,
//
//	v₀ = 0,  v_i = clamp(v_{i−1} + (2y_i − 1), −T, T)
//
// and answers x by 1 with probability e^{εv/2}/(1 + e^{εv/2}), v the value after the
// last row that is not above x, and by 0 otherwise.
//
// # Privacy
//
// Replace-one. Rows of equal features stand in the order of their numbers, so that
// replacing a row doesn't change the order of the others. Remove the replaced row
// from both walks: they then take the same steps up to x, hence end at the same
// v. Putting one step back moves a walk by at most 1 where the row stands, and
// each later step, a shift and a projection, brings no two walks further apart: v
// moves by at most 1 for either row, by 2 in all [DF18, Lemma 5.1]. An answer is
// ε-DP and ε-bounded-range (mechanisms.Vote). That holds for any T and any order
// of features that each row decides for itself.
//
// # Parameters
//
// The data must have one column, besides an intercept, and binary labels. If no two
// rows have the same feature, the mean error over the training rows is at most that
// of the best union of intervals with k ends, plus (k+2)T/n + e^{−εT/2} [DF18,
// Lemma 5.2]. The walk takes O(n·log n), an answer O(log n).
func NewThreshold(ctx context.Context, d *Dataset, b Budget, cfg ThresholdConfig, env *Env) (*Predictor, error) {
	if d == nil {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must not be nil")
	}
	s, limit, err := cfg.plan(d.Shape(), b)
	if err != nil {
		return nil, err
	}
	if _, err := d.sums(losses.Logistic{}); err != nil { // which checks the labels
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	walk := newWalk(d.table.First(), d.labels, limit)
	s.value = func(u []float64) float64 { return float64(walk.at(u[0])) }
	return newPredictor(d, s, env), nil
}

// plan returns the service and T.
func (c ThresholdConfig) plan(s Shape, b Budget) (service, int, error) {
	if err := checkQueries("ThresholdConfig.Queries", c.Queries); err != nil {
		return service{}, 0, err
	}
	if s.features() != 1 {
		return service{}, 0, check.Fail(ErrShape, "columns", s.features(), "must be 1, as the rows are sorted by it")
	}
	var err error
	if c.Alpha, err = share("ThresholdConfig.Alpha", c.Alpha, 0.05); err != nil {
		return service{}, 0, err
	}
	vote, err := b.votes(c.Queries)
	if err != nil {
		return service{}, 0, err
	}
	limit := int(math.Min(math.Ceil(2*math.Log(2/c.Alpha)/vote.Epsilon), float64(s.Rows)))
	cache := c.Cache
	c.Cache = false
	label := fmt.Sprintf("projected walk within ±%d", limit)
	x := service{plan: facts("threshold", c, s, Problem{Loss: losses.Logistic{}}, b), queries: c.Queries, cache: cache, release: draw(vote),
		ledger: func(answers int) (*Ledger, error) { return vote.Ledger(label, answers) }}
	return x, limit, x.affordable(b)
}

// walk holds the sorted features and the value after each number of steps.
type walk struct {
	features []float64
	values   []int
}

func newWalk(features, labels []float64, limit int) *walk {
	order := make([]int, len(features))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case features[i] < features[j]:
			return -1
		case features[i] > features[j]:
			return 1
		}
		return 0
	})
	w := &walk{make([]float64, len(order)), make([]int, len(order)+1)}
	for k, i := range order {
		step := -1
		if labels[i] > 0 {
			step = 1
		}
		w.features[k] = features[i]
		w.values[k+1] = min(max(w.values[k]+step, -limit), limit)
	}
	return w
}

// at is the value after the last row that is not above x.
func (w *walk) at(x float64) int {
	return w.values[sort.Search(len(w.features), func(k int) bool { return w.features[k] > x })]
}
