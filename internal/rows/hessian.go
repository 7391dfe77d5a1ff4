package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// Curved reports whether the loss tells its second derivative.
func (s *Sums) Curved() bool {
	_, ok := losses.CurvatureOf(s.loss)
	return ok
}

// Curvatures returns the second derivative of each row's loss in its score, 0
// where the clip holds the gradient. With stride k > 1 only each k-th row counts,
// k times: an estimate for solvers. The loss must be Curved.
func (s *Sums) Curvatures(w []float64, clip float64, stride int) []float64 {
	curvature, _ := losses.CurvatureOf(s.loss)
	z := make([]float64, s.Rows())
	s.t.Scores(z, w)
	for i, score := range z {
		y := s.labels[i]
		if i%stride != 0 || math.Abs(s.loss.Deriv(score, y)) > clip/s.t.norm[i] {
			z[i] = 0
		} else {
			z[i] = float64(stride) * curvature(score, y)
		}
	}
	return z
}

// Hessian returns the sum of xᵢxᵢᵀ weighted by Curvatures.
func (s *Sums) Hessian(ctx context.Context, w []float64, clip float64, stride int) (*mat.SymDense, error) {
	return s.t.Moments(ctx, s.Curvatures(w, clip, stride))
}

// Weighted sets dst to Σᵢ weights_i⟨v, xᵢ⟩xᵢ, the product of v and weighted second
// moments, in one pass.
func (s *Sums) Weighted(ctx context.Context, dst, v, weights []float64) error {
	return s.combine(ctx, dst, v, func(z []float64, lo int) {
		for k := range z {
			z[k] *= weights[lo+k]
		}
	})
}

// Constants are the loss's at weights of norm r, rounding of scores included.
func (s *Sums) Constants(r float64) losses.Constants { return s.boundsAt(r, math.Inf(1)).Constants }

// FeatureBound bounds the norm of a row.
func (s *Sums) FeatureBound() float64 { return s.t.enc.FeatureBound() }

// GradientSmoothness is a Lipschitz constant of the exact mean gradient at weights
// of norm at most r.
func (s *Sums) GradientSmoothness(r float64) float64 {
	b := s.boundsAt(r, math.Inf(1))
	x := s.t.enc.FeatureBound() * (1 + b.slack)
	return x * x * b.Smoothness
}
