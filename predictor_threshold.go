package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

var _ PredictorConfig = ThresholdConfig{}

// ThresholdConfig makes a Predictor that classifies by a single feature, by
// thresholds or unions of intervals, without knowing how many: the exponential
// projected walk [DF18, Figure 1]. It goes through the rows by increasing feature,
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
// ε-DP and ε-bounded-range ([mechanisms.Vote]). That holds for any T and any order
// of features that each row decides for itself.
//
// # Parameters
//
// The data must have one column, besides an intercept, and binary labels. The walk
// minimises no loss and has no weights: the Problem is Problem{}, or one with a
// binary loss, which isn't read; any other is refused. If no two rows have the same
// feature, the mean error over the training rows is at most that of the best union
// of intervals with k ends, plus (k+2)T/n + e^{−εT/2} [DF18, Lemma 5.2]. The walk
// takes O(n·log n), an answer O(log n).
type ThresholdConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int `json:"queries"`
	// Alpha sets the walk's limit, T = ⌈2·log(2/Alpha)/ε⌉, in (0, 1); 0 takes
	// 0.05. Privacy doesn't depend on it.
	Alpha float64 `json:"alpha"`
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool `json:"cache"`
}

// Plan calibrates the votes. The plan's Problem is Problem{}. It fails, by an [ArgumentError],
// where the shape, the problem, the budget or a parameter breaks its rule.
func (c ThresholdConfig) Plan(s Shape, p Problem, b Budget) (*PredictorPlan, error) {
	if err := c.check(s, p); err != nil {
		return nil, err
	}
	var err error
	if c.Alpha, err = fraction("ThresholdConfig.Alpha", c.Alpha, 0.05); err != nil {
		return nil, err
	}
	vote, err := b.votes(c.Queries)
	if err != nil {
		return nil, err
	}
	limit := int(math.Min(math.Ceil(2*math.Log(2/c.Alpha)/vote.Epsilon), float64(s.Rows)))
	schedule, err := release.Vote(fmt.Sprintf("projected walk within ±%d", limit), vote.Epsilon, c.Queries)
	if err != nil {
		return nil, err
	}
	plan, err := newPredictorPlan(c, s, Problem{}, b, service{
		schedule: schedule, cache: c.Cache, release: castVote,
		facts: predictorFacts{Kind: "threshold", Queries: c.Queries, AnswerEpsilon: vote.Epsilon, Limit: limit},
		train: func(r *run) (question, error) {
			walk, err := r.data.Walk(r.ctx, limit)
			if err != nil {
				return nil, err
			}
			return walk.Margin, nil
		},
	})
	if err != nil {
		return nil, err
	}
	plan.planned = ofPersons(plan.planned, s)
	plan.Ledger = plan.planned
	return plan, nil
}

// check refuses data of another shape and a problem that the walk doesn't solve.
func (c ThresholdConfig) check(s Shape, p Problem) error {
	if err := s.validate(); err != nil {
		return err
	}
	if err := checkQueries("ThresholdConfig", c.Queries); err != nil {
		return err
	}
	if s.features() != 1 {
		return check.Fail(ErrShape, "columns", s.features(), "must be 1, as the rows are sorted by it")
	}
	if s.Weighted || s.largestOffset() != 0 {
		return check.Fail(ErrConfig, "dataset", nil, "must have no weights or offsets, as the walk takes whole steps")
	}
	if p.Radius != 0 {
		return check.Fail(ErrConfig, "Problem.Radius", p.Radius, "must be 0, as a walk has no weights")
	}
	if err := p.oneScore(); err != nil || p.Loss == nil {
		return err
	}
	if err := losses.Validate(p.Loss, 0, s.LabelBound); err != nil {
		return err
	}
	if p.Loss.Labels() != losses.Binary {
		return check.Fail(ErrConfig, "loss", p.Loss.Name(), "must have binary labels, or be nil")
	}
	return nil
}
