package solve

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// free minimises over the whole space by a Newton method that keeps a factor of
// the Hessian, or an estimate of it, for as long as it serves. It stays in the ball,
// in which alone Error holds, and reports false where it got stuck.
func (s *solver) free(ctx context.Context) (bool, error) {
	if err := s.gradient(s.g, s.w); err != nil {
		return false, err
	}
	var direction func(g []float64) ([]float64, error)
	for range 300 {
		if done, err := s.interior(); done || err != nil {
			return done, err
		}
		if err := check.Cancelled(ctx); err != nil {
			return false, err
		}
		fresh := direction == nil
		if fresh {
			var err error
			if direction, err = s.Newton(s.w); err != nil {
				return false, err
			}
		}
		d, err := direction(s.g)
		if err != nil {
			return false, err
		}
		norm := vector.Norm(s.g)
		moved, err := s.descend(d)
		if err != nil || !moved && fresh {
			return false, err
		}
		if !moved || vector.Norm(s.g) > 0.3*norm { // the Hessian has changed
			direction = nil
		}
	}
	return false, nil
}

// descend moves from w along −d to a point of the ball where F still falls along the way, or
// rises at most half as fast as it fell at w: the curvature condition of line
// searches, for which gradients are enough.
func (s *solver) descend(d []float64) (moved bool, err error) {
	start := floats.Dot(s.g, d)
	if !(start > 0) {
		return false, nil
	}
	t := 1.0
	for range 30 {
		floats.AddScaledTo(s.plus, s.w, -t, d)
		if vector.Norm(s.plus) > s.Radius {
			t /= 2
			continue
		}
		if err := s.gradient(s.gPlus, s.plus); err != nil {
			return false, err
		}
		past := -floats.Dot(s.gPlus, d) // the slope at t, −start at 0
		if past <= start/2 {
			s.w, s.plus = s.plus, s.w
			s.g, s.gPlus = s.gPlus, s.g
			return true, nil
		}
		t *= min(0.9, max(0.1, start/(start+past))) // where a line between the slopes crosses zero
	}
	return false, nil
}

// Factored returns the function g ↦ H⁻¹g for a positive definite H.
func Factored(h *mat.SymDense) (func(g []float64) ([]float64, error), bool) {
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		return nil, false
	}
	n := h.SymmetricDim()
	return func(g []float64) ([]float64, error) {
		d := mat.NewVecDense(n, nil)
		err := chol.SolveVecTo(d, mat.NewVecDense(n, g))
		if _, inaccurate := err.(mat.Condition); inaccurate {
			err = nil // the step is judged by what it does
		}
		return d.RawVector().Data, err
	}, true
}

// Conjugate returns the function that solves Hd = g by conjugate gradients, to a
// tenth of the residual or in 250 products, for a positive definite H.
func Conjugate(product func(dst, v []float64) error) func(g []float64) ([]float64, error) {
	return func(g []float64) ([]float64, error) {
		n := len(g)
		d, r, p, hp := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		copy(r, g)
		copy(p, g)
		rr := floats.Dot(r, r)
		stop := 0.01 * rr
		for range 250 {
			if rr <= stop {
				break
			}
			if err := product(hp, p); err != nil {
				return nil, err
			}
			alpha := rr / floats.Dot(p, hp)
			vector.AddScaled(d, alpha, p)
			vector.AddScaled(r, -alpha, hp)
			next := floats.Dot(r, r)
			floats.Scale(next/rr, p)
			floats.Add(p, r)
			rr = next
		}
		return d, nil
	}
}
