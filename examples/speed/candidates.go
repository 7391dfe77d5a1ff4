package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// searches are grid searches whose candidates, radii of Noisy GD, read the rows together.
func searches(memory []float64, megabytes, d int) *group {
	x := shaped(memory, megabytes, d)
	n, _ := x.Dims()
	g := &group{name: title("grid search", x)}
	plans := map[int]*dpglm.Plan{}
	var data *dpglm.Dataset
	g.prepare = func() (err error) {
		r := rand.New(mechanisms.NewSeededSource(3))
		labels := make([]float64, n)
		for i := range labels {
			labels[i] = float64(r.IntN(2))
		}
		data, err = dpglm.NewDataset(x, labels, dpglm.Bounds{Feature: math.Sqrt(float64(d)) / 2})
		for k := range plans {
			if err != nil {
				return err
			}
			search := dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 10}}
			for j := range k {
				search.Radii = append(search.Radii, 1+float64(j)/8)
			}
			plans[k], err = search.Plan(data.Shape(), dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6))
		}
		return err
	}
	for _, k := range []int{1, 4, 32} {
		plans[k] = nil
		name := fmt.Sprintf("%d candidates", k)
		if k == 1 {
			name = "one candidate"
		}
		g.ops = append(g.ops, &op{name: name, costs: k > 1, once: func() (float64, error) {
			start := time.Now()
			_, err := plans[k].Run(context.Background(), data, nil)
			return time.Since(start).Seconds(), err
		}})
	}
	return g
}
