package curator

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/solve"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// everywhere is a score beyond all that are ever computed.
const everywhere = 1e300

// Objective is Σ ℓᵢ(θ) + (λ/2)‖θ‖² for objective perturbation, each row's gradient
// held to norm clip by continuing its loss linearly. θ is counted from a public or released centre, nil for 0.
//
// There is no ball: the loss's smoothness H and, without a clip, its Lipschitz
// constant must hold at every score, or else it is refused. Rounding may lengthen
// a row or a clipped gradient by a relative slack, which both bounds include.
//
// Of a person with several rows it takes one: the law of the minimiser is known where a
// replaced person changes one row's term, whose gradients all lie on one line.
func (s *Sums) Objective(centre []float64, clip, lambda float64) (release.Minimand, error) {
	s = &Sums{s.s.Single(), s.data}
	room := 1 + s.s.Bounds().Slack()
	x := s.s.Bounds().FeatureBound() * room
	k := s.s.Bounds().Loss.Constants(everywhere, s.data.labelBound)
	o := &objective{s, math.Min(clip, x*k.Lipschitz), lambda, centre}
	// Two rows' gradients are twice slope apart.
	slope, curvature := s.s.Vectors()/2*o.clip*room, k.Smoothness*x*x
	if !(slope > 0 && slope <= check.MaxScale && curvature > 0 && curvature <= check.MaxScale && lambda > 0) {
		return release.Minimand{}, check.Fail(check.ErrConfig, "loss", s.s.Bounds().Loss.Name(), "must have a known smoothness above zero, and a Lipschitz constant or a clip")
	}
	return release.NewMinimand(s.data.rows, s.Dim(), slope, curvature, lambda, o.minimise).Around(centre), nil
}

// objective is what Objective hands to package release.
type objective struct {
	sums         *Sums
	clip, lambda float64
	centre       []float64 // of the regulariser, from which θ is counted; nil is 0
}

// at is the point of the weights' space that θ stands for.
func (o *objective) at(theta []float64) []float64 {
	if o.centre == nil {
		return theta
	}
	return floats.AddTo(make([]float64, len(theta)), o.centre, theta)
}

// minimise returns a point within a tolerance of the minimiser of the objective
// plus ⟨b, θ⟩ over the ball of the radius that it returns: a billionth of what one row's gradient can do, or the rounding floor.
//
// A b that is longer than the gradient of the rest can be in the ball has its minimiser on the sphere, and shortened to twice that length,
// too: so it is, and rounding has a bound.
func (o *objective) minimise(ctx context.Context, b []float64, normBound float64) (theta []float64, tolerance, radius float64, err error) {
	sums := o.sums.s
	n, x := float64(sums.Len()), sums.Bounds().FeatureBound()
	centre := vector.Norm(o.centre)
	radius = 2 * WeightBound(sums.Bounds().Loss, o.sums.data.labelBound, o.sums.data.offsetsRange.Largest()+float64(centre*x), sums.Len(), x, o.clip, o.lambda, normBound)
	largest := 2 * (float64(n*o.clip) + float64(o.lambda*radius))
	if norm := vector.Norm(b); norm > largest {
		b = slices.Clone(b)
		floats.Scale(largest/norm, b)
	}
	p := &solve.Problem{
		Dim: sums.Dim(), Radius: radius, Convexity: o.lambda,
		Smoothness: float64(n*sums.Bounds().Constants(radius+centre).Smoothness*x*x) + o.lambda,
		Error:      sums.Bounds().GradientError(radius+centre, o.clip) + float64(16*unit*(float64(o.lambda*radius)+largest)),
	}
	p.Gradient = func(g, w []float64) error {
		if err := sums.Gradient(ctx, g, o.at(w), o.clip); err != nil {
			return err
		}
		vector.AddScaled(g, o.lambda, w)
		floats.Add(g, b)
		return nil
	}
	if sums.Bounds().Curved() {
		newton := o.newton(ctx)
		p.Newton = func(w []float64) (func(g []float64) ([]float64, error), error) { return newton(o.at(w)) }
	}
	tolerance = math.Max(1e-9*o.clip/o.lambda, p.Floor())
	theta, err = p.Minimize(ctx, tolerance)
	return theta, tolerance, radius, err
}

// WeightBound bounds the norm of the minimiser of n rows' objective with a linear
// term of norm at most normBound, with some room: there
// (λ/2)‖θ‖² ≤ n·φ(0) + (‖b‖ + n·D)‖θ‖, where each row's loss is at least −D‖θ‖:
// losses that are continued linearly may fall below zero. With offsets of at most O in
// magnitude a row's loss is at most φ(0) + O·S at 0, S the largest slope in between, and at
// least −D(‖θ‖ + O).
func WeightBound(loss losses.Loss, labelBound, offsetBound float64, n int, featureBound, clip, lambda, normBound float64) float64 {
	rows, k, d := float64(n), loss.Constants(offsetBound, labelBound), descent(loss, labelBound)
	s := normBound + float64(rows*math.Min(featureBound*d, clip))
	atZero := k.AtZero + float64(offsetBound*(k.Slope+d))
	return 1.1 * (s + math.Sqrt(float64(s*s)+float64(2*lambda*rows*atZero))) / lambda
}

// descent returns a D with φ_y(z) ≥ −D·|z| for all scores and for labels within the
// bound y: 0, unless l is Extended.
//
// Proof. A continued loss falls at most as fast as the inner one does at the limit,
// outwards. Where φ'(−limit) = D > 0, φ ≥ 0 rises at least as fast from there on, so
// that φ(0) ≥ D·limit and φ'(0) ≥ D; likewise on the other side.
func descent(l losses.Loss, y float64) float64 {
	e, ok := l.(losses.Extended)
	if !ok {
		return 0
	}
	c := e.Inner.Constants(0, y)
	d := math.Min(c.AtZero/e.Limit, c.Slope)
	if _, ok := e.Inner.(losses.Poisson); ok { // φ' falls in y
		d = math.Min(d, math.Max(math.Exp(-e.Limit), y-math.Exp(e.Limit)))
	}
	return d * (1 + 1e-15)
}

// ClippedMinimiser returns a point within τ of the minimiser of the mean of the losses, each
// continued linearly where its gradient would be longer than the clip, plus (λ/2)‖θ‖², θ being
// counted from a public or released centre. The loss's smoothness must hold at every score.
//
// Its sensitivity is 2·clip/(λn) + 2τ: the two strong-convexity inequalities at both
// minimisers add up, and two rows' gradients are at most 2·clip apart. At the minimiser
// λ‖θ‖ is the length of a mean of gradients, so that ‖θ‖ ≤ clip/λ for any data.
func (s *Sums) ClippedMinimiser(ctx context.Context, centre []float64, clip, lambda float64) (Point, error) {
	n, room := float64(s.Len()), 1+s.s.Bounds().Slack()
	o := &objective{s, clip, lambda * n, centre}
	theta, tolerance, _, err := o.minimise(ctx, make([]float64, s.Dim()), 0)
	norm := float64(clip*room/lambda) + tolerance
	moves := float64(s.s.Vectors() * float64(clip*room) / (lambda * n) * (1 + 1e-12))
	return Point{theta, moves + float64(2*tolerance), norm, originOf(s.data)}, err
}
