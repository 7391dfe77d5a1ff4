package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// experiment is fits of every method at every ε on several splits.
type experiment struct {
	data     string
	problem  dpglm.Problem
	measures []measure
	epsilons []float64
	seeds    int

	cells    []*cell // a method's in a row, by ε; then the next method's
	plain    cell    // without privacy
	constant cell    // the best models that ignore the features
	rows     int     // to train on
	delta    float64
}

// cell is one method at one ε.
type cell struct {
	method
	epsilon float64
	plan    *dpglm.Plan
	scores  map[string][]float64 // by the measure's name, one for each seed
	refusal error                // why there are none
}

func newExperiment(o *options) *experiment {
	loss := o.source.Loss
	e := &experiment{data: filepath.Base(o.source.Path), problem: dpglm.Problem{Loss: loss}, measures: measures(loss.Labels()),
		epsilons: o.epsilons, seeds: o.seeds}
	for _, m := range o.methods {
		for _, epsilon := range o.epsilons {
			e.cells = append(e.cells, &cell{method: m, epsilon: epsilon})
		}
	}
	return e
}

// fits is the number of fits, those without privacy included.
func (e *experiment) fits() int { return e.seeds * (len(e.cells) + 1) }

// run does all fits, and calls show after each. A method that can't be used is
// none the less an outcome, unless all are like that.
func (e *experiment) run(ctx context.Context, sample *task.Sample, show func(done int)) error {
	done := 0
	count := func() { done++; show(done) }
	for seed := range e.seeds {
		trial, err := sample.Trial(uint64(seed + 1))
		if err != nil {
			return err
		}
		e.rows, e.delta = trial.Train.Shape().Rows, trial.Delta
		e.withoutPrivacy(trial)
		count()
		for _, c := range e.cells {
			if c.refusal == nil {
				c.refusal = c.fit(ctx, e.problem, trial, uint64(seed+1))
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			count()
		}
	}
	return e.allRefused()
}

// withoutPrivacy scores the models to compare with.
func (e *experiment) withoutPrivacy(trial *task.Trial) {
	for _, m := range e.measures {
		e.constant.add(task.Metric{Name: m.name, Value: m.constant(trial.Held)})
	}
	scores, err := trial.NonPrivate()
	if err == nil && scores == nil {
		err = errors.New("the loss has a kink")
	}
	if err != nil {
		e.plain.refusal = err
		return
	}
	e.plain.add(scores...)
}

// fit fits on one split. The plan serves all of them: it knows public facts only.
func (c *cell) fit(ctx context.Context, problem dpglm.Problem, trial *task.Trial, seed uint64) error {
	var err error
	if c.plan == nil {
		if c.plan, err = c.learner.Plan(trial.Train.Shape(), problem, dpglm.ApproxDP(c.epsilon, trial.Delta)); err != nil {
			return err
		}
	}
	model, err := c.plan.Run(ctx, trial.Train, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(c.noiseSeed(seed))})
	if err != nil {
		return err
	}
	scores, err := trial.Score(model)
	if err != nil {
		return err
	}
	c.add(scores...)
	return nil
}

// noiseSeed makes the noise of each fit independent of the others' and of the
// split, and the same whatever else is compared.
func (c *cell) noiseSeed(seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %g %d", c.name, c.epsilon, seed)
	return h.Sum64()
}

func (c *cell) add(scores ...task.Metric) {
	if c.scores == nil {
		c.scores = map[string][]float64{}
	}
	for _, s := range scores {
		c.scores[s.Name] = append(c.scores[s.Name], s.Value)
	}
}

// allRefused is an error if there is nothing to compare.
func (e *experiment) allRefused() error {
	for _, c := range e.cells {
		if c.refusal == nil {
			return nil
		}
	}
	return fmt.Errorf("no method can be used; %s: %w", e.cells[0].name, e.cells[0].refusal)
}
