package curator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
)

// answer is what f makes of a query x, encoded and bounded as rows are.
func (o *origin) answer(x []float64, l2 float64, f func(u []float64) float64) (release.Answer, error) {
	u, err := o.encoding.Encode(x)
	if err != nil {
		return release.Answer{}, err
	}
	return release.NewAnswer(o.rows, []float64{f(u)}, l2), nil
}

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
	eta := min(size, 2/s.s.Bounds().GradientSmoothness(held)*(1-1e-15))
	w, g := make([]float64, s.Dim()), make([]float64, s.Dim())
	for k := range steps {
		if err := s.s.Gradient(ctx, g, w, math.Inf(1)); err != nil {
			return Point{}, err
		}
		vector.AddScaled(w, -eta/n, g)
		vector.Project(w, radius)
		progress(k+1, steps)
	}
	slope := s.s.Bounds().FeatureBound() * s.s.Bounds().Constants(held).Slope
	rounding := float64(2 * unit * (float64((d+16)*held) + float64(8*eta*slope)))
	apart := t * (eta*(float64(s.s.Bounds().Diameter(held))+float64(2*float64(s.s.Bounds().GradientError(held, math.Inf(1)))))/n + rounding) * (1 + float64(4e-16*(t+8)))
	return Point{w, math.Min(apart, 2*held), held, originOf(s.data)}, nil
}
