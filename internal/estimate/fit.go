package estimate

import (
	"github.com/dpglm/dpglm/internal/tuning"
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
	return (&Descent{x, labels, frame, false}).descend()
}

// Constant is the constant model's weights.
func (x *Run) Constant(l Labels) []float64 {
	return x.Problem.Facts.weights(make([]float64, x.D), l.Bias)
}
