package frankwolfe

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/sketch"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/mechanisms"
)

// Walk is a walk along the vertices of an ℓ1 ball, as it was planned.
type Walk struct {
	// Rest is the problem of all columns that may be selected, with the pool's budget.
	Rest estimate.Problem
	// Rows are what selections read: where each row of a person counts, rows that have weights.
	Rows estimate.Task
	// Pooled is whether there is a pool beside the selections, for the intercept and a refit.
	Pooled     bool
	Features   int // of the rows
	Steps      int
	Moves      int     // of the intercept
	Clip       float64 // of slopes
	EntryBound float64
	Radius     float64
	By         mechanisms.Exponential
	Refit      bool                      // the selected columns are fitted at last
	BoundOn    func(columns int) float64 // bounds a row of so many selected columns
}

// walking is a run of Walk.
type walking struct {
	plan   Walk
	task   estimate.Task
	begun  *estimate.Run // what the intercept is made of, nil without intercept
	labels estimate.Labels
	v      *curator.Coordinates

	choose, pool *release.Allowance
	weights      []float64
	columns      []int // that were selected, each once
	bias         float64
	left         int // moves of the intercept
}

// Fit selects columns by the first part of what is allowed, and has the second for the intercept
// and the refit.
func (f Walk) Fit(t estimate.Task) ([]float64, error) {
	x := &walking{plan: f, task: t, weights: make([]float64, f.Features, f.Features+1)}
	var err error
	if x.choose, err = t.Allow.Part(0); err != nil {
		return nil, err
	}
	if f.Pooled {
		if x.pool, err = t.Allow.Part(1); err != nil {
			return nil, err
		}
	}
	sums, err := f.Rows.Data.Under(f.Rest.Loss)
	if err != nil {
		return nil, err
	}
	if err := x.begin(); err != nil {
		return nil, err
	}
	if x.v, err = sums.Coordinates(t.Ctx, f.Clip, f.EntryBound, x.bias, f.By); err != nil {
		return nil, err
	}
	if err := x.steps(); err != nil {
		return nil, err
	}
	if f.Refit {
		return x.refit()
	}
	if f.Rest.Facts.Intercept {
		x.weights = append(x.weights, x.bias)
	}
	return estimate.Clamp(x.weights), nil
}

// share is the intercept's part of the pool.
func (x *walking) share() float64 {
	switch {
	case !x.plan.Rest.Facts.Intercept:
		return 0
	case x.plan.Refit:
		return tuning.SelectInterceptShare
	}
	return 1
}

// begin releases the labels' mean, which starts the intercept.
func (x *walking) begin() error {
	if !x.plan.Rest.Facts.Intercept {
		return nil
	}
	t, rest := x.plan.Rows, x.plan.Rest.Share(x.share())
	t.Allow, rest.Facts = x.pool, rest.Facts.ByRows()
	var err error
	if x.begun, err = estimate.Begin(rest, t); err != nil {
		return err
	}
	total, share := tuning.CountsShare, tuning.SelectMeanShare
	if x.left = x.plan.Moves; x.left == 0 { // the constant model is all
		total = x.begun.Pool.Left / 2
	}
	if err := x.begun.TotalBesideLabels(total); err != nil {
		return err
	}
	if x.left == 0 {
		share = x.begun.Pool.Left
	}
	x.labels, err = x.begun.Mean(share)
	x.bias = x.labels.Bias
	return err
}

// steps selects the columns and moves along them.
func (x *walking) steps() error {
	total, length := x.plan.Steps, x.plan.Radius/float64(x.plan.Steps)
	if x.plan.Refit {
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
		if err := x.step(vertex, length); err != nil {
			return err
		}
		x.task.Progress(t+1, total)
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
	if x.plan.Refit {
		x.columns = append(x.columns, j)
		x.v.Take(j)
	}
	return x.v.Move(x.task.Ctx, j, length)
}

// moveIntercept makes a Newton step of the intercept, with the curvature that the labels'
// mean tells of.
func (x *walking) moveIntercept() error {
	if !x.plan.Rest.Facts.Intercept {
		return nil
	}
	g, err := x.begun.Pool.Draw(x.begun.Pool.Left/float64(x.left), x.v.Total(), nil)
	x.left--
	if err != nil {
		return err
	}
	x.bias -= g[0] / (x.begun.N * math.Max(x.labels.Curvature, x.labels.Steepest/tuning.SelectCurvature))
	return x.v.Shift(x.task.Ctx, x.bias)
}

// refit fits the selected columns.
func (x *walking) refit() ([]float64, error) {
	slices.Sort(x.columns)
	k, steps := len(x.columns), x.plan.Steps
	phi := sketch.NewColumns(x.plan.Features, x.columns)
	data, err := x.task.Data.Project(x.task.Ctx, phi, x.plan.BoundOn(k))
	if err != nil {
		return nil, err
	}
	t := x.task
	t.Data, t.Allow, t.Under = data, x.pool, data.Under
	t.Levels, t.Ranged = func() [][]int { return levelsAmong(x.task.Levels(), x.columns) }, nil // no law is made
	t.Progress = func(done, total int) { x.task.Progress(steps+steps*done/total, 2*steps) }
	rest := x.plan.Rest
	rest.Facts.Dim += k - rest.Facts.Features()
	w, err := estimate.Fit(rest.Share(1-x.share()), t)
	if err != nil {
		return nil, err
	}
	full := make([]float64, x.plan.Features, x.plan.Features+1)
	phi.Transpose(full, w[:k])
	return append(full, w[k:]...), nil
}

// levelsAmong are those of some of the columns, in ascending order, by their places there.
func levelsAmong(groups [][]int, columns []int) (out [][]int) {
	for _, group := range groups {
		var left []int
		for _, j := range group {
			if k, found := slices.BinarySearch(columns, j); found {
				left = append(left, k)
			}
		}
		out = append(out, left)
	}
	return out
}
