package curator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/curator/internal/solve"
	"github.com/dpglm/dpglm/internal/vector"
)

// newtonDim is the largest dimension in which the solvers use second moments.
const newtonDim = 500

// newton solves with second moments of a sample of the rows in moderate
// dimensions, with products in high ones.
func (o *objective) newton(ctx context.Context) func(w []float64) (func(g []float64) ([]float64, error), error) {
	sums := o.sums.s
	stride := max(1, min(16, sums.Len()/(40*sums.Dim())))
	sample := sums.Every(stride)
	return func(w []float64) (func(g []float64) ([]float64, error), error) {
		if sums.Dim() <= 2*newtonDim {
			h, err := sample.Hessian(ctx, w, o.clip)
			if err != nil {
				return nil, err
			}
			h.ScaleSym(float64(stride), h)
			addToDiagonal(h, o.lambda)
			if f, ok := solve.Factored(h); ok {
				return f, nil
			}
		}
		weights, err := sums.Curvatures(ctx, w, o.clip)
		if err != nil {
			return nil, err
		}
		return solve.Conjugate(func(dst, v []float64) error {
			if err := sums.Weighted(ctx, dst, v, weights); err != nil {
				return err
			}
			vector.AddScaled(dst, o.lambda, v)
			return nil
		}), nil
	}
}

// proposals are the objective of regularised and, where Newton's method serves, its
// Hessian.
func proposals(ctx context.Context, sums *questions.Sums, lambda float64) (value func(w []float64) (float64, error), hessian func(w []float64) (*mat.SymDense, error)) {
	n := float64(sums.Len())
	value = func(w []float64) (float64, error) {
		v := make([]float64, 1)
		err := sums.Losses(ctx, v, [][]float64{w}, []float64{math.Inf(1)})
		return v[0]/n + float64(lambda/2*floats.Dot(w, w)), err
	}
	if !sums.Bounds().Curved() || sums.Dim() > newtonDim {
		return value, nil
	}
	return value, func(w []float64) (*mat.SymDense, error) {
		h, err := sums.Hessian(ctx, w, math.Inf(1))
		if err != nil {
			return nil, err
		}
		h.ScaleSym(1/n, h)
		addToDiagonal(h, lambda)
		return h, nil
	}
}

func addToDiagonal(h *mat.SymDense, v float64) {
	for j := range h.SymmetricDim() {
		h.SetSym(j, j, h.At(j, j)+v)
	}
}

// momentsPay reports whether second moments, which take the time of some d/4 passes,
// save time, at no more than 130 MiB a goroutine.
func (s *Sums) momentsPay(questions int) bool {
	if s.data.Parties() {
		return false
	}
	n, d, t := float64(s.Len()), float64(s.Dim()), float64(questions)
	return d <= 4096 && float64(d*(float64(n/4)+t)) < n*t
}
