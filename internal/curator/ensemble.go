package curator

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Ensemble is a number of models that were trained without noise on disjoint parts
// of the rows, one on each. They can't be read.
type Ensemble struct {
	models [][]float64
	data   *Data
}

// Format prints the shape, whatever the verb.
func (e *Ensemble) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "curator.Ensemble of %d models", len(e.models))
}

// Ensemble trains the minimiser of the mean loss plus (λ/2)‖w‖² over the ball on
// each of so many parts, split at random by the seed and the number of rows only,
// whose sizes differ by at most one. Whatever a part's training does, it depends on
// that part's rows alone.
func (d *Data) Ensemble(ctx context.Context, loss losses.Loss, parts int, seed uint64, radius, lambda float64, progress func(done, total int)) (*Ensemble, error) {
	e, order := &Ensemble{make([][]float64, parts), d}, permutation(d.Len(), seed)
	for i, size := range evenly(d.Len(), parts) {
		sums, err := d.pick(order[:size], nil).Under(loss)
		if err != nil {
			return nil, err
		}
		order = order[size:]
		problem := regularised(ctx, sums.s, radius, lambda)
		tolerance := math.Max(1e-6*radius, problem.Floor()) // for accuracy only
		if e.models[i], err = problem.Minimize(ctx, tolerance); err != nil {
			return nil, err
		}
		progress(i+1, parts)
	}
	return e, nil
}

// Margin is the number of models that score an encoded query above 0, less the
// number of the others. A replaced row changes one model, and the margin by at
// most 2.
func (e *Ensemble) Margin(u []float64) release.Answer {
	margin := 0.0
	for _, w := range e.models {
		if floats.Dot(u, w) > 0 {
			margin++
		} else {
			margin--
		}
	}
	return release.NewAnswer(e.data.rows, []float64{margin}, 2)
}

// Mean is the mean of the models' predictions at an encoded query, each held to
// [low, high]; predict turns a score into a prediction and must be a public
// function. A replaced row changes one model.
func (e *Ensemble) Mean(u []float64, predict func(score float64) float64, low, high float64) release.Answer {
	var sum float64
	for _, w := range e.models {
		v := predict(floats.Dot(u, w))
		if !(v >= low) { // NaN, too
			v = low
		}
		sum += math.Min(high, v)
	}
	r := len(e.models)
	return release.NewAnswer(e.data.rows, []float64{sum / float64(r)}, MeanSensitivity(low, high, r))
}

// MeanSensitivity bounds how far the computed mean of r numbers in [low, high]
// moves when one of them changes: either sum is off by at most (r−1)·u·r·M, M the
// largest magnitude, and either quotient by u·M.
func MeanSensitivity(low, high float64, r int) float64 {
	m := math.Max(math.Abs(low), math.Abs(high))
	return (high-low)/float64(r)*(1+1e-15) + 2.1*float64(r+1)*unit*m
}
