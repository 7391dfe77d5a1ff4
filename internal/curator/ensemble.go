package curator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// Ensemble is a number of models that were trained without noise on disjoint parts
// of the rows, one on each. They can't be read.
type Ensemble struct {
	models    [][]float64
	origin    origin
	predict   func(score float64) float64
	low, high float64
}

// Ensemble trains the minimiser of the mean loss plus (λ/2)‖w‖² over the ball on
// each of so many parts, split at random by the seed and the number of rows only,
// whose sizes differ by at most one. Whatever a part's training does, it depends on
// that part's rows alone. A label outside the loss's domain is an error of intake.
func (d *Data) Ensemble(ctx context.Context, loss losses.Loss, parts int, seed uint64, radius, lambda float64, progress func(done, total int)) (*Ensemble, error) {
	if err := d.Check(loss); err != nil {
		return nil, err
	}
	e := &Ensemble{models: make([][]float64, parts), origin: originOf(d), predict: prediction(loss)}
	e.low, e.high = LabelRange(loss.Labels(), d.For(loss).labelBound)
	err := eachPart(d, parts, seed, progress, func(i int, part *Data) (err error) {
		e.models[i], err = proposal(ctx, part, loss, radius, lambda)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// eachPart calls train for each of so many parts, as Ensemble splits the rows.
func eachPart(d *Data, parts int, seed uint64, progress func(done, total int), train func(i int, part *Data) error) error {
	d, order := arranged(d, permutation(d.Len(), seed))
	for i, size := range evenly(d.Len(), parts) {
		part := ByRows(pick(d, order[:size], nil))
		if err := train(i, part); err != nil {
			return err
		}
		order = order[size:]
		progress(i+1, parts)
	}
	return nil
}

// proposal is the minimiser of the mean loss plus (λ/2)‖w‖² over the ball, as accurate as a vote
// of it takes. It may be anything of the rows.
func proposal(ctx context.Context, d *Data, loss losses.Loss, radius, lambda float64) ([]float64, error) {
	sums, err := d.Under(loss)
	if err != nil {
		return nil, err
	}
	problem := regularised(ctx, sums.s, radius, lambda)
	return problem.Minimize(ctx, math.Max(1e-6*radius, problem.Floor()))
}

// Margin is the number of models that score a query above 0, less the number of
// the others. A replaced row changes one model, and the margin by at most 2.
func (e *Ensemble) Margin(x []float64) (release.Answer, error) {
	return e.origin.answer(x, 2, func(u []float64) (margin float64) {
		for _, w := range e.models {
			if floats.Dot(u, w) > 0 {
				margin++
			} else {
				margin--
			}
		}
		return margin
	})
}

// Mean is the mean of the models' predictions at a query, each held to the labels'
// range: of real labels less their centre. A replaced row changes one model.
func (e *Ensemble) Mean(x []float64) (release.Answer, error) {
	r := len(e.models)
	return e.origin.answer(x, MeanSensitivity(e.low, e.high, r), func(u []float64) float64 {
		var sum float64
		for _, w := range e.models {
			v := e.predict(floats.Dot(u, w))
			if !(v >= e.low) { // NaN, too
				v = e.low
			}
			sum += math.Min(e.high, v)
		}
		return sum / float64(r)
	})
}

// LabelRange is where labels lie: classes are 0 and 1, real ones less their centre.
func LabelRange(l losses.Labels, bound float64) (low, high float64) {
	switch l {
	case losses.Real:
		return -bound, bound
	case losses.Count, losses.Amount:
		return 0, bound
	}
	return 0, 1
}

// MeanSensitivity bounds how far the computed mean of r numbers in [low, high]
// moves when one of them changes: either sum is off by at most (r−1)·u·r·M, M the
// largest magnitude, and either quotient by u·M.
func MeanSensitivity(low, high float64, r int) float64 {
	m := math.Max(math.Abs(low), math.Abs(high))
	return float64((high-low)/float64(r)*(1+1e-15)) + float64(2.1*float64(r+1)*unit*m)
}
