package solve

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// accelerated is Nesterov's method for strongly convex functions, projected.
func (s *solver) accelerated(ctx context.Context) error {
	if math.IsInf(s.Smoothness, 1) {
		return check.Fail(check.ErrConfig, "smoothness of the objective", s.Smoothness, "must be finite; lower the radius or the label bound")
	}
	q := math.Sqrt(s.Convexity / s.Smoothness)
	momentum := (1 - q) / (1 + q)
	last, y := make([]float64, s.Dim), make([]float64, s.Dim)
	copy(last, s.w)
	copy(y, s.w)
	most := math.Inf(1)
	for k := 0; ; k++ {
		if err := check.Cancelled(ctx); err != nil {
			return err
		}
		if k%8 == 0 {
			if done, err := s.certified(); done || err != nil {
				return err
			}
			if k == 0 {
				most = s.steps(vector.Norm(s.g))
			}
			if !(float64(k) < most) {
				return errFalse
			}
		}
		if err := s.gradient(s.g, y); err != nil {
			return err
		}
		copy(last, s.w)
		floats.AddScaledTo(s.w, y, -1/s.Smoothness, s.g)
		vector.Project(s.w, s.Radius)
		for j := range y {
			y[j] = s.w[j] + float64(momentum*(s.w[j]-last[j]))
		}
	}
}

// steps is a number of steps, twice as large as it need be, after which accelerated
// has reached the tolerance if Convexity λ and Smoothness L are true. The
// answer being certified, privacy doesn't rest on it.
//
// Let G be the norm of the gradient at the start w₀, which lies in the ball, and w*
// the minimiser there. Strong convexity says
//
//	⟨∇F(w₀), w₀−w*⟩ ≥ F(w₀)−F(w*) + (λ/2)‖w₀−w*‖² ≥ λ‖w₀−w*‖²,
//
// hence ‖w₀−w*‖ ≤ G/λ, and the sum in the middle is at most G²/λ. After k steps
// F(w_k)−F(w*) ≥ (λ/2)‖w_k−w*‖² is at most (1−q)^k times that sum, q = √(λ/L)
// (Nesterov, Introductory Lectures on Convex Optimization, theorem 2.2.3, and 2.2.4 for
// the ball). A gradient step brings w_k no farther from w*, so that it is no longer
// than 2‖w_k−w*‖ and the subgradient behind the certificate no longer than
// 4L‖w_k−w*‖, but for rounding, for which Floor leaves half of the tolerance τ:
//
//	4L·√2·(G/λ)·(1−q)^(k/2) ≤ λτ/2  if  k ≥ (2/q)·ln(8√2·L·G/(λ²τ)).
func (s *solver) steps(gradient float64) float64 {
	q := math.Sqrt(s.Convexity / s.Smoothness)
	fall := math.Log(8*math.Sqrt2) + math.Log(s.Smoothness/s.Convexity) + math.Log((gradient+s.Error)/s.Convexity) - math.Log(s.tolerance)
	return float64(2*(2/q)*math.Max(fall, 0)) + 100
}
