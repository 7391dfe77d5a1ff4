package dpglm

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// OneAgainstRestConfig configures [OneAgainstRest].
type OneAgainstRestConfig struct {
	// Classes is how many there are, from 2 to 1000: labels are 0 to Classes−1. It is public.
	// Of a table it is the number of the label's levels.
	Classes int `json:"classes"`
	// Learner trains the model of each class; nil takes [AutoConfig].
	Learner Learner `json:"learner"`
}

// OneAgainstRest makes a model of several classes of any learner and any loss with binary
// labels: one model for each class, which tells its rows from all others. A row's
// probabilities are the models' own, over their sum; its predicted class is that of the
// largest score. [Softmax] has less noise and estimates better, but for its one loss.
//
// Errors are those of [OneAgainstRestConfig.Ledger], and of labels that aren't classes 0 to
// K−1 ([ErrLabel]), before anything is released; a run that stops later has an [Interrupted].
// [Offsets] are refused.
//
// # Privacy
//
// Replace-one. Each row is in all K trainings, as one of the class or of the rest, so that
// these compose in sequence: each has a share of the budget that is μ/√K for Gaussian noise,
// or what the ledgers of all together allow, and the whole is held against the budget. A
// row's label for a class depends on its own class only. The learner must respect its share,
// as in [GridSearch]: its ledger is checked.
//
// # Parameters
//
// K trainings, on labels that each take O(n) numbers.
func OneAgainstRest(ctx context.Context, d *Dataset, p Problem, b Budget, cfg OneAgainstRestConfig, env *Env) (*ClassModel, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := d.suitsClasses("OneAgainstRestConfig.Classes", cfg.Classes); err != nil {
		return nil, err
	}
	o, err := cfg.plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	if err := o.child.takes(d.data.Against(0)); err != nil {
		return nil, err
	}
	if _, err := d.data.Classes(ctx, cfg.Classes); err != nil {
		return nil, err
	}
	ledger := env.mark(o.ledger, d)
	allow, err := env.allow(o.schedule, d, ledger, o.child.Learner, p.Loss.Name(), o.child.Problem.Radius)
	if err != nil {
		return nil, err
	}
	weights, err := o.train(&run{ctx: ctx, levels: d.levels()}, d.data, allow, env.progress)
	if err != nil {
		return nil, stopped(allow, ledger, err)
	}
	return newClassModel(weights, d, p.Loss, ledger), nil
}

// Ledger is what [OneAgainstRest] would spend on data of the given shape: a dry run. It fails,
// by an [ArgumentError], where the shape, the problem, the budget or a parameter breaks its
// rule.
func (c OneAgainstRestConfig) Ledger(s Shape, p Problem, b Budget) (*Ledger, error) {
	o, err := c.plan(s, p, b)
	if err != nil {
		return nil, err
	}
	return o.ledger, nil
}

// oneAgainstRest is a planned one.
type oneAgainstRest struct {
	classes  int
	child    *Plan
	schedule *release.Schedule
	ledger   *Ledger
}

func (c OneAgainstRestConfig) plan(s Shape, p Problem, b Budget) (*oneAgainstRest, error) {
	if err := check.Valid("Problem.Loss", p.Loss); err != nil {
		return nil, err
	}
	if p.Loss.Labels() != losses.Binary {
		return nil, check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must have binary labels: of a class, and of the rest")
	}
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	if err := ofClasses("OneAgainstRestConfig.Classes", c.Classes, s); err != nil {
		return nil, err
	}
	if c.Learner == nil {
		c.Learner = AutoConfig{}
	}
	o := &oneAgainstRest{classes: c.Classes}
	if err = o.compose(c.Learner, s, p, b, b.share(c.Classes)); errors.Is(err, ErrBudget) {
		err = o.compose(c.Learner, s, p, b, b.shareByMu(c.Classes)) // for a mixture of noises
	}
	return o, err
}

// compose plans a class with a share of the budget, and holds all of them against the whole.
func (o *oneAgainstRest) compose(l Learner, s Shape, p Problem, b, share Budget) error {
	var err error
	if o.child, err = planChild(l, s, p, share); err != nil {
		return err
	}
	plans := make([]*release.Schedule, o.classes)
	for k := range plans {
		plans[k] = o.child.schedule
	}
	if o.schedule, err = release.Woven(fmt.Sprintf("%d classes, each against the rest", o.classes), plans...); err != nil {
		return err
	}
	o.ledger, err = b.ledger(o.schedule, s)
	return err
}

// train returns the weights of each class.
func (o *oneAgainstRest) train(r *run, data *curator.Data, allow *release.Allowance, progress func(done, total int)) ([][]float64, error) {
	weights := make([][]float64, o.classes)
	for k := range weights {
		if err := check.Cancelled(r.ctx); err != nil {
			return nil, err
		}
		part, err := allow.Part(k)
		if err != nil {
			return nil, err
		}
		if weights[k], err = o.child.weights(r, data.Against(k), part); err != nil {
			return nil, err
		}
		progress(k+1, o.classes)
	}
	return weights, nil
}
