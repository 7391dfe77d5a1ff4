package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// seedOf makes a seed of all that it depends on.
func seedOf(parts ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, parts...)
	return h.Sum64()
}

// missing are the fits of a set and split that the file doesn't have.
func (o *options) missing(set task.Set, split int, f *file) []key {
	all := []key{{cell{set.Name, constant, budget{}}, split}}
	if o.mle {
		all = append(all, key{cell{set.Name, mle, budget{}}, split})
	}
	if o.Public > 0 {
		all = append(all, key{cell{set.Name, public, budget{}}, split})
	}
	for _, b := range o.budgets {
		all = append(all, key{cell{set.Name, fitted, b}, split})
	}
	var todo []key
	for _, k := range all {
		if !f.has(k) {
			todo = append(todo, k)
		}
	}
	return todo
}

// measure does the fits of a set and split that are missing.
func (o *options) measure(ctx context.Context, set task.Set, split int, f *file, count func()) error {
	todo := o.missing(set, split, f)
	if len(todo) == 0 {
		return nil
	}
	seed := seedOf("split", o.Seed, split)
	set.Source.Coins = mechanisms.NewSeededSource(seed)
	trial, err := set.Source.TrialOf(ctx, o.mostRows(), seed)
	if err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	if o.AddRemove > 0 {
		if trial.Train, err = set.Source.SecretCount(o.mostRows(), o.AddRemove, seed); err != nil {
			return fmt.Errorf("%s: %w", set.Name, err)
		}
	}
	var all sync.WaitGroup
	var one sync.Mutex
	var failed error
	free := make(chan struct{}, o.workers)
	for _, k := range todo {
		free <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			err := o.add(ctx, k, set, trial, f)
			<-free
			one.Lock()
			defer one.Unlock()
			failed = errors.Join(failed, err)
			count()
		}()
	}
	all.Wait()
	return failed
}

// mostRows is the number of rows of which as many as are to train on at most remain.
func (o *options) mostRows() int { return int(float64(o.Rows) / (1 - o.HeldOut)) }

// add fits a model, scores it and writes the result. A refusal is one.
func (o *options) add(ctx context.Context, k key, set task.Set, trial *task.Trial, f *file) error {
	r := result{key: k, settings: o.settings}
	begun := time.Now()
	scores, err := o.scores(ctx, k, set, trial)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Seconds = float64(time.Since(begun).Round(time.Millisecond).Seconds())
	if err != nil {
		r.Refused = err.Error()
		return f.add(r)
	}
	var other metrics.Metric
	r.Measure, r.Loss, other = judge(set.Source.Loss, scores)
	v := number(other.Value)
	r.Other, r.Value = other.Name, &v
	return f.add(r)
}

func (o *options) scores(ctx context.Context, k key, set task.Set, trial *task.Trial) ([]metrics.Metric, error) {
	switch k.Model {
	case constant:
		return trial.Constant(), nil
	case mle:
		m, err := trial.NonPrivate(ctx)
		if err == nil && m == nil {
			err = errors.New("the loss has a kink")
		}
		return m, err
	}
	problem := dpglm.Problem{Loss: set.Source.Loss, Classes: set.Source.Classes}
	if trial.Public != nil {
		prior, err := task.PublicModel(ctx, problem, trial.Public)
		if err != nil {
			return nil, err
		}
		if k.Model == public {
			return trial.Score(prior)
		}
		problem.Prior = prior
	}
	budget := k.of()
	if o.Pure && k.Mu == 0 {
		budget = dpglm.PureDP(k.Epsilon)
	}
	if o.AddRemove > 0 {
		budget = budget.AddRemove()
	}
	if o.Labels {
		budget = budget.LabelsOnly()
	}
	plan, err := learners[o.Method].Plan(trial.Train.Shape(), problem, budget)
	if err != nil {
		return nil, err
	}
	noise := mechanisms.NewSeededSource(seedOf("noise", o.Seed, k.Split, k.budget, k.Set))
	model, err := plan.Run(ctx, trial.Train, &dpglm.Env{NoiseForTests: noise})
	if err != nil {
		return nil, err
	}
	return trial.Score(model)
}

// judge is the loss of a model, with its name, and a second figure.
func judge(loss losses.Loss, m []metrics.Metric) (name string, v float64, other metrics.Metric) {
	_, squared := loss.(losses.Squared)
	_, gamma := loss.(losses.Gamma)
	switch first := m[0]; {
	case first.Name == "log_loss", first.Name == "deviance":
		return first.Name, first.Value, m[1]
	case squared:
		return "1-r2", 1 - first.Value, m[1]
	case gamma: // whose loss is half the deviance
		return "deviance", 2 * metrics.Value(m, "mean_loss"), first
	default:
		return "mean_loss", metrics.Value(m, "mean_loss"), first
	}
}
