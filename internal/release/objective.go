package release

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/mechanisms"
)

// Minimand is a convex function of a row sum, Σ ℓᵢ(θ) + (λ/2)‖θ‖², that can only be
// minimised with a random linear term. Package curator makes it, and answers for
// its numbers.
type Minimand struct {
	rows             *Rows
	dim              int
	slope, curvature float64
	lambda           float64
	minimise         Minimiser
	centre           []float64
}

// Minimiser returns a point and a bound on its distance from the minimiser, over the ball ‖θ‖ ≤ radius, of the
// function plus ⟨b, θ⟩, or where that lies on the sphere from some point of the sphere. Bound and radius are the
// same for any rows and any b, and for every b of norm at most normBound the minimiser over the whole space lies
// in half the ball.
type Minimiser func(ctx context.Context, b []float64, normBound float64) (theta []float64, distance, radius float64, err error)

// NewMinimand returns a function of dim variables. slope bounds the norm of each row's
// gradient, and curvature that of its Hessian, everywhere: L and HX² of
// [mechanisms.ObjectivePerturbation]. lambda is λ.
func NewMinimand(rows *Rows, dim int, slope, curvature, lambda float64, minimise Minimiser) Minimand {
	return Minimand{rows, dim, slope, curvature, lambda, minimise, nil}
}

// Around returns the same function of variables that are counted from a public or released centre, which
// is added to what is released; nil is 0.
func (m Minimand) Around(centre []float64) Minimand {
	m.centre = centre
	return m
}

// Slope and Curvature are the public bounds that NewMinimand was given.
func (m Minimand) Slope() float64 { return m.slope }

// Curvature is explained at Slope.
func (m Minimand) Curvature() float64 { return m.curvature }

// objective is a planned release of a minimiser.
type objective struct {
	law law
	dim int
}

// law is that of the linear term b and of the noise that is added to the minimiser.
type law interface {
	ledger(label string, dim int) (*mechanisms.Ledger, error)
	logDet() float64
	// share is what the linear term has of the budget: a ratio or an ε.
	share() float64
	// scale is the standard deviation of b's coordinates, or their scale where they are Laplace, and beyond normBound
	// b hardly is, for gradients of norm slope.
	scale(slope float64, dim int) (scale, normBound float64, err error)
	linear(b []float64, slope float64, src mechanisms.Source) error
	output(theta []float64, l2 float64, src mechanisms.Source) error
}

func (o objective) name() string { return "objective" }

func (o objective) entry(label string, _ int) (*mechanisms.Ledger, error) {
	return o.law.ledger(label, o.dim)
}

type gaussianLaw struct {
	of mechanisms.ObjectivePerturbation
}

func (l gaussianLaw) ledger(label string, dim int) (*mechanisms.Ledger, error) {
	return l.of.Ledger(label, dim)
}

func (l gaussianLaw) logDet() float64 { return l.of.LogDet }

func (l gaussianLaw) share() float64 { return l.of.Ratio }

func (l gaussianLaw) scale(slope float64, dim int) (scale, normBound float64, err error) {
	sigma, err := l.term().Sigma(slope, dim)
	return sigma, GaussianNormBound(sigma, dim), err
}

func (l gaussianLaw) term() mechanisms.Gaussian { return mechanisms.Gaussian{Mu: l.of.Ratio} }

func (l gaussianLaw) linear(b []float64, slope float64, src mechanisms.Source) error {
	return l.term().Release(b, b, slope, src)
}

func (l gaussianLaw) output(theta []float64, l2 float64, src mechanisms.Source) error {
	return mechanisms.Gaussian{Mu: l.of.OutputMu}.Release(theta, theta, l2, src)
}

type laplaceLaw struct {
	of mechanisms.PureObjectivePerturbation
}

func (l laplaceLaw) ledger(label string, _ int) (*mechanisms.Ledger, error) {
	return l.of.Ledger(label)
}

func (l laplaceLaw) logDet() float64 { return l.of.LogDet }

func (l laplaceLaw) share() float64 { return l.of.Epsilon }

func (l laplaceLaw) scale(slope float64, dim int) (scale, normBound float64, err error) {
	t, err := l.term().Scale(moved(2*slope, dim), dim)
	return t, LaplaceNormBound(t, dim), err
}

