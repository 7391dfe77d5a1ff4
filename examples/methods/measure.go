package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// The models to compare with.
const (
	constant   = "constant"
	private    = "private mean" // the constant of a mean that the whole budget released
	nonPrivate = "non-private"
)

// key is a fit.
type key struct {
	set     string
	rows    int // the most to take
	method  string
	epsilon float64 // 0 without privacy
	seed    uint64
}

// missing are the fits of a set that the store doesn't have, by seed.
func (o *options) missing(set task.Set, s *store) []key {
	var todo []key
	for seed := range o.seeds {
		for _, m := range append([]string{constant, nonPrivate, private}, o.methods...) {
			epsilons := o.epsilons
			if m == constant || m == nonPrivate {
				epsilons = []float64{0}
			}
			for _, e := range epsilons {
				if k := (key{set.Name, o.rows, m, e, seed + 1}); !s.has(k) {
					todo = append(todo, k)
				}
			}
		}
	}
	return todo
}

// measure does the fits that are missing.
func (o *options) measure(ctx context.Context, set task.Set, s *store, count func()) error {
	var trial *task.Trial
	of := uint64(0)
	for _, k := range o.missing(set, s) {
		if k.seed != of {
			var err error
			if trial, err = set.Source.TrialOf(ctx, o.rows, k.seed); err != nil {
				return err
			}
			of = k.seed
		}
		scores, centred, err := o.scores(ctx, k, set, trial)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.add(k, scores, centred, err); err != nil {
			return err
		}
		count()
	}
	return nil
}

// scores fits one model and scores it, and one of the library's where its intercept is moved, too.
func (o *options) scores(ctx context.Context, k key, set task.Set, trial *task.Trial) (scores, centred []metrics.Metric, err error) {
	switch k.method {
	case constant, private, nonPrivate:
		scores, err = compared(ctx, k, trial)
		return scores, nil, err
	}
	model, err := o.fitted(ctx, k, set, trial)
	if err != nil {
		return nil, nil, err
	}
	if scores, err = trial.Score(model); err == nil {
		centred, err = trial.Centred(model)
	}
	return scores, centred, err
}

// compared scores a model to compare with.
func compared(ctx context.Context, k key, trial *task.Trial) ([]metrics.Metric, error) {
	switch k.method {
	case constant:
		return trial.Constant(), nil
	case private:
		mu, err := mechanisms.GaussianMu(k.epsilon, trial.Delta)
		if err != nil {
			return nil, err
		}
		m := trial.PrivateConstant(mu)
		if m == nil {
			err = errors.New("labels have levels, or rows weights")
		}
		return m, err
	}
	m, err := trial.NonPrivate(ctx)
	if err == nil && m == nil {
		err = errors.New("the loss has a kink")
	}
	return m, err
}

// fitted is a model of the library, by noise of its own.
func (o *options) fitted(ctx context.Context, k key, set task.Set, trial *task.Trial) (*dpglm.Model, error) {
	if rows := trial.Train.Shape().Rows; k.method == theorem1 && rows > o.theorem {
		return nil, fmt.Errorf("%d rows are more than -theorem1 %d", rows, o.theorem)
	}
	l, err := learner(k.method)
	if err != nil {
		return nil, err
	}
	plan, err := l.Plan(trial.Train.Shape(), dpglm.Problem{Loss: set.Source.Loss}, dpglm.ApproxDP(k.epsilon, trial.Delta))
	if err != nil {
		return nil, err
	}
	noise := mechanisms.NewSeededSource(task.NoiseSeed(k.set+" "+k.method, k.epsilon, k.seed))
	model, err := plan.Run(ctx, trial.Train, &dpglm.Env{NoiseForTests: noise})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fitName(k.set, k.method, k.epsilon, k.seed), err)
	}
	return model, nil
}
