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

const (
	softmax        = "softmax"
	oneAgainstRest = "oneagainstrest"
)

// perLevel are the methods for a label of several levels whose models have a score for each.
var perLevel = map[string]dpglm.Learner{softmax: dpglm.SoftmaxConfig{}, oneAgainstRest: dpglm.OneAgainstRestConfig{}}

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
	if b.learner = perLevel[b.method]; b.learner != nil {
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
	if source.Classes > 0 && b.method == "auto" {
		b.method = softmax
	}
	ofLevels := perLevel[b.method] != nil
	switch {
	case ofLevels && levels == nil:
		return task.Usage(`-method %s is for a label of three levels or more: leave out -method, or declare the label as categorical with its "levels"`, b.method)
	case ofLevels && source.Classes == 0:
		return task.Usage("-method %s has a loss of its own: leave out -loss, or -method", b.method)
	case ofLevels && b.radius != 0:
		return task.Usage("-radius %g is for methods of one score: leave it out for %s, which has no bound on weights", b.radius, b.method)
	case source.Classes > 0 && !ofLevels && b.method != "infer":
		return task.Usage(`-method %s is for one score a row, and the label has %d levels: leave out -method or, where levels ascend ("ordered": true in the schema), add -loss ordinal`, b.method, len(levels))
	}
	return b.find()
}

// compared are the names of the methods to compare: those that were given or, by default, all
// that are for the label and its loss.
func (b *budget) compared(names []string, byDefault bool, source *task.Source) ([]string, error) {
	switch {
	case byDefault && source.Classes > 0:
		names = []string{softmax, oneAgainstRest}
	case byDefault && source.Levels() != nil:
		names = append(task.Compared(), softmax, oneAgainstRest)
	case byDefault:
		names = task.Compared()
	}
	for i, name := range names {
		if perLevel[name] != nil && source.Levels() != nil { // beside losses of one score, too
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

// problem is what the method minimises.
func (b *budget) problem(source *task.Source) dpglm.Problem {
	if perLevel[b.method] != nil || source.Classes > 0 { // beside losses of one score, too
		return dpglm.Problem{Loss: losses.Logistic{}, Classes: len(source.Levels())}
	}
	return dpglm.Problem{Loss: source.Loss, Radius: b.radius}
}

// train fits as planned and, by -method infer, finds intervals with it.
func (b *budget) train(ctx context.Context, p *dpglm.Plan, d *dpglm.Dataset, env *dpglm.Env) (m *dpglm.Model, found inferred, err error) {
	cfg, ok := b.learner.(dpglm.InferConfig)
	switch {
	case !ok:
		m, err = p.Run(ctx, d, env)
		return m, found, err
	case p.Problem.Classes > 0:
		found.classes, err = dpglm.InferClasses(ctx, d, p.Problem, b.total(), cfg, env)
		return found.classes.Model(), found, err
	}
	found.one, err = dpglm.Infer(ctx, d, p.Problem, b.total(), cfg, env)
	return found.one.Model(), found, err
}

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
	case b.method == softmax:
		return softmax
	case source.Classes == 0 && source.Levels() != nil:
		return ordinal
	}
	return source.Loss.Name()
}

// scores is how many a row has.
func scores(source *task.Source) int { return max(1, source.Classes) }

// weights counts those of a model.
func weights(source *task.Source, s dpglm.Shape) string {
	if k := scores(source); k > 1 {
		return fmt.Sprintf("%d × %d", k, s.Dim)
	}
	return fmt.Sprint(s.Dim)
}
