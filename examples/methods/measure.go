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
		for _, m := range append([]string{constant, nonPrivate}, o.methods...) {
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
		scores, err := o.scores(ctx, k, set, trial)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.add(k, scores, err); err != nil {
			return err
		}
		count()
	}
	return nil
}

// scores fits one model and scores it.
func (o *options) scores(ctx context.Context, k key, set task.Set, trial *task.Trial) ([]metrics.Metric, error) {
	switch k.method {
	case constant:
		return trial.Constant(), nil
	case nonPrivate:
		m, err := trial.NonPrivate(ctx)
		if err == nil && m == nil {
			err = errors.New("the loss has a kink")
		}
		return m, err
	}
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
	noise := mechanisms.NewSeededSource(task.NoiseSeed(k.method, k.epsilon, k.seed))
	model, err := plan.Run(ctx, trial.Train, &dpglm.Env{NoiseForTests: noise})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", fitName(k.set, k.method, k.epsilon, k.seed), err)
	}
	return trial.Score(model)
}
