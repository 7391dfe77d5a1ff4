package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/baseline"
)

// setting is one of full-batch noisy gradient descent, to be found by hand.
type setting struct {
	steps      int
	clip, rate float64
}

// settings are three of steps, clips and learning rates each.
func settings(steps []int, clips, rates []float64) (all []setting) {
	for _, s := range steps {
		for _, clip := range clips {
			for _, rate := range rates {
				all = append(all, setting{s, clip, rate})
			}
		}
	}
	return all
}

// descents runs noisy gradient descent on the multinomial loss for several settings of the
// same number of steps, side by side: the mean of the rows' gradients, each scaled down to
// the clip, with noise of standard deviation 2·clip·√steps/(nμ), so that all steps together
// are μ-GDP as to replacing a row. It is the method that people write by hand, to compare
// with: its noise is rounded like any float64, and whoever chooses the best setting by looking
// at labels spends more than μ. It returns a model for each setting.
func descents(train *rows, classes int, mu float64, of []setting, r *rand.Rand) []baseline.Classes {
	n, d := train.x.Dims()
	width := classes * len(of)
	w, g := mat.NewDense(d+1, width, nil), mat.NewDense(d+1, width, nil)
	for range of[0].steps {
		g.Zero()
		z := make([]float64, width)
		for i := range n {
			x := train.x.RawRowView(i)
			copy(z, w.RawRowView(d))
			square := 1.0
			for j, v := range x {
				if v != 0 {
					floats.AddScaled(z, v, w.RawRowView(j))
					square += v * v
				}
			}
			for s, c := range of {
				clipped(z[s*classes:(s+1)*classes], int(train.y[i]), math.Sqrt(square), c.clip)
			}
			floats.Add(g.RawRowView(d), z)
			for j, v := range x {
				if v != 0 {
					floats.AddScaled(g.RawRowView(j), v, z)
				}
			}
		}
		for j := range d + 1 {
			row, slope := w.RawRowView(j), g.RawRowView(j)
			for s, c := range of {
				spread := 2 * c.clip * math.Sqrt(float64(c.steps)) / mu
				for k := s * classes; k < (s+1)*classes; k++ {
					row[k] -= c.rate * (slope[k] + spread*r.NormFloat64()) / float64(n)
				}
			}
		}
	}
	models := make([]baseline.Classes, len(of))
	for column := range width {
		v := mat.Col(nil, column, w)
		s := column / classes
		models[s] = append(models[s], baseline.Model{Weights: v[:d], Intercept: v[d]})
	}
	return models
}

// clipped turns scores into p − e_y, scaled so that the row's gradient is no longer than
// the clip.
func clipped(z []float64, y int, length, clip float64) {
	baseline.Softmax(z)
	z[y]--
	if long := floats.Norm(z, 2) * length; long > clip {
		floats.Scale(clip/long, z)
	}
}

// ranked returns which scores have the best accuracy, and the median one.
func ranked(all []score) (best, middle int) {
	order := make([]int, len(all))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].right, all[a].right) })
	return order[0], order[len(order)/2]
}
