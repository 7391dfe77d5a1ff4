package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
)

var _ PredictorConfig = DescentConfig{}

// DescentConfig makes a Predictor like that of [StableConfig], with T steps of
// projected gradient descent on all rows, from 0, in place of the minimiser:
// stopping early makes it stable, not a regulariser [DF18, Theorem 4.12 and
// Corollary 4.13, there with single rows].
//
// # Privacy
//
// Replace-one. On the ball the mean loss is convex and H̃-smooth, so that a step
// w ↦ Π_B(w − η∇L̂(w)) with η ≤ 2/H̃ brings no two points further apart. At one
// point the gradients of neighbouring data sets differ by at most D/n, D their
// diameter, hence T steps lead to weights at most T·η·D/n apart, plus the rounding
// of each step on either side. The rest is as for [StableConfig]. A loss with kinks
// is replaced by its Moreau envelope, as for [OutputPerturbation].
//
// # Parameters
//
// H̃ = X²·sup φ”. The optimisation error is at most B²/(2ηT) for η ≤ 1/H̃, so ηT
// takes the place of 1/λ. T passes over the rows.
type DescentConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int `json:"queries"`
	// Steps is T; 0 takes ⌈H̃/λ⌉, at most 1000, for StableConfig's default λ.
	Steps int `json:"steps"`
	// StepSize is η, at most 2/H̃; 0 takes 1/H̃, or 1/(λT) if that is less.
	StepSize float64 `json:"step_size"`
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool `json:"cache"`
}

// Plan calibrates the noise of the scores. It fails, by an [ArgumentError], where the shape,
// the problem, the budget or a parameter breaks its rule.
func (c DescentConfig) Plan(s Shape, p Problem, b Budget) (*PredictorPlan, error) {
	x, err := planScores("DescentConfig", c.Queries, s, p, b)
	if err != nil {
		return nil, err
	}
	smoothness := x.shape.FeatureBound * x.shape.FeatureBound * x.trained.Constants(x.limit, x.shape.LabelBound).Smoothness
	if c, err = c.resolve(smoothness, x.lambda); err != nil {
		return nil, err
	}
	schedule, err := x.noise.schedule(fmt.Sprintf("scores after %d steps of descent", c.Steps), c.Queries)
	if err != nil {
		return nil, err
	}
	facts := predictorFacts{Kind: "descent", Queries: c.Queries, Steps: c.Steps, StepSize: c.StepSize}
	return newPredictorPlan(c, x.shape, x.problem, b, service{
		schedule: schedule, cache: c.Cache, facts: facts.with(x.noise), release: noisy(x.finish),
		train: func(r *run) (question, error) {
			return x.train(r, func(sums *curator.Sums) (curator.Point, error) {
				return sums.Descend(r.ctx, x.problem.Radius, c.Steps, c.StepSize, r.progress)
			})
		},
	})
}

// resolve checks the steps and fills in defaults.
func (c DescentConfig) resolve(smoothness, lambda float64) (DescentConfig, error) {
	if c.Steps == 0 {
		c.Steps = int(min(max(math.Ceil(smoothness/lambda), 1), maxSteps))
	}
	if c.Steps < 1 {
		return c, check.Fail(ErrConfig, "DescentConfig.Steps", c.Steps, "must be at least 1, or 0 for the default")
	}
	if c.StepSize == 0 {
		c.StepSize = min(1/(lambda*float64(c.Steps)), 1/smoothness)
	}
	if !(c.StepSize > 0 && c.StepSize <= 2/smoothness) {
		return c, check.Fail(ErrConfig, "DescentConfig.StepSize", c.StepSize, fmt.Sprintf("must be positive and at most 2/H̃ = %g, or 0 for the default", 2/smoothness))
	}
	return c, nil
}
