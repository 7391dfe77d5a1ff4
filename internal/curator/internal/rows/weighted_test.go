package rows

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Moments are the moments with the given weights of rows; nil weights are ones.
func (t *Table) Moments(ctx context.Context, weights []float64) (*mat.SymDense, error) {
	if weights == nil {
		return (&Sums{t: t}).sumMoments(ctx, &moments{})
	}
	return (&Sums{t: t}).sumMoments(ctx, &weightedMoments{of: weights})
}

// weightedMoments asks for moments with weights of this process.
type weightedMoments struct {
	moments
	of []float64
}

func (q *weightedMoments) adder(s *Sums) adder {
	return s.t.momentsAdder(func(dst []float64, _ tile, lo int) { copy(dst, q.of[lo:]) })
}
