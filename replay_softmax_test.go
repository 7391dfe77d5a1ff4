package dpglm_test

import (
	"context"
	"fmt"

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
