package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// experiment is fits of every method at every ε on several splits of a data set.
type experiment struct {
	name     string // of the set, short
	data     string // the files
	problem  dpglm.Problem
	metrics  []string // the one to judge by first
	epsilons []float64
	seeds    int

	cells    []*cell // a method's in a row, by ε; then the next method's
	plain    cell    // without privacy
	constant cell    // the best model that ignores the features
	rows     int     // to train on
	delta    float64
}

// cell is one method at one ε.
type cell struct {
	method
	epsilon float64
	plan    *dpglm.Plan
	runs    [][]metrics.Metric // one for each seed
	refusal error              // why there are none
}

func newExperiment(o *options, source *task.Source) *experiment {
	e := &experiment{data: filepath.Base(source.Path), problem: dpglm.Problem{Loss: source.Loss}, epsilons: o.epsilons, seeds: o.seeds}
	e.name, _, _ = strings.Cut(e.data, ".")
	if source.Schema != "" {
		e.data += " with " + filepath.Base(source.Schema)
		e.name, _, _ = strings.Cut(filepath.Base(source.Schema), ".")
	}
	for _, m := range o.methods {
		for _, epsilon := range o.epsilons {
			e.cells = append(e.cells, &cell{method: m, epsilon: epsilon})
		}
	}
	return e
}

// fits is the number of fits, those without privacy included.
func (e *experiment) fits() int { return e.seeds * (len(e.cells) + 1) }

// run does all fits, as many at a time as there are processors, and calls count
// after each. A method that can't be used is none the less an outcome, unless all
// are like that.
func (e *experiment) run(ctx context.Context, source *task.Source, count func()) error {
	for seed := range uint64(e.seeds) {
		source.Coins = mechanisms.NewSeededSource(seed + 1)
		trial, err := source.Trial(ctx, seed+1)
		if err != nil {
			return err
		}
		e.rows, e.delta = trial.Train.Shape().Rows, trial.Delta
		raw := sync.OnceValues(func() (*rawRows, error) { return rawRowsOf(ctx, source, trial, seed+1) })
		tasks := []func(){func() { e.withoutPrivacy(ctx, trial) }}
		for _, c := range e.cells {
			tasks = append(tasks, func() {
				if c.refusal == nil {
					c.refusal = c.fit(ctx, e.problem, trial, raw, seed+1)
				}
			})
		}
		inParallel(tasks, count)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return e.allRefused()
}

// inParallel does the tasks, and calls done, which needs no lock, after each.
func inParallel(tasks []func(), done func()) {
	var all sync.WaitGroup
	var one sync.Mutex
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, t := range tasks {
		free <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			t()
			<-free
			one.Lock()
			defer one.Unlock()
			done()
		}()
	}
	all.Wait()
}

// withoutPrivacy scores the models to compare with.
func (e *experiment) withoutPrivacy(ctx context.Context, trial *task.Trial) {
	constant := trial.Constant()
	e.constant.runs = append(e.constant.runs, constant)
	e.metrics = nil
	for _, m := range constant {
		e.metrics = append(e.metrics, m.Name)
	}
	scores, err := trial.NonPrivate(ctx)
	if err == nil && scores == nil {
		err = errors.New("the loss has a kink")
	}
	if err != nil {
		e.plain.refusal = err
		return
	}
	e.plain.runs = append(e.plain.runs, scores)
}

// fit fits on one split. The plan serves all of them: it knows public facts only.
func (c *cell) fit(ctx context.Context, problem dpglm.Problem, trial *task.Trial, raw func() (*rawRows, error), seed uint64) error {
	if c.reference != nil {
		return c.fitReference(raw, seed)
	}
	var err error
	if c.plan == nil {
		if c.plan, err = c.learner.Plan(trial.Train.Shape(), problem, dpglm.ApproxDP(c.epsilon, trial.Delta)); err != nil {
			return err
		}
	}
	model, err := c.plan.Run(ctx, trial.Train, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(task.NoiseSeed(c.name, c.epsilon, seed))})
	if err != nil {
		return err
	}
	scores, err := trial.Score(model)
	if err != nil {
		return err
	}
	c.runs = append(c.runs, scores)
	return nil
}

// fitReference is fit for a method that isn't the library's.
func (c *cell) fitReference(raw func() (*rawRows, error), seed uint64) error {
	rows, err := raw()
	if err != nil {
		return err
	}
	scores, err := c.reference(rows, c.epsilon, task.NoiseSeed(c.name, c.epsilon, seed))
	if err == nil {
		c.runs = append(c.runs, scores)
	}
	return err
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
