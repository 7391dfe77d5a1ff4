package dpglm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// classLabels are those of three classes.
const classLabels losses.Labels = "three classes"

// softmaxes are Softmax on each of its ways, which follow from n·μ.
func softmaxes() []*trial {
	var all []*trial
	forms := designs(24, classLabels)
	for _, mu := range []float64{1, 12, 60, 3000} {
		for _, form := range []string{"dense", "dense, intercept", "sparse", "sparse schema, intercept", "any matrix", "persons"} {
			c := &trial{name: fmt.Sprintf("Softmax, μ = %g, %s", mu, form), design: forms[form]}
			if form == "dense, intercept" && mu == 12 {
				c.reaches = map[string]float64{"softmax #1": 1 - 1e-9, "softmax": 0.5}
			}
			c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
				return dpglm.Softmax(ctx, d, dpglm.GDP(mu), dpglm.SoftmaxConfig{Classes: 3}, env)
			}
			all = append(all, c)
		}
	}
	return all
}

// classEvaluations are of a model that was trained on other rows: each of the histograms
// moves by as much as it declares, but where a row is half a person's.
func classEvaluations(t *testing.T) []*trial {
	t.Helper()
	var all []*trial
	forms := designs(24, classLabels)
	for _, form := range []string{"dense", "dense, intercept", "sparse", "sparse schema, intercept", "any matrix", "persons", "persons, schema"} {
		d := forms[form]
		c := &trial{name: "EvaluateClasses, " + form, design: d}
		if d.form != "persons" {
			c.reaches = map[string]float64{"evaluation of classes": 1 - 1e-9}
		}
		rows, err := d.base(99).dataset(d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := dpglm.Softmax(t.Context(), rows, dpglm.GDP(60), dpglm.SoftmaxConfig{Classes: 3}, &dpglm.Env{NoiseForTests: &words{seed: 1}})
		if err != nil {
			t.Fatal(err)
		}
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			e, err := dpglm.EvaluateClasses(ctx, d, m, dpglm.GDP(3), dpglm.EvaluateClassesConfig{}, env)
			return []any{e, fmt.Sprint(e)}, err
		}
		all = append(all, c)
	}
	return all
}
