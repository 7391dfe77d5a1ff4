package replay_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// onLabels are trials of estimates where labels alone are private, on each of their ways: neighbours have all features in common. A row that is cut
// moves the sum of labels by all that is declared.
func onLabels(t *testing.T) []*trial {
	t.Helper()
	auto, inference := dpglm.AutoConfig{}, dpglm.InferConfig{}
	sum, first := map[string]float64{pooled + " #2": 0.999}, map[string]float64{pooled + " #1": 1 - 1e-9}
	return append(ofLabels(t, []learned{
		{"Auto, labels, constant model", 24, auto, losses.Logistic{}, 0, dpglm.GDP(1), nil, first},
		{"Auto, labels of two classes", 24, auto, losses.Logistic{}, 0, dpglm.GDP(25), nil, sum},
		{"Auto, labels of two classes, large budget", 24, auto, losses.Logistic{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, counts alone", 40, auto, losses.Poisson{}, 0, dpglm.GDP(20), nil, nil},
		{"Auto, real labels alone", 40, auto, losses.Squared{}, 0, dpglm.GDP(20), nil, nil},
		{"Auto, real labels alone, large budget", 40, auto, losses.Squared{}, 0, dpglm.GDP(3000), nil, nil},
		{"Auto, labels of another loss", 24, auto, losses.Probit{}, 0, dpglm.GDP(25), nil, nil},
		{"Infer, labels of two classes", 24, inference, losses.Logistic{}, 0, dpglm.GDP(25), nil, nil},
		{"Infer, labels of two classes, large budget", 24, inference, losses.Logistic{}, 0, dpglm.GDP(3000), nil, nil},
		{"Infer, real labels alone", 40, inference, losses.Squared{}, 0, dpglm.GDP(40), nil, nil},
	}), classesOnLabels()...)
}

// countsOnLabels are more of counts there.
func countsOnLabels(t *testing.T) []*trial {
	t.Helper()
	return ofLabels(t, []learned{
		{"Auto, counts alone, large budget", 40, dpglm.AutoConfig{}, losses.Poisson{}, 0, dpglm.GDP(3000), nil, nil},
		{"Infer, counts alone", 40, dpglm.InferConfig{}, losses.Poisson{}, 0, dpglm.GDP(40), nil, nil},
	})
}

// ofLabels are trials on rows of which labels alone are private.
func ofLabels(t *testing.T, list []learned) []*trial {
	t.Helper()
	var all []*trial
	for _, l := range list {
		forms := designs(l.n, l.loss.Labels())
		for _, base := range []string{"dense", "dense, intercept", "schema", "sparse schema, intercept"} {
			d := forms[base]
			d.form = "labels"
			c := l.on(t, base, d)
			if base == "dense, intercept" {
				c.reaches = l.reaches
			} else {
				c.reaches = nil
			}
			if _, infers := l.learner.(dpglm.InferConfig); infers {
				c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
					return dpglm.Infer(ctx, d, dpglm.Problem{Loss: l.loss}, l.budget.LabelsOnly(), dpglm.InferConfig{}, env)
				}
			}
			all = append(all, c)
		}
		d := forms["dense, intercept"]
		d.form = "labels, offsets"
		all = append(all, l.on(t, "offsets", d))
	}
	return all
}

// classesOnLabels are estimates of classes there: a row that is cut moves their sum by all that is declared.
func classesOnLabels() []*trial {
	var all []*trial
	p := dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}
	for _, base := range []string{"dense", "dense, intercept", "schema", "sparse schema, intercept"} {
		d := designs(40, classLabels)[base]
		d.form = "labels"
		for _, mu := range []float64{25, 3000} {
			c := &trial{name: fmt.Sprintf("Softmax, labels, μ = %g, %s", mu, base), design: d}
			if base == "dense, intercept" && mu == 25 {
				c.reaches = map[string]float64{"softmax #2": 0.999}
			}
			c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
				return dpglm.Softmax(ctx, d, p, dpglm.GDP(mu).LabelsOnly(), dpglm.SoftmaxConfig{}, env)
			}
			all = append(all, c)
		}
		c := &trial{name: "InferClasses, labels, " + base, design: d}
		c.run = func(ctx context.Context, d *dpglm.Dataset, env *dpglm.Env) (any, error) {
			return dpglm.InferClasses(ctx, d, p, dpglm.GDP(100).LabelsOnly(), dpglm.InferConfig{}, env)
		}
		all = append(all, c)
	}
	return all
}
