package dpglm

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/labelsonly"
	"github.com/dpglm/dpglm/internal/release"
)

var _ Learner = SoftmaxConfig{}

// SoftmaxConfig has no parameters; it is the Learner of [Softmax].
type SoftmaxConfig struct{}

// Softmax trains a model of several classes, with probabilities that sum to 1: noisy
// gradient descent on −log p_y, p_k = e^{z_k}/Σe^{z_j}, in coordinates that are centred and
// whitened privately, as in [StandardisedGD].
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run]. [Offsets] are refused: a number added to the scores of all classes changes no
// probability.
//
// # Privacy
//
// Replace-one. All releases are Gaussian, from one pool of μ. How many rows each class has
// moves by √2; norms, mean and moments of rows are [StandardisedGD]'s. The gradient of a
// row is (p − e_y) ⊗ (x̃, 1), held to the norm C for all classes together, so that the sum
// moves by 2C. Along the line it is ⟨p − e_y, z⟩, a number held to ±L, whose sum moves by 2L.
// Everything else follows from what was released and from public facts.
//
// # Parameters
//
// Its steps are [StandardisedGD]'s, also from a Problem.Prior, with K columns of scores in the same coordinates: the classes' counts
// in place of the labels' mean, noise that counts K − 1 times, and the line at the end for all
// columns, k multiplying all scores beside the constant model's. Below n·μ = 45 there is nothing but the
// constant model, fitted with the whole budget.
//
// x is n×d, d at most 1000, K classes. It makes at most 60 passes over the rows, and 12 more with a prior, of O(n·d·K) flops
// each; a model has K·(d+1) weights. Noise is that of one model for classes in two: K models of one class
// against the rest, in place of this one, would have √K times as much.
func Softmax(ctx context.Context, d *Dataset, p Problem, b Budget, cfg SoftmaxConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan calibrates the pool. It fails, by an [ArgumentError], where the problem isn't of several
// classes or its loss isn't the logistic one, of which softmax is the form for all classes
// together, and where the shape or the budget breaks its rule.
func (c SoftmaxConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := p.isOfClasses(s); err != nil {
		return nil, err
	}
	if !p.logistic() {
		return nil, check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must be losses.Logistic, for softmax; OneAgainstRest takes others")
	}
	if s.features() > estimate.MostFeatures {
		return nil, check.Fail(ErrShape, "features", s.features(), fmt.Sprintf("must be at most %d", estimate.MostFeatures))
	}
	prior, err := p.prior(s)
	if err != nil {
		return nil, err
	}
	against := p.against()
	against.Prior = nil
	o, err := newStandardised(s, against, b, p.Classes*s.Dim)
	if err != nil {
		return nil, err
	}
	o.estimate.Prior = prior
	o.estimate.Classes = p.Classes
	o.labels = b.labelsOnly && labelsonly.Suits(o.estimate)
	schedule, err := release.Pool(o.named("softmax"), o.mu, o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	p.Radius = o.problem.Radius
	plan, err := newPlan(c, o.shape, p, b, schedule, func(r *run) (*fitted, error) { return o.trainClasses(r, p) })
	if err == nil {
		plan.asksSums(o.releases, o.dim, p.Classes, o.estimate.Loss)
		plan.weightBound, plan.Passes, plan.Note = weightRadii*p.Radius, o.passes(framedPasses), o.note()
		if o.labels { // a mode is looked for until it is found
			plan.Passes = 0
		}
	}
	return plan, err
}

// trainClasses releases what the comment of Softmax lists.
func (o *standardised) trainClasses(r *run, p Problem) (*fitted, error) {
	classes, err := r.data.Classes(r.ctx, p.Classes)
	if err != nil {
		return nil, err
	}
	of := *r
	of.data = r.data.Against(0)
	fit := estimate.FitClasses
	if o.labels && curator.ReadHere(r.data) {
		fit = labelsonly.FitClasses
	}
	weights, err := fit(o.estimate, of.task(), classes)
	return &fitted{weights, p.Loss, true}, err
}
