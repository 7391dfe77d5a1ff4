package rows

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// Curved reports whether the loss tells its second derivative.
func (s *Sums) Curved() bool {
	_, ok := losses.CurvatureOf(s.loss)
	return ok
}

// Hessian returns Σᵢ φ”(⟨w, xᵢ⟩)xᵢxᵢᵀ. The loss must be Curved.
func (s *Sums) Hessian(ctx context.Context, w []float64) (*mat.SymDense, error) {
	curvature, _ := losses.CurvatureOf(s.loss)
	weights := make([]float64, s.Rows())
	s.t.Scores(weights, w)
	for i, z := range weights {
		weights[i] = curvature(z, s.labels[i])
	}
	return s.t.Moments(ctx, weights)
}

// Constants are the loss's at weights of norm r, rounding of scores included.
func (s *Sums) Constants(r float64) losses.Constants { return s.boundsAt(r).Constants }

// FeatureBound bounds the norm of a row.
func (s *Sums) FeatureBound() float64 { return s.t.enc.FeatureBound() }

// GradientSmoothness is a Lipschitz constant of the exact mean gradient at weights
// of norm at most r.
func (s *Sums) GradientSmoothness(r float64) float64 {
	b := s.boundsAt(r)
	x := s.t.enc.FeatureBound() * (1 + b.slack)
	return x * x * b.Smoothness
}
