package rows

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Moments are the moments with the given weights of rows; nil weights are ones.
func (t *Table) Moments(ctx context.Context, weights []float64) (*mat.SymDense, error) {
	if weights == nil {
		return (&Sums{t: t}).moments(ctx, ones)
	}
	return (&Sums{t: t}).moments(ctx, func(*Sums) weigh {
		return func(dst []float64, _ tile, lo int) { copy(dst, weights[lo:]) }
	})
}
