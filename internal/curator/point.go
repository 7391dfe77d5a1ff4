package curator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator/internal/rows"
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

func (d *Data) origin() origin { return origin{d.rows, *d.table.Encoding()} }

// answer is what f makes of a query x, encoded and bounded as rows are.
func (o *origin) answer(x []float64, l2 float64, f func(u []float64) float64) (release.Answer, error) {
	u, err := o.encoding.Encode(x)
	if err != nil {
		return release.Answer{}, err
	}
	return release.NewAnswer(o.rows, []float64{f(u)}, l2), nil
}

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

// Score is ⟨w, u⟩, u the query x, encoded and bounded as rows are.
func (p Point) Score(x []float64) (release.Answer, error) {
	return p.origin.answer(x, p.ScoreSensitivity(), func(u []float64) float64 { return floats.Dot(u, p.w) })
}

// ScoreSensitivity bounds how far the computed score ⟨w, u⟩ moves when w, of norm
// at most r, moves by at most Δ: ‖u‖·Δ, ‖u‖ exceeding the feature bound by
// rounding, and the error γ_d·‖u‖·r of either product. It is public.
func (p Point) ScoreSensitivity() float64 {
	d := float64(len(p.w))
	x := p.origin.encoding.FeatureBound() * (1 + float64((d+16)*0x1p-52))
	return x * (float64(p.moves*(1+1e-15)) + float64(2.1*(d+2)*unit*p.norm))
}

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
	delta := s.s.Diameter(radius) / (lambda * float64(s.Len()))
	tolerance := math.Max(1e-6*delta, problem.Floor())
	w, err := problem.Minimize(ctx, tolerance)
	norm := float64(radius * (1 + float64(float64(s.Dim()+16)*0x1p-52))) // of what Project returns
	return Point{w, math.Min(delta+float64(2*tolerance), 2*norm), norm, s.data.origin()}, err
}

// Descend returns the last of the given number of steps of projected gradient
// descent on the mean loss, from 0, of the given size or 2/H̃ if that is less.
//
// On the ball the mean loss is convex and H̃-smooth, so that a step
// w ↦ Π_B(w − η∇L̂(w)) with η ≤ 2/H̃ brings no two points further apart. At one
// point the gradients of neighbours differ by at most D/n, D their diameter. So
// each step adds η(D + 2E)/n for the error E of a computed sum, and twice the
// rounding of the update and the projection [DF18, Theorem 4.12].
func (s *Sums) Descend(ctx context.Context, radius float64, steps int, size float64, progress func(done, total int)) (Point, error) {
	n, d, t := float64(s.Len()), float64(s.Dim()), float64(steps)
	held := float64(radius * (1 + float64((d+16)*0x1p-52))) // of what Project returns
	eta := min(size, 2/s.s.GradientSmoothness(held)*(1-1e-15))
	w, g := make([]float64, s.Dim()), make([]float64, s.Dim())
	for k := range steps {
		if err := s.s.Gradient(ctx, g, w, math.Inf(1)); err != nil {
			return Point{}, err
		}
		vector.AddScaled(w, -eta/n, g)
		vector.Project(w, radius)
		progress(k+1, steps)
	}
	slope := s.s.FeatureBound() * s.s.Constants(held).Slope
	rounding := float64(2 * unit * (float64((d+16)*held) + float64(8*eta*slope)))
	apart := t * (eta*(float64(s.s.Diameter(held))+float64(2*float64(s.s.GradientError(held, math.Inf(1)))))/n + rounding) * (1 + float64(4e-16*(t+8)))
	return Point{w, math.Min(apart, 2*held), held, s.data.origin()}, nil
}

// regularised is the problem of minimising the mean loss plus (λ/2)‖w‖².
func regularised(ctx context.Context, sums *rows.Sums, radius, lambda float64) *solve.Problem {
	n, x := float64(sums.Len()), sums.FeatureBound()
	p := &solve.Problem{Dim: sums.Dim(), Radius: radius, Convexity: lambda, Smoothness: float64(sums.Constants(3*radius).Smoothness*x*x) + lambda}
	// The mean, the regulariser and the certificate's own arithmetic round too.
	p.Error = sums.GradientError(radius, math.Inf(1))/n + float64(16*unit*(float64(p.Smoothness*radius)+float64(sums.Constants(radius).Slope*x)))
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
