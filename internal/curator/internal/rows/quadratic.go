package rows

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/kernel"
)

// Quadratic answers with the gradient sum of the squared loss without clip, in
// O(Dim²) for each w, from second moments and the gradient sum at zero.
type Quadratic struct {
	s       *Sums
	stride  int
	moments []float64 // both triangles, rows stride apart
	atZero  []float64
}

// Quadratic forms the moments, in two passes. The loss must be losses.Squared.
func (s *Sums) Quadratic(ctx context.Context) (*Quadratic, error) {
	dim := s.Dim()
	q := &Quadratic{s: s, atZero: make([]float64, dim)}
	if err := s.Gradient(ctx, q.atZero, make([]float64, dim), math.Inf(1)); err != nil {
		return nil, err
	}
	m, err := s.t.Moments(ctx, nil)
	if err != nil {
		return nil, err
	}
	upper := m.RawSymmetric()
	q.stride, q.moments = upper.Stride, upper.Data
	for j := range dim {
		for k := range j {
			q.moments[j*q.stride+k] = q.moments[k*q.stride+j]
		}
	}
	return q, nil
}

// Gradient sets dst to the gradient sum at w, moments·w + atZero.
func (q *Quadratic) Gradient(dst, w []float64) {
	kernel.Dots(dst, q.moments, q.stride, w)
	for j, v := range q.atZero {
		dst[j] += v
	}
}

// Sensitivity bounds the L2 distance between Gradient's answers at a w of norm r
// on neighbouring tables, as computed. In exact arithmetic the answer is the
// gradient sum. To what GradientSensitivity counts for the sum at zero, rounding
// adds that of the moments, times r, and that of the product and its sum with the
// one at zero: (Dim+2)·u·n·X·(X·r + S₀) in each answer, S₀ the largest slope at
// zero.
func (q *Quadratic) Sensitivity(r float64) float64 {
	n, dim, x := float64(q.s.Rows()), float64(q.s.Dim()), q.s.FeatureBound()
	product := (dim + 2) * n * x * (float64(x*r) + q.s.loss.Constants(0, q.s.labelBound).Slope)
	return q.s.GradientSensitivity(r, math.Inf(1)) + float64(r*q.s.t.momentsRounding()) + float64(2.2*unit*product)
}
