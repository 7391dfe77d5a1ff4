package estimate

import (
	"math"

	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Fit is the weights of encoded rows that a descent leads to.
func Fit(p Problem, t Task) ([]float64, error) {
	x, err := Begin(p, t)
	if err != nil {
		return nil, err
	}
	labels, err := x.Start()
	if err != nil {
		return nil, err
	}
	if x.Pool.Spent() {
		return x.Constant(labels), nil
	}
	if x.D > MostFeatures {
		return x.ByColumns(labels)
	}
	if p.Loss.Labels() == losses.Binary { // there is less to learn of a rare class
		x.Clear = max(x.Clear, min(x.Clear*math.Sqrt(0.5/labels.Minority), tuning.ClearRare*float64(x.D), tuning.ClearRareMost))
	}
	frame, few, err := x.Standardise()
	if err != nil {
		return nil, err
	}
	if few {
		return x.ByColumns(labels)
	}
	if frame.shortens() {
		if _, err := frame.Shorten(x.LevelNormBound(tuning.LevelRoom)); err != nil {
			return nil, err
		}
	}
	return (&Descent{x, labels, frame}).descend()
}

// Constant is the constant model's weights.
func (x *Run) Constant(l Labels) []float64 {
	return x.Problem.Facts.weights(make([]float64, x.D), l.Bias)
}
