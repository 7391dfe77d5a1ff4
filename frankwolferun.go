package dpglm

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/internal/tuning"
)

// walking is a run of FrankWolfe.
type walking struct {
	plan   *frankWolfe
	run    *run
	begun  *estimate.Run // what the intercept is made of, nil without intercept
	labels estimate.Labels
	sums   *curator.Sums
	v      *curator.Coordinates

	choose, pool *release.Allowance
	weights      []float64
	columns      []int // that were selected, each once
	bias         float64
	left         int // moves of the intercept
}

// train releases what the comment of FrankWolfe lists.
func (f *frankWolfe) train(r *run) ([]float64, error) {
	x := &walking{plan: f, run: r, weights: make([]float64, f.shape.Dim)}
	var err error
	if x.choose, err = r.allow.Part(0); err != nil {
		return nil, err
	}
	if f.pooled {
		if x.pool, err = r.allow.Part(1); err != nil {
			return nil, err
		}
	}
	if x.sums, err = r.data.Under(f.rest.estimate.Loss); err != nil {
		return nil, err
	}
	if err := x.begin(); err != nil {
		return nil, err
	}
	if err := x.walk(); err != nil {
		return nil, err
	}
	if f.Output == Refit {
		return x.refit()
	}
	if f.shape.Intercept {
		x.weights[f.shape.Dim-1] = x.bias
	}
	return estimate.Clamp(x.weights), nil
}

// share is the intercept's part of the pool.
func (x *walking) share() float64 {
	switch {
	case !x.plan.shape.Intercept:
		return 0
	case x.plan.Output == Refit:
		return tuning.SelectInterceptShare
	}
	return 1
}

// begin releases the labels' mean, which starts the intercept.
func (x *walking) begin() error {
	if !x.plan.shape.Intercept {
		return nil
	}
	t := x.run.task()
	t.Allow = x.pool
	var err error
	if x.begun, err = estimate.Begin(x.plan.rest.estimate.Share(x.share()), t); err != nil {
		return err
	}
	if err := x.begun.Total(); err != nil {
		return err
	}
	share := tuning.SelectMeanShare
	if x.left = x.plan.moves(); x.left == 0 {
		share = x.begun.Pool.Left
	}
	x.labels, err = x.begun.Mean(share)
	x.bias = x.labels.Bias
	return err
}

// walk selects the columns and steps along them.
func (x *walking) walk() error {
	var err error
	if x.v, err = x.sums.Coordinates(x.run.ctx, x.plan.Clip, x.plan.EntryBound, x.bias, x.plan.by); err != nil {
		return err
	}
	total, step := x.plan.Steps, x.plan.radius/float64(x.plan.Steps)
	if x.plan.Output == Refit {
		total *= 2
	}
	for t := range x.plan.Steps {
		if t > 1 && t&(t-1) == 0 {
			if err := x.moveIntercept(); err != nil {
				return err
			}
		}
		vertex, err := x.choose.Choose(x.v.Ranking())
		if err != nil {
			return err
		}
		if err := x.step(vertex, step); err != nil {
			return err
		}
		x.run.progress(t+1, total)
	}
	return nil
}

// step moves along a vertex.
func (x *walking) step(vertex int, length float64) error {
	j := vertex / 2
	if vertex%2 == 1 {
		length = -length
	}
	x.weights[j] += length
	if x.plan.Output == Refit {
		x.columns = append(x.columns, j)
		x.v.Take(j)
	}
	return x.v.Move(x.run.ctx, j, length)
}

// moveIntercept makes a Newton step of the intercept, with the curvature that the labels'
// mean tells of.
func (x *walking) moveIntercept() error {
	if !x.plan.shape.Intercept {
		return nil
	}
	g, err := x.begun.Pool.Draw(x.begun.Pool.Left/float64(x.left), x.v.Total(), nil)
	x.left--
	if err != nil {
		return err
	}
	x.bias -= g[0] / (x.begun.N * math.Max(x.labels.Curvature, x.labels.Steepest/tuning.SelectCurvature))
	return x.v.Shift(x.run.ctx, x.bias)
}

// refit fits the selected columns.
func (x *walking) refit() ([]float64, error) {
	slices.Sort(x.columns)
	k := len(x.columns)
	phi := sketch.NewColumns(x.plan.shape.features(), x.columns)
	data, err := x.run.data.Project(x.run.ctx, phi, x.plan.selectedBound(k))
	if err != nil {
		return nil, err
	}
	r := *x.run
	r.data, r.allow = data, x.pool
	r.levels = func() [][]int { return levelsAmong(x.run.levels(), x.columns) }
	r.progress = func(done, total int) { x.run.progress(x.plan.Steps+x.plan.Steps*done/total, 2*x.plan.Steps) }
	rest := x.plan.rest.estimate
	rest.Facts = x.plan.selected(k).facts()
	w, err := estimate.Fit(rest.Share(1-x.share()), r.task())
	if err != nil {
		return nil, err
	}
	full := make([]float64, x.plan.shape.features(), x.plan.shape.Dim)
	phi.Transpose(full, w[:k])
	return append(full, w[k:]...), nil
}
