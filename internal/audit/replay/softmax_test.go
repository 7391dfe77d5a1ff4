package replay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
)

// classLabels are those of three classes.
const classLabels losses.Labels = "three classes"

// softmaxes are Softmax on each of its ways, which follow from n·μ.
func softmaxes() []*trial {
	var all []*trial
	forms := designs(24, classLabels)
	for _, mu := range []float64{1, 12, 60, 3000} {
		for _, form := range []string{"dense", "dense, intercept", "sparse", "sparse schema, intercept", "any matrix", "persons", "places"} {
			c := &trial{name: fmt.Sprintf("Softmax, μ = %g, %s", mu, form), design: forms[form]}
			if form == "dense, intercept" && mu == 12 {
				c.reaches = map[string]float64{"softmax #1": 1 - 1e-9, "softmax": 0.5}
			}
			c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
				return dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, c.design.budget(dpglm.GDP(mu)), dpglm.SoftmaxConfig{}, env)
			}
			all = append(all, c)
		}
	}
	return all
}

// againstRests are learners of one class against the rest, together: a row that changes its
// class moves the sums of two models as far as they declare.
func againstRests() []*trial {
	var all []*trial
	forms := designs(24, classLabels)
	steps := dpglm.NoisyGDConfig{Steps: 2, StepSize: 2, Clip: dpglm.NoClip}
	for _, c := range []struct {
		name, form string
		loss       losses.Loss
		learner    dpglm.Learner
		budget     dpglm.Budget
	}{
		{"NoisyGD", "dense", losses.Logistic{}, steps, dpglm.GDP(1)},
		{"NoisyGD", "sparse schema, intercept", losses.Hinge{}, steps, dpglm.GDP(1)},
		{"NoisyGD", "persons", losses.Logistic{}, steps, dpglm.GDP(1)},
		{"NoisyGD", "places", losses.Logistic{}, steps, dpglm.GDP(1)},
		{"Auto", "dense, intercept", losses.Logistic{}, nil, dpglm.GDP(60)},
		{"OutputPerturbation", "dense", losses.Logistic{}, dpglm.OutputPerturbationConfig{}, dpglm.PureDP(1)},
		{"GridSearch", "dense", losses.Probit{}, dpglm.GridSearchConfig{Learner: steps, Radii: []float64{0.5, 2}}, dpglm.GDP(1)},
	} {
		t := &trial{name: fmt.Sprintf("OneAgainstRest, %s, %s, %s", c.name, c.loss.Name(), c.form), design: forms[c.form]}
		if c.form == "dense" && c.name == "NoisyGD" {
			t.reaches = map[string]float64{gradientSums: 0.85}
		}
		t.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.OneAgainstRest(ctx, d, dpglm.Problem{Loss: c.loss, Radius: 2, Classes: 3}, t.design.budget(c.budget), dpglm.OneAgainstRestConfig{Learner: c.learner}, env)
		}
		all = append(all, t)
	}
	return all
}

// classInferences are inferences of each class against the reference, together: a row that changes its class has a
// weight in one where it had none.
func classInferences() []*trial {
	var all []*trial
	forms := designs(24, classLabels)
	for _, form := range []string{"dense, intercept", "persons", "places"} {
		t := &trial{name: "InferClasses, " + form, design: forms[form]}
		t.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.InferClasses(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, t.design.budget(dpglm.GDP(60)), dpglm.InferConfig{}, env)
		}
		all = append(all, t)
	}
	return all
}

// classEvaluations are of a model that was trained on other rows: each of the histograms
// moves by as much as it declares, but where a row is half a person's.
func classEvaluations(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	forms := designs(24, classLabels)
	for _, form := range []string{"dense", "dense, intercept", "sparse", "sparse schema, intercept", "any matrix", "persons", "persons, schema", "places"} {
		d := forms[form]
		c := &trial{name: "EvaluateClasses, " + form, design: d}
		if !d.persons() {
			c.reaches = map[string]float64{"evaluation of classes": 1 - 1e-9}
		}
		rows, err := d.base(99).dataset(d)
		if err != nil {
			t.Fatal(err)
		}
		// Labels have nothing to do with features here, and Softmax would say so: a constant model.
		m, err := dpglm.OneAgainstRest(t.Context(), rows, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, d.budget(dpglm.GDP(60)), dpglm.OneAgainstRestConfig{Learner: dpglm.NoisyGDConfig{}}, &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			e, err := dpglm.Evaluate(ctx, d, m, c.design.budget(dpglm.GDP(3)), dpglm.EvaluateConfig{}, env)
			if err != nil {
				return nil, err
			}
			return []any{given.EvaluatedNumbers(e), e.Ledger, e, fmt.Sprint(e)}, nil
		}
		all = append(all, c)
	}
	return append(all, levelEvaluations(t)...)
}

// levelEvaluations are of models of levels that ascend.
func levelEvaluations(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	loss := losses.Ordinal{Thresholds: []float64{-1, 0.5}}
	forms := designs(24, classLabels)
	for _, form := range []string{"dense", "dense, intercept", "sparse", "any matrix", "persons", "places"} {
		d := forms[form]
		bounds := d.facts.(dpglm.Bounds)
		bounds.LabelRange = [2]float64{0, 2}
		d.facts = bounds
		c := &trial{name: "Evaluate, levels, " + form, design: d}
		if !d.persons() {
			c.reaches = map[string]float64{"evaluation of levels": 1 - 1e-9}
		}
		rows, err := d.base(99).dataset(d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.StandardisedGD(t.Context(), rows, dpglm.Problem{Loss: loss}, d.budget(dpglm.GDP(60)), dpglm.StandardisedGDConfig{}, &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			e, err := dpglm.Evaluate(ctx, d, m, c.design.budget(dpglm.GDP(3)), dpglm.EvaluateConfig{}, env)
			if err != nil {
				return nil, err
			}
			return []any{given.EvaluatedNumbers(e), e.Ledger, e, fmt.Sprint(e)}, nil
		}
		all = append(all, c)
	}
	return all
}
