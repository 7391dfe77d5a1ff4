package solve

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// newtonSteps is after how many steps Newton's method gives way.
const newtonSteps = 30

func (s *solver) newton(ctx context.Context) (bool, error) {
	for range newtonSteps {
		if done, err := s.certified(); done || err != nil {
			return done, err
		}
		if err := check.Cancelled(ctx); err != nil {
			return false, err
		}
		h, err := s.Hessian(s.w)
		if err != nil {
			return false, err
		}
		target := make([]float64, s.Dim) // minimises the quadratic model at w
		mat.NewVecDense(s.Dim, target).MulVec(h, mat.NewVecDense(s.Dim, s.w))
		floats.Sub(target, s.g)
		if !BallQuadratic(target, h, s.Radius) {
			return false, nil
		}
		if moved, err := s.search(target); !moved || err != nil {
			return false, err
		}
	}
	return false, nil
}

// search moves w towards target until F falls by a fair part of what the slope
// promises. Where rounding hides the fall, the full step is taken.
func (s *solver) search(target []float64) (bool, error) {
	start, err := s.Value(s.w)
	if err != nil {
		return false, err
	}
	floats.Sub(target, s.w)
	slope := floats.Dot(s.g, target)
	trial := make([]float64, s.Dim)
	for t := 1.0; t > 1e-6; t /= 2 {
		floats.AddScaledTo(trial, s.w, t, target)
		vector.Project(trial, s.Radius)
		v, err := s.Value(trial)
		if err != nil {
			return false, err
		}
		if v <= start+float64(1e-4*t*slope)+float64(1e-13*math.Abs(start)) {
			copy(s.w, trial)
			return true, nil
		}
	}
	return false, nil
}
