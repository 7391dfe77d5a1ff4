package dpglm

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
)

var _ Learner = OneAgainstRestConfig{}

// OneAgainstRestConfig configures [OneAgainstRest]; it is the Learner.
type OneAgainstRestConfig struct {
	// Learner trains the model of each class; nil takes [AutoConfig].
	Learner Learner `json:"learner"`
}

// OneAgainstRest makes a model of several classes of any learner and any loss with binary
// labels: one model for each class, which tells its rows from all others. A row's
// probabilities are the models' own, over their sum; its predicted class is that of the
// largest score. [Softmax] has less noise and estimates better, but for its one loss.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run]. [Offsets] are refused.
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
func OneAgainstRest(ctx context.Context, d *Dataset, p Problem, b Budget, cfg OneAgainstRestConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan plans the trainings of all classes. It fails, by an [ArgumentError], where the problem
// isn't of several classes, and where the shape, the loss, the budget or a parameter breaks its
// rule.
func (c OneAgainstRestConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := p.isOfClasses(s); err != nil {
		return nil, err
	}
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	if c.Learner == nil {
		c.Learner = AutoConfig{}
	}
	plan, err := c.sharing(s, p, b, b.share(p.Classes))
	if errors.Is(err, ErrBudget) {
		plan, err = c.sharing(s, p, b, b.shareByMu(p.Classes)) // for a mixture of noises
	}
	return plan, err
}

// sharing plans a class with a share of the budget, and holds all of them against the whole.
func (c OneAgainstRestConfig) sharing(s Shape, p Problem, b, share Budget) (*Plan, error) {
	child, err := planChild(c.Learner, s, p.against(), share)
	if err != nil {
		return nil, err
	}
	plans := make([]*release.Schedule, p.Classes)
	for k := range plans {
		plans[k] = child.schedule
	}
	schedule, err := release.Woven(fmt.Sprintf("%d classes, each against the rest", p.Classes), plans...)
	if err != nil {
		return nil, err
	}
	p.Radius = child.Problem.Radius
	plan, err := newPlan(c, s, p, b, schedule, func(r *run) (*fitted, error) { return child.eachClass(r, p) })
	if err != nil {
		return nil, err
	}
	plan.weightBound, plan.spread, plan.Passes = child.weightBound, child.spread, p.Classes*child.Passes
	plan.Note = child.Note
	plan.asks.descent = child.asks.descent
	return plan, nil
}

// eachClass trains each class against the rest. Parties agree to all of that first; the labels of
// rows in memory are held for one class at a time.
func (p *Plan) eachClass(r *run, of Problem) (*fitted, error) {
	f, agreed := &fitted{loss: of.Loss}, make([]*curator.Data, of.Classes)
	for k := 0; k < of.Classes && r.data.Parties(); k++ {
		var err error
		if agreed[k], err = p.agreed(r.ctx, r.data.Against(k), of.Classes); err != nil {
			return nil, err
		}
	}
	for k, data := range agreed {
		if err := check.Cancelled(r.ctx); err != nil {
			return nil, err
		}
		if data == nil {
			data = r.data.Against(k)
		}
		allow, err := r.allow.Part(k)
		if err != nil {
			return nil, err
		}
		one, err := p.inside(r, data, allow)
		if err != nil {
			return nil, err
		}
		f.weights = append(f.weights, one.weights[0])
		r.progress(k+1, of.Classes)
	}
	return f, nil
}
