package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = BoostConfig{}

// BoostConfig holds the parameters of [Boost]; it is the Learner.
type BoostConfig struct {
	// Learner is trained on each chunk but the last. It must be given.
	Learner Learner `json:"learner"`
	// Chunks is m, the number of models, below that of rows; 0 takes ⌈log₂(4/Beta)⌉. The paper's
	// analysis has ⌈4·log(4/Beta)⌉.
	Chunks int `json:"chunks"`
	// Beta is the failure probability that boosting aims at, in (0, 1); 0 takes
	// 0.05. Privacy doesn't depend on it.
	Beta float64 `json:"beta"`
	// NoisyMax selects by report-noisy-max, as the paper does, instead of by
	// permute-and-flip, which is never less accurate.
	NoisyMax bool `json:"noisy_max"`
	// Seed makes the public random split of the rows.
	Seed uint64 `json:"seed"`
}

// Boost turns a learner whose risk is small in expectation into one whose risk is
// small with probability 1−β: it trains on m disjoint chunks and selects the
// model with the smallest clipped loss on one more chunk [AB+22, Algorithm 5].
// One model is worse than twice the expected excess risk with probability at
// most ½ (Markov), all m with probability 2^-m.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. The m+1 chunks are split by a permutation that depends on Seed and
// the number of rows only. Given the models, one row of the last chunk moves each
// mean loss (of several classes that of [GridSearch]), clipped to [0, c], by at most
// c/|S_{m+1}| plus rounding; the
// selection is ε-DP. A row lies in one chunk, so all trainings and the selection
// compose in parallel, and each has the whole budget (the paper halves ε).
//
// Where no radius is given, the labels' mean is released once on all chunks but the last (as for [NoisyGD], where μ is over the root of the number of chunks),
// and composes with each chunk's training in sequence; and so does, for the squared loss and those whose link is the
// logarithm, the mean of what the selected model predicts for these chunks, by which its intercept is recalibrated as
// for NoisyGD, where noise is Gaussian and both means have what they ask for.
//
// # Parameters
//
// c is a cap on the loss as in [GridSearch]. Chunks have
// ⌊n/(m+1)⌋ rows, the last one the remainder too. It costs as much as one
// training on all rows.
func Boost(ctx context.Context, d *Dataset, p Problem, b Budget, cfg BoostConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan plans one chunk's training and the selection. It fails, by an [ArgumentError], where
// the shape, the problem, the budget or a parameter breaks its rule.
func (c BoostConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	asked := p // without a radius, the learner takes its own default
	p, err = p.resolve(s, farScore)
	if err != nil {
		return nil, err
	}
	if c, err = c.resolve(s); err != nil {
		return nil, err
	}
	chunk := s
	chunk.Rows = s.Rows / (c.Chunks + 1)
	x := &boost{BoostConfig: c, shape: s, problem: p}
	if err := x.plan(chunk, asked, b.beside()); err != nil {
		return nil, err
	}
	child := x.child
	x.held = s.Rows - c.Chunks*chunk.Rows
	if x.limit, err = lossCap(p, child.scoreBound(x.held, c.Beta), s.LabelBound); err != nil {
		return nil, err
	}
	if x.epsilon, err = b.beside().pureEpsilon(); err != nil {
		return nil, err
	}
	schedule, err := x.schedule()
	if err != nil {
		return nil, err
	}
	p.Radius = child.Problem.Radius
	plan, err := newPlan(c, s, p, b, schedule, x.train)
	if err != nil {
		return nil, err
	}
	plan.weightBound, plan.spread, plan.Passes = child.weightBound, child.spread, after(child, 1)
	plan.asks.pairs, plan.asks.starts = child.asks.pairs, child.asks.starts && s.begun
	if x.start != nil && plan.Passes > 0 {
		plan.Passes += x.start.passes()
	}
	return plan, nil
}

// plan plans the training of one chunk: by default from a start that all chunks tell of.
func (x *boost) plan(chunk Shape, asked Problem, b Budget) error {
	var err error
	if asked.Radius == 0 && asked.Classes == 0 && chunk.Intercept && !chunk.begun {
		all, begun := chunk, chunk
		all.Rows, begun.begun = x.Chunks*chunk.Rows, true
		if x.start, err = newStart(all, x.problem.Loss, b, 1, chunk.Dim, x.Chunks); err != nil {
			return err
		}
		if err := x.start.beside(true); err != nil {
			return err
		}
		if x.child, err = planChild(x.Learner, begun, asked, x.start.rest); err != nil || x.child.asks.starts {
			return err
		}
		x.start = nil // the learner doesn't ask for it
	}
	x.child, err = planChild(x.Learner, chunk, asked, b)
	return err
}

func (c BoostConfig) resolve(s Shape) (BoostConfig, error) {
	if c.Learner == nil {
		return c, check.Fail(ErrConfig, "BoostConfig.Learner", nil, "must not be nil")
	}
	var err error
	if c.Beta, err = fraction("BoostConfig.Beta", c.Beta, 0.05); err != nil {
		return c, err
	}
	if c.Chunks == 0 {
		c.Chunks = int(math.Ceil(2 - math.Log2(c.Beta)))
	}
	if c.Chunks < 1 {
		return c, check.Fail(ErrConfig, "BoostConfig.Chunks", c.Chunks, "must be at least 1, or 0 for the default")
	}
	if s.Rows <= c.Chunks {
		return c, check.Fail(ErrShape, "rows", s.Rows, fmt.Sprintf("must exceed the %d chunks", c.Chunks))
	}
	return c, nil
}

// boost is a planned boosting.
type boost struct {
	BoostConfig
	shape   Shape
	problem Problem
	child   *Plan
	start   *start  // nil where none is released here
	held    int     // rows of the last chunk
	limit   float64 // the loss's cap
	epsilon float64 // of the selection
}

// schedule composes the chunks' trainings and the selection, on disjoint rows.
func (x *boost) schedule() (*release.Schedule, error) {
	size := x.child.shape.Rows
	training, err := release.Replicated(fmt.Sprintf("each of %d chunks of %s", x.Chunks, x.shape.units(size)), x.Chunks, x.child.schedule)
	if err != nil {
		return nil, err
	}
	if x.start != nil {
		if training, err = release.Sequential(fmt.Sprintf("training on %s", x.shape.units(x.Chunks*size)), x.start.around(training)...); err != nil {
			return nil, err
		}
	}
	var selector release.Selector = mechanisms.PermuteAndFlip{Epsilon: x.epsilon}
	if x.NoisyMax {
		selector = mechanisms.NoisyMax{Epsilon: x.epsilon}
	}
	selection, err := release.Selection(fmt.Sprintf("selection on the other %s", x.shape.units(x.held)), selector)
	if err != nil {
		return nil, err
	}
	by := fmt.Sprintf("%s in %d chunks by seed %d", x.shape.units(x.shape.Rows), x.Chunks+1, x.Seed)
	return release.Parallel("boosting", by, training, selection)
}

func (x *boost) train(r *run) (*fitted, error) {
	parts := r.data.Split(x.Seed, x.Chunks*x.child.shape.Rows, x.held)
	training, err := r.allow.On(0, parts[0].Rows())
	if err != nil {
		return nil, err
	}
	all, train := training, parts[0]
	if x.start != nil {
		if r, training, err = x.start.before(r, train, all); err != nil {
			return nil, err
		}
		train = r.data
	}
	made := make([]*fitted, x.Chunks)
	for i, chunk := range train.Cut(x.Chunks) {
		allow, err := training.On(i, chunk.Rows())
		if err != nil {
			return nil, err
		}
		if made[i], err = x.child.inside(r, chunk, allow); err != nil {
			return nil, err
		}
		r.progress(i+1, x.Chunks)
	}
	selection, err := r.allow.On(1, parts[1].Rows())
	if err != nil {
		return nil, err
	}
	best, err := x.choose(r, parts[1], made, selection)
	if err != nil {
		return nil, err
	}
	return made[best], x.start.recalibrateChosen(r, made[best], all)
}

// choose returns the index of the selected model.
func (x *boost) choose(r *run, held *curator.Data, made []*fitted, allow *release.Allowance) (int, error) {
	limit := r.capAround(x.problem.Loss, x.child.scoreBound(x.held, x.Beta), x.shape.LabelBound, x.limit)
	return x.problem.choose(r.ctx, held, made, slices.Repeat([]float64{limit}, len(made)), allow)
}