func (l laplaceLaw) term() mechanisms.Laplace { return mechanisms.Laplace{Epsilon: l.of.Epsilon} }

func (l laplaceLaw) linear(b []float64, slope float64, src mechanisms.Source) error {
	return l.term().Release(b, b, moved(2*slope, len(b)), src)
}

func (l laplaceLaw) output(theta []float64, l2 float64, src mechanisms.Source) error {
	return mechanisms.Laplace{Epsilon: l.of.OutputEpsilon}.Release(theta, theta, moved(l2, len(theta)), src)
}

// moved is an L1 sensitivity, at least the smallest that there is noise for.
func moved(l2 float64, dim int) float64 { return math.Max(L1(l2, dim), check.MinScale) }

// beyond is how far from its typical length a linear term hardly ever is, in standard deviations of a
// coordinate: no guarantee rests on it.
const beyond = 64

// GaussianNormBound is a norm that dim coordinates of Gaussian noise of a standard deviation hardly ever have.
func GaussianNormBound(sigma float64, dim int) float64 {
	return sigma * (math.Sqrt(float64(dim)) + beyond)
}

// LaplaceNormBound is a norm that dim coordinates of Laplace noise of a scale hardly ever have.
func LaplaceNormBound(scale float64, dim int) float64 {
	return scale * (math.Sqrt(2*float64(dim)) + beyond)
}

// Minimise draws the linear term, minimises and adds the output noise.
//
// # Privacy
//
// Replace-one. The law of the exact minimiser is that of
// [mechanisms.ObjectivePerturbation] with ratio Slope/σ and log-determinant
// log(1 + Curvature/λ), or of [mechanisms.PureObjectivePerturbation] with noise for the sensitivity 2·Slope; they are
// held against the planned ones. The computed θ lies within distance of the minimiser over the ball of the given radius, and b
// on a grid that moves the exact one by at most g√d/(2λ). What is shortened by f of those comments, and
// released, is twice as far at most from what it is of the exact minimiser: noise of the difference 4·distance + 2g√d/λ covers
// both, for every b.
func (a *Allowance) Minimise(ctx context.Context, m Minimand) ([]float64, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	o, ok := a.schedule.leaf.(objective)
	if !ok {
		return nil, a.refuse("isn't planned as objective perturbation")
	}
	if logDet := math.Log1p(m.curvature/m.lambda) * (1 + 1e-15); !(m.lambda > 0 && logDet <= o.law.logDet()) {
		return nil, a.refuse("needs a log-determinant of at most the planned one")
	}
	if err := a.admit(m.rows, m.dim, o.dim); err != nil {
		return nil, err
	}
	return a.release(o.name(), o.dim, m.slope, o.law.share(), func() ([]float64, error) { return a.minimiser(ctx, m, o.law) })
}

// minimiser draws what Minimise releases.
func (a *Allowance) minimiser(ctx context.Context, m Minimand, o law) ([]float64, error) {
	scale, normBound, err := o.scale(m.slope, m.dim)
	if err != nil {
		return nil, err
	}
	b := make([]float64, m.dim)
	if err := o.linear(b, m.slope, a.run.src); err != nil {
		return nil, err
	}
	a.record("linear term", b, Answer{rows: m.rows, l2: m.slope, centre: m.centre}, 0)
	theta, distance, radius, err := m.minimise(ctx, b, normBound)
	if err != nil {
		return nil, err
	}
	floats.Scale(within(vector.Norm(theta), radius), theta)
	// b's grid has at least 2^40 steps for each scale.
	grid := math.Sqrt(float64(m.dim)) * math.Ldexp(scale, -40) / m.lambda
	moves := float64(4*distance) + float64(2*grid)
	a.record("minimiser", theta, Answer{rows: m.rows, l2: moves}, 0)
	if err := o.output(theta, moves, a.run.src); err != nil {
		return nil, err // theta may be raw
	}
	if m.centre != nil {
		floats.Add(theta, m.centre)
	}
	return theta, nil
}

// within is what a point of a norm is multiplied by: 1 up to half the radius, and 0 from the radius on.
func within(norm, radius float64) float64 {
	return math.Max(0, math.Min(1, 2-2*norm/radius))
}
