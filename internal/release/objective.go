package release

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

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
}

// Minimiser returns a point and a bound on its distance from the minimiser of the
// function plus ⟨b, θ⟩, the same for any rows, for any b of norm at most normBound.
type Minimiser func(ctx context.Context, b []float64, normBound float64) (theta []float64, distance float64, err error)

// NewMinimand returns a function of dim variables. slope bounds the norm of each row's
// gradient, and curvature that of its Hessian, everywhere: L and HX² of
// [mechanisms.ObjectivePerturbation]. lambda is λ.
func NewMinimand(rows *Rows, dim int, slope, curvature, lambda float64, minimise Minimiser) Minimand {
	return Minimand{rows, dim, slope, curvature, lambda, minimise}
}

// Slope and Curvature are the public bounds that NewMinimand was given.
func (m Minimand) Slope() float64 { return m.slope }

// Curvature is explained at Slope.
func (m Minimand) Curvature() float64 { return m.curvature }

// Minimise draws the linear term, minimises and adds the output noise.
//
// # Privacy
//
// Replace-one. The law of the exact minimiser is that of
// [mechanisms.ObjectivePerturbation] with ratio Slope/σ and log-determinant
// log(1 + Curvature/λ), which is held against the planned one. The computed θ lies
// within distance of the exact minimiser, and b on a grid that moves that one by at
// most g√d/(2λ): Gaussian noise that makes a difference of 2·distance + g√d/λ
// OutputMu-GDP covers both.
//
// b is held to the norm σ(√d + 64 + 2·Ratio), so that the solver's certificate can
// be reached for every b. The law of b is compared at two centres that are at most
// 2L = 2·Ratio·σ apart, so that b lies within the norm at both with probability
// above 1 − e^-2048, also after e^ε has multiplied what lies beyond: that is under any
// δ that a float64 can hold.
func (a *Allowance) Minimise(ctx context.Context, m Minimand) ([]float64, error) {
	a.run.lock.Lock()
	defer a.run.lock.Unlock()
	o, ok := a.schedule.leaf.(objective)
	if !ok {
		return nil, a.refuse("isn't planned as objective perturbation")
	}
	if logDet := math.Log1p(m.curvature/m.lambda) * (1 + 1e-15); !(m.lambda > 0 && logDet <= o.law.LogDet) {
		return nil, a.refuse("needs a log-determinant of at most the planned one")
	}
	if err := a.admit(m.rows, m.dim, o.dim); err != nil {
		return nil, err
	}
	return a.release(o.name(), o.dim, m.slope, o.law.Ratio, func() ([]float64, error) { return a.minimiser(ctx, m, o) })
}

// minimiser draws what Minimise releases.
func (a *Allowance) minimiser(ctx context.Context, m Minimand, o objective) ([]float64, error) {
	linear := mechanisms.Gaussian{Mu: o.law.Ratio}
	sigma, err := linear.Sigma(m.slope, m.dim)
	if err != nil {
		return nil, err
	}
	b := make([]float64, m.dim)
	if err := linear.Release(b, b, m.slope, a.run.src); err != nil {
		return nil, err
	}
	a.record("linear term", b, Answer{rows: m.rows, l2: m.slope}, 0)
	normBound := sigma * (math.Sqrt(float64(m.dim)) + 64 + 2*o.law.Ratio)
	if norm := floats.Norm(b, 2); norm > normBound {
		floats.Scale(normBound/norm, b)
	}
	theta, distance, err := m.minimise(ctx, b, normBound)
	if err != nil {
		return nil, err
	}
	// b's grid has at least 2^40 steps for each σ.
	grid := math.Sqrt(float64(m.dim)) * math.Ldexp(sigma, -40) / m.lambda
	moves := 2*distance + grid
	a.record("minimiser", theta, Answer{rows: m.rows, l2: moves}, 0)
	if err := (mechanisms.Gaussian{Mu: o.law.OutputMu}).Release(theta, theta, moves, a.run.src); err != nil {
		return nil, err // theta may be raw
	}
	return theta, nil
}
