package solve

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// Problem is a Convexity-strongly convex function F, to be minimised over the ball
// ‖w‖ ≤ Radius. The functions must be defined up to 3·Radius, where extrapolation
// may lead, must not keep their arguments, and return only errors that are
// independent of the data, such as a cancelled context's.
type Problem struct {
	Dim        int
	Radius     float64
	Convexity  float64 // λ > 0
	Smoothness float64 // Lipschitz constant of ∇F, up to 3·Radius
	// Error bounds ‖computed − exact gradient‖₂ anywhere in the ball, with some
	// roundings of Smoothness·‖w‖ and of the gradient for the certificate.
	Error    float64
	Gradient func(g, w []float64) error
	Value    func(w []float64) (float64, error)
	// Hessian is ∇²F, or an element of its generalisation where φ'' jumps; nil
	// makes the solver first-order.
	Hessian func(w []float64) (*mat.SymDense, error)
	// Newton, where the minimiser over the whole space is known to lie in the ball,
	// returns the function that solves Hd = g for the Hessian at w or an estimate of
	// it; nil makes the solver first-order.
	Newton func(w []float64) (func(g []float64) ([]float64, error), error)
}

// Floor is the least tolerance that Minimize can be asked for: the certificate
// adds the errors of two gradients, and what is computed is no larger than they.
func (p *Problem) Floor() float64 { return 4 * p.Error / p.Convexity }

// Minimize returns a point of the ball within tolerance of the minimiser, in
// Euclidean distance. tolerance must be at least Floor.
//
// Newton's method comes first where there is a Hessian. Behind it stands
// accelerated projected gradient descent, whose rate 1 − √(λ/L) holds for any
// data, so that the tolerance is always reached. Where it isn't, or a gradient isn't
// finite, Convexity or Smoothness can't be true, and that is the error.
func (p *Problem) Minimize(ctx context.Context, tolerance float64) ([]float64, error) {
	s := &solver{Problem: p, tolerance: tolerance, w: make([]float64, p.Dim), g: make([]float64, p.Dim),
		plus: make([]float64, p.Dim), gPlus: make([]float64, p.Dim)}
	if !(s.Convexity > 0 && s.Smoothness >= s.Convexity) {
		return nil, errFalse
	}
	if err := s.minimize(ctx); err != nil {
		return nil, err
	}
	if s.accepted == nil {
		return nil, errFalse
	}
	return s.accepted, nil
}

// minimize tries the methods, none of which is trusted: what counts is what
// certified and interior accept.
func (s *solver) minimize(ctx context.Context) error {
	second := s.newton
	switch {
	case s.Newton != nil:
		second = s.free
	case s.Hessian == nil:
		return s.accelerated(ctx)
	}
	if done, err := second(ctx); done || err != nil {
		return err
	}
	vector.Project(s.w, s.Radius)
	return s.accelerated(ctx)
}

// errFalse reports that the loss's statements contradict each other or its values.
var errFalse = check.Fail(check.ErrConfig, "the loss's constants", nil, "can't be true: its minimum is not where they say; check them with losses.CheckConstants")

type solver struct {
	*Problem
	tolerance   float64
	w, g        []float64 // current point, its gradient
	plus, gPlus []float64 // projected gradient step from w, its gradient
	accepted    []float64 // the answer: a point within tolerance of the minimiser
}

// gradient is Gradient, whose values must be finite.
func (s *solver) gradient(g, w []float64) error {
	if err := s.Gradient(g, w); err != nil {
		return err
	}
	for _, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return check.Fail(check.ErrConfig, "the loss's derivative", nil, "must be finite")
		}
	}
	return nil
}

// certified sets plus to the projected gradient step from w, and accepts it if it is
// within tolerance of the minimiser.
func (s *solver) certified() (bool, error) {
	d, err := s.distance()
	if err != nil || !(d <= s.tolerance) {
		return false, err
	}
	s.accepted = slices.Clone(s.plus)
	return true, nil
}

// interior accepts w if it lies in the ball and its gradient is so small that it is
// within tolerance of the minimiser over the whole space, as strong convexity has it. What
// a method says of the gradient, g, only saves computing it in vain.
func (s *solver) interior() (bool, error) {
	if !s.small() || vector.Norm(s.w) > s.Radius {
		return false, nil
	}
	if err := s.gradient(s.g, s.w); err != nil || !s.small() {
		return false, err
	}
	s.accepted = slices.Clone(s.w)
	return true, nil
}

func (s *solver) small() bool {
	return (vector.Norm(s.g)+s.Error)/s.Convexity <= s.tolerance
}

// distance bounds ‖plus − w*‖ after setting plus. The vector ∇F(plus) − ∇F(w) + L(w − plus) is a
// subgradient of F plus the ball's indicator at plus, so strong convexity gives
// ‖plus − w*‖ ≤ ‖subgradient‖/λ. The errors of two computed gradients are added.
func (s *solver) distance() (float64, error) {
	if err := s.gradient(s.g, s.w); err != nil {
		return 0, err
	}
	copy(s.plus, s.w)
	vector.AddScaled(s.plus, -1/s.Smoothness, s.g)
	vector.Project(s.plus, s.Radius)
	if err := s.gradient(s.gPlus, s.plus); err != nil {
		return 0, err
	}
	var sum float64
	for j := range s.w {
		r := s.gPlus[j] - s.g[j] + float64(s.Smoothness*(s.w[j]-s.plus[j]))
		sum += float64(r * r)
	}
	return (math.Sqrt(sum) + 2*s.Error) / s.Convexity, nil
}
