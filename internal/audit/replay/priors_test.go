package replay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// priorOf is a model of other rows of the design, with so little noise that it is far from the constant one.
func priorOf(t *testing.T, d design, p dpglm.Problem) *dpglm.Model {
	t.Helper()
	d.form = "dense"
	d.n = 60
	rows, err := d.base(77).dataset(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(t.Context(), rows, p, dpglm.GDP(1e3), &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(3)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// priors are trials of descents that begin at a public model: a histogram of its scores and steps along its line are released then, and
// every line that follows has scores beside its own.
func priors(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	for _, c := range []struct {
		labels losses.Labels
		of     dpglm.Problem
		mu     []float64
	}{
		{losses.Binary, dpglm.Problem{Loss: losses.Logistic{}}, []float64{3, 25, 3000}},
		{losses.Binary, dpglm.Problem{Loss: losses.Hinge{}}, []float64{20}},
		{losses.Real, dpglm.Problem{Loss: losses.Squared{}}, []float64{20}},
		{losses.Real, dpglm.Problem{Loss: losses.Absolute{}}, []float64{20}},
		{losses.Count, dpglm.Problem{Loss: losses.Poisson{}}, []float64{20}},
		{classLabels, dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, []float64{12, 60}},
	} {
		for _, mu := range c.mu {
			for _, form := range []string{"dense", "dense, intercept", "schema", "sparse schema, intercept", "persons", "places"} {
				d := designs(24, c.labels)[form]
				p := c.of
				p.Prior = priorOf(t, d, p)
				one := &trial{name: fmt.Sprintf("prior, %s, %d classes, μ = %g, %s", p.Loss.Name(), p.Classes, mu, form), design: d}
				one.run = func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
					return dpglm.Auto(ctx, rows, p, d.budget(dpglm.GDP(mu)), env)
				}
				all = append(all, one)
			}
		}
	}
	d := designs(24, losses.Binary)["dense, intercept"]
	p := dpglm.Problem{Loss: losses.Logistic{}}
	p.Prior = priorOf(t, d, p)
	return append(all, &trial{name: "prior, Infer", design: d, run: func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
		return dpglm.Infer(ctx, rows, p, dpglm.GDP(400), dpglm.InferConfig{}, env)
	}})
}
