package dpglm

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// SoftmaxConfig configures [Softmax].
type SoftmaxConfig struct {
	// Classes is how many there are, from 2 to 1000: labels are 0 to Classes−1. It is public.
	// Of a table it is the number of the label's levels.
	Classes int `json:"classes"`
}

// Softmax trains a model of several classes, with probabilities that sum to 1: noisy
// gradient descent on −log p_y, p_k = e^{z_k}/Σe^{z_j}, in coordinates that are centred and
// whitened privately, as in [StandardisedGD].
//
// Errors are those of [SoftmaxConfig.Ledger], and of labels that aren't classes 0 to K−1
// ([ErrLabel]), before anything is released; a run that stops later has an [Interrupted].
// [Offsets] are refused: a number added to the scores of all classes changes no probability.
//
// # Privacy
//
// Replace-one. All releases are Gaussian, from one pool of μ. How many rows each class has
// moves by √2; norms, mean and moments of rows are [StandardisedGD]'s. The gradient of a
// row is (p − e_y) ⊗ (x̃, 1), held to the norm C for all classes together, so that the sum
// moves by 2C. For the factor it is ⟨p − e_y, z⟩, a number held to ±L, whose sum moves by 2L.
// Everything else follows from what was released and from public facts.
//
// # Parameters
//
// Second moments are those of StandardisedGD, but released from n·μ = 42√d on, and of more than
// 200 columns from 126√d on; all columns have one scale otherwise. Rows of rare levels are kept
// short, as for two classes. Steps are as long as the
// curvature at the classes' rates allows where these are even, and shorter where noise in a
// typical score would come to exceed 1: probabilities near 0 or 1 have no curvature that holds
// noise. The clip may shorten three tenths of the rows, and where noise makes steps short it is
// half or seven tenths of that. From n·μ = 310 on a factor of all scores is fitted at last, by
// three looks at the loss's slope, so that probabilities are calibrated; L is some 6 standard
// deviations of the scores, and more the less noise there is. Below that number of more than 200
// columns, and below max(45, 8.5√(d(K−1))) of fewer, there is nothing but the constant model,
// fitted with the whole budget.
//
// x is n×d, d at most 1000, K classes. It makes some 45 passes over the rows, of O(n·d·K) flops
// each; a model has K·(d+1) weights. Noise is that of one model for classes in two: K models of one class
// against the rest, in place of this one, would have √K times as much.
func Softmax(ctx context.Context, d *Dataset, b Budget, cfg SoftmaxConfig, env *Env) (*ClassModel, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := d.suitsClasses("SoftmaxConfig.Classes", cfg.Classes); err != nil {
		return nil, err
	}
	o, schedule, ledger, err := cfg.plan(d.Shape(), b)
	if err != nil {
		return nil, err
	}
	classes, err := d.data.Classes(ctx, cfg.Classes)
	if err != nil {
		return nil, err
	}
	ledger = env.mark(ledger, d)
	allow, err := env.allow(schedule, d, ledger, cfg)
	if err != nil {
		return nil, err
	}
	r := &run{ctx: ctx, data: d.data.Against(0), allow: allow, progress: env.progress, levels: d.levels()}
	weights, err := estimate.FitClasses(o.estimate, r.task(), classes, cfg.Classes)
	if err != nil {
		return nil, stopped(allow, ledger, err)
	}
	return newClassModel(weights, d, nil, ledger), nil
}

// Ledger is what [Softmax] would spend on data of the given shape: a dry run. It fails, by an
// [ArgumentError], where the shape, the budget or the number of classes breaks its rule.
func (c SoftmaxConfig) Ledger(s Shape, b Budget) (*Ledger, error) {
	_, _, ledger, err := c.plan(s, b)
	return ledger, err
}

func (c SoftmaxConfig) plan(s Shape, b Budget) (*standardised, *release.Schedule, *Ledger, error) {
	if err := ofClasses("SoftmaxConfig.Classes", c.Classes, s); err != nil {
		return nil, nil, nil, err
	}
	if s.features() > estimate.MostFeatures {
		return nil, nil, nil, check.Fail(ErrShape, "features", s.features(), fmt.Sprintf("must be at most %d", estimate.MostFeatures))
	}
	o, err := newStandardised(s, Problem{Loss: losses.Logistic{}}, b, c.Classes*s.Dim)
	if err != nil {
		return nil, nil, nil, err
	}
	schedule, err := release.Pool("softmax", o.estimate.Mu, o.releases, o.dim)
	if err != nil {
		return nil, nil, nil, err
	}
	ledger, err := b.ledger(schedule, o.shape)
	return o, schedule, ledger, err
}
