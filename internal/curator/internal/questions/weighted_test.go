package questions

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// momentsOf are the moments with the given weights of rows; nil weights are ones.
func momentsOf(ctx context.Context, t *rows.Table, weights []float64) (*mat.SymDense, error) {
	if weights == nil {
		return sumMoments(ctx, (&Sums{t: t}), &moments{})
	}
	return sumMoments(ctx, (&Sums{t: t}), &weightedMoments{of: weights})
}

// weightedMoments asks for moments with weights of this process.
type weightedMoments struct {
	moments
	of []float64
}

func (q *weightedMoments) adder(s *Sums) rows.Adder {
	return rows.MomentsAdder(s.t, func(dst []float64, _ rows.Tile, lo int) { copy(dst, q.of[lo:]) })
}
