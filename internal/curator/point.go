package curator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator/internal/questions"
	"github.com/dpglm/dpglm/internal/curator/internal/solve"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// origin is what a model keeps of the data set that it was trained on: whom its
// answers belong to, and how queries are encoded and bounded. It holds no row.
type origin struct {
	rows     *release.Rows
	encoding Encoding
}

func originOf(d *Data) origin { return origin{d.rows, d.table.Enc} }

// Point is a weight vector that was computed from rows without noise. It can't be
// read: its weights, and its score at a query, are answers.
type Point struct {
	w      []float64
	moves  float64 // L2 sensitivity of w
	norm   float64 // bound on ‖w‖
	origin origin
}

// Weights are the point's, with the distance by which a replaced row moves them.
func (p Point) Weights() release.Answer { return release.NewAnswer(p.origin.rows, p.w, p.moves) }

// Minimiser returns a point within τ of the minimiser of the mean loss plus
// (λ/2)‖w‖² over the ball, whatever the rows. Its sensitivity is Δ + 2τ, or the
// ball's diameter where that is less.
//
// Δ = sup_{r≤B} D(r)/(λn): add the two strong-convexity inequalities at both
// minimisers; each is optimal over the ball, so the gradients of the two objectives
// at one of them differ by at least λ times the distance [AB+22, Theorem 5's proof;
// with D in place of 2G]. τ is public, a millionth of Δ or the gradient's rounding
// floor, whichever is larger.
func (s *Sums) Minimiser(ctx context.Context, radius, lambda float64) (Point, error) {
	problem := regularised(ctx, s.s, radius, lambda)
	delta := s.s.Bounds().Diameter(radius) / (lambda * float64(s.Len()))
	tolerance := math.Max(1e-6*delta, problem.Floor())
	w, err := problem.Minimize(ctx, tolerance)
	norm := float64(radius * (1 + float64(float64(s.Dim()+16)*0x1p-52))) // of what Project returns
	return Point{w, math.Min(delta+float64(2*tolerance), 2*norm), norm, originOf(s.data)}, err
}

// regularised is the problem of minimising the mean loss plus (λ/2)‖w‖².
func regularised(ctx context.Context, sums *questions.Sums, radius, lambda float64) *solve.Problem {
	n, x := float64(sums.Len()), sums.Bounds().FeatureBound()
	p := &solve.Problem{Dim: sums.Dim(), Radius: radius, Convexity: lambda, Smoothness: float64(sums.Bounds().Constants(3*radius).Smoothness*x*x) + lambda}
	// The mean, the regulariser and the certificate's own arithmetic round too.
	p.Error = sums.Bounds().GradientError(radius, math.Inf(1))/n + float64(16*unit*(float64(p.Smoothness*radius)+float64(sums.Bounds().Constants(radius).Slope*x)))
	p.Gradient = func(g, w []float64) error {
		if err := sums.Gradient(ctx, g, w, math.Inf(1)); err != nil {
			return err
		}
		floats.Scale(1/n, g)
		vector.AddScaled(g, lambda, w)
		return nil
	}
	p.Value, p.Hessian = proposals(ctx, sums, lambda)
	return p
}
