package curator

import (
	"context"

	"github.com/dpglm/dpglm/internal/curator/internal/solve"
	"github.com/dpglm/dpglm/internal/vector"
)

// newton solves with second moments of a sample of the rows in moderate
// dimensions, with products in high ones.
func (o *objective) newton(ctx context.Context) func(w []float64) (func(g []float64) ([]float64, error), error) {
	sums := o.sums.s
	stride := max(1, min(16, sums.Rows()/(40*sums.Dim())))
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
