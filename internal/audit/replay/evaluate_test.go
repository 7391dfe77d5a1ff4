package replay_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// evaluations are of models that were trained on other rows, and of two that are trained on
// a part of the same, one by a search that splits it again, with both ledgers in parallel.
func evaluations(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, of := range []struct {
		loss   losses.Loss
		form   string
		budget dpglm.Budget
	}{
		{losses.Logistic{}, "dense", dpglm.GDP(3)},
		{losses.Hinge{}, "sparse schema, intercept", dpglm.ApproxDP(1, 1e-6)},
		{losses.Squared{}, "dense, intercept", dpglm.GDP(3)},
		{losses.Poisson{}, "sparse", dpglm.GDP(3)},
		{losses.Probit{}, "dense", dpglm.GDP(3)},
		{losses.Gamma{Least: 0.1}, "sparse", dpglm.GDP(3)},
		{losses.Logistic{}, "persons", dpglm.GDP(3)},
		{losses.Squared{}, "persons, schema", dpglm.GDP(3)},
		{losses.Logistic{}, "places", dpglm.GDP(3)},
		{losses.Squared{}, "places", dpglm.GDP(3)},
		{losses.Poisson{}, "persons, places", dpglm.GDP(3)},
		{losses.Squared{}, "detailed", dpglm.GDP(3)},
		{losses.Poisson{}, "detailed", dpglm.GDP(3)},
	} {
		d := designs(24, of.loss.Labels())[of.form]
		c := &trial{name: "Evaluate, " + of.loss.Name() + ", " + of.form, design: d}
		if !d.persons() && d.form != "detailed" {
			c.reaches = map[string]float64{"evaluation": 1 - 1e-9}
		}
		m, budget := fitted(t, d, of.loss), d.budget(of.budget)
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			e, err := dpglm.Evaluate(ctx, d, m, budget, dpglm.EvaluateConfig{Threshold: 0.4}, env)
			if err != nil {
				return nil, err
			}
			return []any{figures(e), e.Ledger, e, fmt.Sprint(e)}, nil
		}
		all = append(all, c)
	}
	descent := dpglm.NoisyGDConfig{Steps: 3, StepSize: 2, Clip: dpglm.NoClip}
	return append(all, trainedAndEvaluated("a fit and its evaluation", "dense", descent), trainedAndEvaluated("a fit and its evaluation, places", "places", descent),
		trainedAndEvaluated("a search and its evaluation", "dense", dpglm.GridSearchConfig{Learner: descent, Radii: []float64{1, 2}, Validation: 0.3, Seed: 5}))
}

// figures are an evaluation's, those that it hasn't included.
func figures(e *dpglm.Evaluation) (list []float64) {
	for _, name := range []string{"accuracy", "AUC", "rate of ones", "log-loss", "Brier score", "mean error", "RMSE", "R²"} {
		v := given.FigureOf(e, name)
		list = append(list, v.Value, v.Low, v.High)
	}
	for _, v := range e.ROC {
		list = append(list, v.Across.Value, v.Up.Value)
	}
	return list
}

// fitted is a model of usual rows of a design.
func fitted(t *testing.T, of design, loss losses.Loss) *dpglm.Model {
	t.Helper()
	d, err := of.base(99).dataset(of)
	if err != nil {
		t.Fatal(err)
	}
	env := &dpglm.Env{NoiseForTests: &given.Words{Seed: 1}}
	m, err := dpglm.NoisyGD(t.Context(), d, dpglm.Problem{Loss: loss, Radius: 1}, of.budget(dpglm.GDP(20)), dpglm.NoisyGDConfig{Steps: 9}, env)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// trainedAndEvaluated trains on half of the rows, and evaluates on the others.
func trainedAndEvaluated(name, form string, l dpglm.Learner) *trial {
	of := designs(48, losses.Binary)[form]
	c := &trial{name: name, design: of, reaches: map[string]float64{"evaluation": 1 - 1e-9, gradientSums: 0.5}}
	c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
		train, held, err := d.Split(0.5, 3)
		if err != nil {
			return nil, err
		}
		b := of.budget(dpglm.GDP(2))
		plan, err := l.Plan(train.Shape(), dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, b)
		if err != nil {
			return nil, err
		}
		m, err := plan.Run(ctx, train, env)
		if err != nil {
			return nil, err
		}
		e, err := dpglm.Evaluate(ctx, held, m, b, dpglm.EvaluateConfig{}, env)
		if err != nil {
			return nil, err
		}
		both, err := mechanisms.Parallel("fit and evaluation", m.Ledger(), e.Ledger)
		return []any{append(figures(e), m.Weights()[0]...), both, e, m}, err
	}
	return c
}

// A row lies in one part of a split: replacing it changes the first counts of that part,
// and none of the other's.
func TestSplitPartsAreDisjoint(t *testing.T) {
	d := designs(12, losses.Binary)["dense"]
	m, base := fitted(t, d, losses.Logistic{}), d.base(5)
	counts := func(rows table) (parts [2][]float64) {
		data, err := rows.dataset(d)
		if err != nil {
			t.Fatal(err)
		}
		train, held, err := data.Split(0.4, 7)
		if err != nil {
			t.Fatal(err)
		}
		for k, part := range []*dpglm.Dataset{train, held} {
			p := &given.Tape{Words: given.Words{Seed: 1}}
			if _, err := dpglm.Evaluate(t.Context(), part, m, dpglm.GDP(1), dpglm.EvaluateConfig{}, &dpglm.Env{NoiseForTests: p}); err != nil {
				t.Fatal(err)
			}
			parts[k] = p.Heard[0].Values
		}
		return parts
	}
	before, changed := counts(base), [2]int{}
	for i, u := range base.rows {
		after := counts(base.with(i, given.Row{X: u.X, Y: 1 - u.Y}))
		first, second := !slices.Equal(before[0], after[0]), !slices.Equal(before[1], after[1])
		if first == second {
			t.Errorf("row %d is in the first part: %v, in the second: %v", i, first, second)
		}
		if first {
			changed[0]++
		} else {
			changed[1]++
		}
	}
	if changed != [2]int{7, 5} {
		t.Errorf("parts of %v rows", changed)
	}
}
