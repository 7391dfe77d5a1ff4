package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
)

// These are methods for a label of several levels, which are no dpglm.Learner: their models
// have a score for each level.
const (
	softmax        = "softmax"
	oneAgainstRest = "oneagainstrest"
)

// perLevel reports whether a method is such a one.
func perLevel(method string) bool { return method == softmax || method == oneAgainstRest }

// ordinal is the loss of levels that ascend.
const ordinal = "ordinal"

// methods are the names of all methods, sorted.
func methods() []string {
	names := append(task.Methods(), softmax, oneAgainstRest)
	slices.Sort(names)
	return names
}

// find looks up the learner of the method.
func (b *budget) find() (err error) {
	if perLevel(b.method) {
		b.learner = nil
		return nil
	}
	if !slices.Contains(task.Methods(), b.method) {
		return task.Usage("-method %q is not one of %s", b.method, strings.Join(methods(), ", "))
	}
	b.learner, err = task.Method("method", b.method)
	return err
}

// choose settles the method where the label has several levels, or refuses one that isn't
// for the label, before the data are read.
func (b *budget) choose(source *task.Source) error {
	levels := source.Levels()
	if source.Softmax && b.method == "auto" {
		b.method = softmax
	}
	switch {
	case perLevel(b.method) && levels == nil:
		return task.Usage(`-method %s is for a label of three levels or more: leave out -method, or declare the label as categorical with its "levels"`, b.method)
	case perLevel(b.method) && !source.Softmax:
		return task.Usage("-method %s has a loss of its own: leave out -loss, or -method", b.method)
	case perLevel(b.method) && b.radius != 0:
		return task.Usage("-radius %g is for methods of one score: leave it out for %s, which has no bound on weights", b.radius, b.method)
	case source.Softmax && !perLevel(b.method):
		return task.Usage(`-method %s is for one score a row, and the label has %d levels: leave out -method or, where levels ascend ("ordered": true in the schema), add -loss ordinal`, b.method, len(levels))
	}
	return b.find()
}

// compared are the names of the methods to compare: those that were given or, by default, all
// that are for the label and its loss.
func (b *budget) compared(names []string, byDefault bool, source *task.Source) ([]string, error) {
	switch {
	case byDefault && source.Softmax:
		names = []string{softmax, oneAgainstRest}
	case byDefault && source.Levels() != nil:
		names = append(task.Compared(), softmax, oneAgainstRest)
	case byDefault:
		names = task.Compared()
	}
	for i, name := range names {
		if perLevel(name) && source.Levels() != nil { // beside losses of one score, too
			continue
		}
		b.method = name
		if err := b.choose(source); err != nil {
			return nil, err
		}
		names[i] = b.method
	}
	return names, nil
}

// planned is what a fit will do: a learner's plan, or that of a method for levels.
type planned struct {
	ledger *dpglm.Ledger
	radius float64 // that holds the weights, 0 where none does
	note   string
	check  func(ctx context.Context, d *dpglm.Dataset) error // of what run would refuse
	run    func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (model, *dpglm.Inference, error)
}

// plan plans for a shape.
func (b *budget) plan(s dpglm.Shape, source *task.Source) (*planned, error) {
	if b.method == softmax {
		cfg := dpglm.SoftmaxConfig{Classes: len(source.Levels())}
		ledger, err := cfg.Ledger(s, b.total())
		if err != nil {
			return nil, err
		}
		return &planned{ledger: ledger, check: anyLevels, run: func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (model, *dpglm.Inference, error) {
			m, err := dpglm.Softmax(ctx, d, b.total(), cfg, env)
			return m, nil, err
		}}, nil
	}
	if b.method == oneAgainstRest {
		cfg, p := dpglm.OneAgainstRestConfig{Classes: len(source.Levels())}, dpglm.Problem{Loss: losses.Logistic{}}
		ledger, err := cfg.Ledger(s, p, b.total())
		if err != nil {
			return nil, err
		}
		return &planned{ledger: ledger, check: anyLevels, run: func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (model, *dpglm.Inference, error) {
			m, err := dpglm.OneAgainstRest(ctx, d, p, b.total(), cfg, env)
			return m, nil, err
		}}, nil
	}
	p, err := b.learner.Plan(s, dpglm.Problem{Loss: source.Loss, Radius: b.radius}, b.total())
	if err != nil {
		return nil, err
	}
	learner, radius := b.learner, p.Problem.Radius
	if !b.holds() {
		radius = 0
	}
	return &planned{p.Ledger, radius, p.Note, p.Check, func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (model, *dpglm.Inference, error) {
		if cfg, ok := learner.(dpglm.InferConfig); ok {
			found, err := dpglm.Infer(ctx, d, p.Problem, b.total(), cfg, env)
			if err != nil {
				return nil, nil, err
			}
			return found.Model(), found, nil
		}
		m, err := p.Run(ctx, d, env)
		return m, nil, err
	}}, nil
}

// anyLevels checks nothing: a table's labels are its levels.
func anyLevels(context.Context, *dpglm.Dataset) error { return nil }

// named names the method with its loss.
func (b *budget) named(source *task.Source) string {
	if b.method == softmax {
		return softmax
	}
	return fmt.Sprintf("%s, %s loss", b.method, b.lossName(source))
}

// radiusOf tells the bound on weights, where there is one.
func radiusOf(radius float64) string {
	if radius == 0 {
		return ""
	}
	return fmt.Sprintf(", radius %.4g", radius)
}

// lossName is the loss's name without thresholds, of softmax the method's.
func (b *budget) lossName(source *task.Source) string {
	switch {
	case b.method == oneAgainstRest:
		return losses.Logistic{}.Name()
	case source.Softmax:
		return softmax
	case source.Levels() != nil:
		return ordinal
	}
	return source.Loss.Name()
}

// scores is how many a row has.
func scores(source *task.Source) int {
	if source.Softmax {
		return len(source.Levels())
	}
	return 1
}

// weights counts those of a model.
func weights(source *task.Source, s dpglm.Shape) string {
	if k := scores(source); k > 1 {
		return fmt.Sprintf("%d × %d", k, s.Dim)
	}
	return fmt.Sprint(s.Dim)
}
