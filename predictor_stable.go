package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
)

var _ PredictorConfig = StableConfig{}

// StableConfig makes a Predictor that trains one regularised model on all rows,
// without noise, and answers a query by its score plus noise [DF18, Theorem 4.9,
// Corollaries 4.10 and 4.11]:
//
//	w̃ = argmin_{‖w‖≤B} L̂(w) + (λ/2)‖w‖²,  answer of x: ⟨w̃, x⟩ + noise
//
// of which the class is given for binary losses and the mean for counts, as by
// Model.Predict. The noise does not grow with the dimension, as
// [OutputPerturbation]'s does, but with the number of answers.
//
// # Privacy
//
// Replace-one. The minimiser moves by at most Δ + 2τ (see [OutputPerturbation]; the
// paper has 2G in place of the gradients' diameter), so a score at a row of norm
// X moves by at most X(Δ + 2τ), plus the rounding of two scalar products. Laplace
// or Gaussian noise is added by package mechanisms, whichever varies less for
// Queries answers within the budget. All else is done to the noisy score, which
// is first clamped to the largest possible one, XB. The middle of a range of real
// labels, which is public, is added last.
//
// # Parameters
//
// The default radius is OutputPerturbation's, and so is λ, since a score's noise
// has the standard deviation X·Δ·s there too; s is that of an answer.
type StableConfig struct {
	// Queries is the number of answers that the budget is for.
	Queries int `json:"queries"`
	// Lambda is the weight λ of the regulariser (λ/2)‖w‖²; 0 takes the one that
	// minimises the predicted risk of an answer.
	Lambda float64 `json:"lambda"`
	// Cache keeps answers and repeats them for the same query, at no cost.
	Cache bool `json:"cache"`
}

// Plan calibrates the noise of the scores. It fails, by an [ArgumentError], where the shape,
// the problem, the budget or a parameter breaks its rule.
func (c StableConfig) Plan(s Shape, p Problem, b Budget) (*PredictorPlan, error) {
	x, err := planScores("StableConfig", c.Queries, s, p, b)
	if err != nil {
		return nil, err
	}
	if c.Lambda == 0 {
		c.Lambda = x.lambda
	}
	if err := check.Scale(ErrConfig, "StableConfig.Lambda", c.Lambda); err != nil {
		return nil, err
	}
	if err := solvable(x.trained, x.shape, x.problem, c.Lambda); err != nil {
		return nil, err
	}
	schedule, err := x.noise.schedule("scores of a regularised minimiser", c.Queries)
	if err != nil {
		return nil, err
	}
	facts := predictorFacts{Kind: "stable", Queries: c.Queries, Lambda: c.Lambda}
	return newPredictorPlan(c, x.shape, x.problem, b, service{
		schedule: schedule, cache: c.Cache, facts: facts.with(x.noise), release: noisy(x.finish),
		train: func(r *run) (question, error) {
			return x.train(r, func(sums *curator.Sums) (curator.Point, error) {
				return sums.Minimiser(r.ctx, x.problem.Radius, c.Lambda)
			})
		},
	})
}

// scores is what predictors by the scores of one model have in common.
type scores struct {
	shape   Shape
	problem Problem
	trained losses.Loss
	noise   additive
	lambda  float64 // the default
	limit   float64 // the largest score
}

// planScores checks what these predictors are asked for and calibrates the noise.
func planScores(config string, queries int, s Shape, p Problem, b Budget) (*scores, error) {
	if err := p.oneScore(); err != nil {
		return nil, err
	}
	s, p, err := planQueries(config, queries, s, p, nearScore)
	if err != nil {
		return nil, err
	}
	limit := s.FeatureBound * p.Radius
	trained := smooth.Kinks(p.Loss, limit, s.LabelBound)
	if err := solvable(trained, s, p, 0); err != nil {
		return nil, err
	}
	noise, err := b.numbers(queries)
	if err != nil {
		return nil, err
	}
	return &scores{s, p, trained, noise, regularisation(s, trained, p.Radius, noise.perSensitivity(), NoClip), limit}, nil
}

// train returns the scores of the point that is fitted. Its sensitivity, which is
// public, is checked before the first answer.
func (x *scores) train(r *run, fit func(*curator.Sums) (curator.Point, error)) (question, error) {
	sums, err := r.byRows().data.Under(x.trained)
	if err != nil {
		return nil, err
	}
	point, err := fit(sums)
	if err != nil {
		return nil, err
	}
	return point.Score, x.noise.check(point.ScoreSensitivity())
}

// finish makes an answer of a noisy score.
func (x *scores) finish(score float64) float64 {
	loss := x.problem.Loss
	score = math.Max(-x.limit, math.Min(x.limit, score)) + x.shape.shift(loss.Labels())
	r := x.problem.response(&fitted{loss: loss})
	return r.prediction(score, r.held(score, x.shape.LabelCentre, x.shape.LabelBound))
}
