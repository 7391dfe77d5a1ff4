package dpglm

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
)

var _ Learner = AutoConfig{}

// AutoConfig has no parameters; it is the Learner of Auto.
type AutoConfig struct{}

// Auto trains with the method that public and released numbers recommend. It needs
// nothing but public facts and a budget, and is the one to begin with: it estimates as
// well as it classifies, and what it returns tends to the non-private minimiser as rows
// or budget grow.
//
// Under an ApproxDP or GDP budget it is [StandardisedGD], of several classes [Softmax], which is the same
// with a column of scores for each. Under a PureDP budget it is [ObjectivePerturbation], whose noise is drawn
// once, as many steps would share ε by their number. Of several classes it
// is [OneAgainstRest] where the loss isn't the logistic one, the budget is pure, or features are more
// than 1000. Thresholds of losses.Ordinal that aren't given are
// estimated where it is StandardisedGD; elsewhere they must be given.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. As for the method that it is.
//
// # Limits
//
// With few rows or a small budget (n·μ below 45, or so few of the rarer class that a fifth of μ² tells
// their fraction but to a half) it returns the constant model. Rows far longer than all others, and labels
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
		l = ObjectivePerturbationConfig{}
	}
	plan, err := l.Plan(s, p, b)
	if _, ok := l.(StandardisedGDConfig); err != nil || !ok {
		return plan, err
	}
	plan.Learner = c
	return plan, nil
}
