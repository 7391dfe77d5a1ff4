package replay_test

import (
	"context"
	"fmt"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// momentTrials are trials of moments of all columns, at budgets at which few rows are scaled down, and at which many are.
func momentTrials() []*trial {
	var all []*trial
	for _, mu := range []float64{3, 40, 4000} {
		for _, form := range []string{"dense, intercept", "sparse, intercept", "sparse schema, intercept", "places"} {
			d := designs(24, losses.Real)[form]
			all = append(all, &trial{name: fmt.Sprintf("moments, μ = %g, %s", mu, form), design: d, run: func(ctx context.Context, rows *dpglm.Dataset, env *dpglm.Env) (any, error) {
				return rows.Moments(ctx, d.budget(dpglm.GDP(mu)), env)
			}})
		}
	}
	return all
}
