package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

var _ Learner = AutoConfig{}

// AutoConfig has no parameters; it is the Learner of Auto.
type AutoConfig struct{}

// Auto trains with the method that public and released numbers recommend. It needs
// nothing but public facts and a budget, and is the one to begin with: it estimates as
// well as it classifies, and what it returns tends to the non-private minimiser as rows
// or budget grow.
//
// Under an ApproxDP or GDP budget it is [StandardisedGD], with one exception: rows of more
// than 1000 features, and rows of more than 200 of which no direction stands out of the
// noise, are not whitened. There
//
//   - rows are shortened to the norm that nine in ten don't exceed;
//   - each column is scaled by its noisy sum of squares, damped by half of what noise
//     reaches in the largest of d columns and by a thousandth of what all rows could have, and rows are
//     shortened again;
//   - descent makes 60 to 300 steps, as many as raise the noise in a typical row's score
//     to about 1, with a momentum of ½ to .9, at a clip of a third of a typical row's norm; a ridge holds
//     weights as if scores varied by 2, which is nothing where rows are many.
//
// With more than 1000 features and labels that aren't binary it is
// [ObjectivePerturbation], which doesn't need to know how the features are correlated.
// So it is for a [losses.Quantile] of an order below 0.3 or above 0.7, down whose flat side a
// few steps get nowhere.
// Under a PureDP budget it is [OutputPerturbation]. Of several classes it is [Softmax], or
// [OneAgainstRest] where the loss isn't the logistic one, the budget is pure, or features are more
// than 1000. Thresholds of losses.Ordinal that aren't given are
// estimated where it is StandardisedGD; elsewhere they must be given.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. As for [StandardisedGD]: all releases are Gaussian, from one pool of μ; the
// columns' sums of squares have the sensitivity √2·R² for rows shortened to R.
//
// # Limits
//
// With few rows or a small budget (n·μ below max(45, 8.5√d), or below 3√d over the rarer
// class's fraction, or for counts 20√d over their mean, or over 1 where that is more, or below
// 47 with more than 1000 features) it returns the constant model. Rows far longer than all others, and labels
// far from all others, count for less than in the plain loss, until n·μ is so large that
// the clip lets them go.
func Auto(ctx context.Context, d *Dataset, p Problem, b Budget, env *Env) (*Model, error) {
	return fit(ctx, AutoConfig{}, d, p, b, env)
}

// Plan chooses the method and calibrates it. It fails, by an [ArgumentError], where the shape,
// the problem, the budget or a parameter breaks its rule.
func (c AutoConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := check.Valid("Problem.Loss", p.Loss); err != nil {
		return nil, err
	}
	var l Learner = StandardisedGDConfig{}
	switch {
	case p.Classes > 0 && p.logistic() && !b.pure && s.features() <= estimate.MostFeatures:
		l = SoftmaxConfig{}
	case p.Classes > 0:
		l = OneAgainstRestConfig{}
	case b.pure:
		l = OutputPerturbationConfig{}
	case s.features() > estimate.MostFeatures && p.Loss.Labels() != losses.Binary, lopsided(p.Loss):
		l = ObjectivePerturbationConfig{}
	}
	plan, err := l.Plan(s, p, b)
	if _, ok := l.(StandardisedGDConfig); err != nil || !ok {
		return plan, err
	}
	plan.Learner = c
	return plan, nil
}

// lopsided is for a loss that is much steeper on one side than on the other.
func lopsided(l losses.Loss) bool {
	q, ok := l.(losses.Quantile)
	return ok && math.Abs(q.Tau-0.5) > tuning.LopsidedQuantile
}
