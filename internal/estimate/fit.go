package estimate

import (
	"github.com/dpglm/dpglm/internal/curator"
)

// Fit is the weights of encoded rows that a descent leads to.
func Fit(p Problem, t Task) ([]float64, error) {
	w, err := fit(p, t, nil)
	if err != nil {
		return nil, err
	}
	return w[0], nil
}

// FitClasses is those of each class.
func FitClasses(p Problem, t Task, classes *curator.Classes) ([][]float64, error) {
	return fit(p, t, classes)
}

func fit(p Problem, t Task, classes *curator.Classes) ([][]float64, error) {
	x, err := Begin(p, t)
	if err != nil {
		return nil, err
	}
	labels, err := x.StartOf(classes)
	if err != nil {
		return nil, err
	}
	if x.Pool.Spent() {
		return x.Constant(labels), nil
	}
	frame, err := x.Standardise()
	if err != nil {
		return nil, err
	}
	if frame.shortens() {
		if _, err := frame.Shorten(frame.LevelNormBound()); err != nil {
			return nil, err
		}
	}
	d := &Descent{Run: x, Labels: labels, Frame: frame}
	if classes != nil {
		if d.of, err = classes.Frame(t.Ctx, frame.At); err != nil {
			return nil, err
		}
	}
	return d.descend()
}

// StartOf releases what labels tell of a constant model: of how many rows each class has where there are several, or else Start's.
func (x *Run) StartOf(classes *curator.Classes) (Labels, error) {
	if classes != nil {
		return x.startOfClasses(classes)
	}
	return x.Start()
}

// Constant is the constant model's weights.
func (x *Run) Constant(l Labels) [][]float64 {
	list := make([][]float64, len(l.Biases))
	for c, b := range l.Biases {
		list[c] = x.Problem.Facts.weights(make([]float64, x.D), b)
	}
	return list
}
