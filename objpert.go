package dpglm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/internal/solve"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = ObjectivePerturbationConfig{}

// ObjectivePerturbationConfig holds the parameters of ObjectivePerturbation; it
// is the Learner.
type ObjectivePerturbationConfig struct {
	// Clip bounds the norm of each row's gradient; 0 takes half the feature
	// bound times the largest slope at score 0. NoClip, or math.Inf(1), leaves
	// the loss's own bound.
	Clip float64 `json:"clip"`
	// Lambda is the weight λ of (λ/2)‖θ‖² beside the sum of the losses; 0 takes
	// the one with the lowest predicted risk.
	Lambda float64 `json:"lambda"`
}

// ObjectivePerturbation minimises the sum of the losses with a random linear term:
//
//	θ̂ = argmin_θ Σ ℓᵢ(θ) + (λ/2)‖θ‖² + ⟨b, θ⟩,  b ~ N(0, σ²I),  released: θ̂ + small noise
//
// (Kifer, Smith and Thakurta 2012; Wang and Redberg, Lecture 10, 2021). There is
// no ball: Problem.Radius enters the choice of λ only, and limits where a loss
// that is not globally smooth or Lipschitz is continued linearly. With a clip C,
// each row's φ is continued linearly where its gradient would be longer than C.
// Losses with kinks are replaced as in OutputPerturbation. In trials this is the
// most accurate method for a smooth loss in moderate dimensions.
//
// # Privacy
//
// Replace-one. Every gradient is at most C long and every φ” at most H, enforced
// for every row; the law of θ̂ is that of mechanisms.ObjectivePerturbation with
// ratio C/σ and log-determinant log(1 + HX²/λ), whose comment has the proof. The
// computed θ̂ is certified to lie within τ of the exact one for any data and any
// b, and b lies on a grid that moves θ̂ by g√d/(2λ) at most; Gaussian noise that
// makes a difference of 2τ + g√d/λ μ_out-GDP covers both, and the ledger counts
// it. b is held to the norm σ(√d + 64), so that the certificate can be reached for
// every b; the Gaussian exceeds it with probability below e^-2048, under any δ
// that a float64 can hold. Nothing is drawn twice.
//
// # Parameters
//
// x is n×d. C = ½X·sup_y|φ'_y(0)|. λ and σ are chosen together: for each share of ε
// that the log-determinant may take, λ = HX²/(e^(share·ε) − 1) and σ follows; the
// share minimises the predicted excess risk
//
//	λB²/(2n) + dσ²/(2n(λ + nHX²/(8d))) + HX²σ_out²/16
//
// the regulariser's price for ‖θ‖ = B, and that of b and of the output noise in a
// Hessian with an eighth of the largest possible trace, spread evenly. The last
// term keeps λ from being so small that rounding shows. The solver takes
// Newton steps with second moments of a sample of the rows for d ≤ 1000 and with
// conjugate gradients beyond: some 20 passes.
func ObjectivePerturbation(ctx context.Context, d *Dataset, p Problem, b Budget, cfg ObjectivePerturbationConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan chooses λ and σ.
func (c ObjectivePerturbationConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p, err := p.withDefault(s, 10).resolve(s)
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := newObjective(c, s, p)
	if err := solvable(o.trained, s, p, c.Lambda); err != nil {
		return nil, err
	}
	if err := o.calibrate(c.Lambda, s, p, b); err != nil {
		return nil, err
	}
	c.Clip, c.Lambda = o.clip, o.lambda
	ledger, err := o.law.Ledger("objective perturbation", s.Dim)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, d *Dataset, env *Env) ([]float64, error) {
		sums, err := d.sums(o.trained)
		if err != nil {
			return nil, err
		}
		return o.run(ctx, sums, env.noise())
	}
	if err := b.covers(ledger); err != nil {
		return nil, err
	}
	return &Plan{Learner: c, Problem: p, Ledger: ledger, shape: s, run: run, reach: p.Radius}, nil
}

func (c ObjectivePerturbationConfig) validate() error {
	if c.Clip != 0 && !(c.Clip >= NoClip) {
		if err := check.Scale(ErrConfig, "ObjectivePerturbationConfig.Clip", c.Clip); err != nil {
			return err
		}
	}
	if c.Lambda != 0 {
		return check.Scale(ErrConfig, "ObjectivePerturbationConfig.Lambda", c.Lambda)
	}
	return nil
}

// objective is a planned objective perturbation.
type objective struct {
	trained losses.Loss
	dim     int
	clip    float64 // bound on a row's gradient norm
	bend    float64 // β = HX²
	lambda  float64
	law     mechanisms.ObjectivePerturbation
}

func newObjective(c ObjectivePerturbationConfig, s Shape, p Problem) *objective {
	z := s.FeatureBound * p.Radius
	o := &objective{trained: smoothed(p.Loss, z, s.LabelBound), dim: s.Dim, clip: c.Clip}
	if c.Clip == 0 {
		o.clip = s.FeatureBound * p.Loss.Constants(0, s.LabelBound).Slope / 2
	}
	k := o.trained.Constants(z, s.LabelBound)
	if o.clip >= NoClip && math.IsInf(k.Lipschitz, 1) {
		o.trained = losses.Extend(o.trained, z)
		k = o.trained.Constants(z, s.LabelBound)
	}
	o.clip = math.Min(o.clip, s.FeatureBound*k.Lipschitz*o.room())
	o.bend = k.Smoothness * s.FeatureBound * s.FeatureBound * o.room() * o.room()
	return o
}

// room is by how much rounding may lengthen a row or a clipped gradient: the slack
// of package rows, at the largest offset that a schema may have.
func (o *objective) room() float64 { return 1 + math.Ldexp(float64(o.dim)+16, -30) }

// outputShare is the part of the budget's μ that the output noise has. As squares
// add, it costs half a percent of the other noise.
const outputShare = 0.1

// calibrate sets λ, where none is given, and the law of the minimiser.
func (o *objective) calibrate(lambda float64, s Shape, p Problem, b Budget) error {
	if b.pure {
		return check.Fail(ErrBudget, "delta", 0, "must be positive, as the noise is Gaussian; use ApproxDP or GDP")
	}
	mu, err := b.gdp()
	if err != nil {
		return err
	}
	o.law.OutputMu = outputShare * mu
	given := lambda != 0
	if !given {
		if lambda, err = o.predict(s, p, mu, b.delta); err != nil {
			return err
		}
	}
	for range 20 {
		o.lambda, o.law.LogDet = lambda, math.Log1p(o.bend/lambda)*(1+1e-15)
		if o.law.Ratio, err = b.objectiveRatio(o.law, s.Dim); err == nil || given {
			return err
		}
		lambda *= 2 // the prediction was too bold for this budget
	}
	return err
}

// predict returns the λ with the lowest predicted risk.
func (o *objective) predict(s Shape, p Problem, mu, delta float64) (float64, error) {
	if delta == 0 {
		delta = 1e-6 // a μ-GDP budget at a usual δ
	}
	epsilon, err := mechanisms.GaussianEpsilon(mu, delta)
	if err != nil {
		return 0, err
	}
	n, d := float64(s.Rows), float64(s.Dim)
	best, lambda := math.Inf(1), o.bend
	for share := 0.02; share < 0.95; share *= 1.1 {
		half, err := mechanisms.GaussianMu(epsilon*(1-share), delta/2)
		if err != nil {
			continue
		}
		l, sigma := o.bend/math.Expm1(share*epsilon), 2*o.clip/half
		out := o.outputNoise(s, l, sigma)
		risk := l*p.Radius*p.Radius + d*sigma*sigma/(l+n*o.bend/(8*d)) + n*o.bend/8*out*out
		if risk < best {
			best, lambda = risk, l
		}
	}
	return lambda, nil
}

// outputNoise predicts the output noise's standard deviation from the rounding
// error of a gradient (see rows.Sums.GradientError, with raw terms four times as
// large as the rows) at the largest ‖θ‖.
func (o *objective) outputNoise(s Shape, lambda, sigma float64) float64 {
	n, d := float64(s.Rows), float64(s.Dim)
	longest := sigma * (math.Sqrt(d) + 64)
	rounding := 4 * n * o.bend * 0x1p-53 * (d + 8) * o.reach(n, lambda, longest, o.trained.Constants(0, s.LabelBound).AtZero)
	return 8 * math.Max(rounding, 1e-9*o.clip) / lambda / o.law.OutputMu
}

// reach bounds the norm of the minimiser, with some room: there
// (λ/2)‖θ‖² ≤ n·φ(0) + ‖b‖‖θ‖.
func (o *objective) reach(n, lambda, longest, zero float64) float64 {
	return 1.1 * (longest + math.Sqrt(longest*longest+2*lambda*n*zero)) / lambda
}

// run draws the linear term, minimises and adds the output noise.
func (o *objective) run(ctx context.Context, sums *rows.Sums, src mechanisms.Source) ([]float64, error) {
	b := make([]float64, o.dim)
	noise := mechanisms.Gaussian{Mu: o.law.Ratio}
	if err := noise.Release(b, b, o.clip*o.room(), src); err != nil {
		return nil, err
	}
	sigma, err := noise.Sigma(o.clip*o.room(), o.dim)
	if err != nil {
		return nil, err
	}
	longest := sigma * (math.Sqrt(float64(o.dim)) + 64)
	solve.Project(b, longest)
	problem, tolerance := o.problem(ctx, sums, b, longest)
	w, err := problem.Minimize(ctx, tolerance)
	if err != nil {
		return nil, err
	}
	// b's grid has at least 2^40 steps for each σ.
	grid := math.Sqrt(float64(o.dim)) * math.Ldexp(sigma, -40) / o.lambda
	return w, mechanisms.Gaussian{Mu: o.law.OutputMu}.Release(w, w, 2*tolerance+grid, src)
}

// problem is the perturbed objective and the tolerance to which it is solved: a
// billionth of what one row's gradient can do, or the rounding floor.
func (o *objective) problem(ctx context.Context, sums *rows.Sums, b []float64, longest float64) (*solve.Problem, float64) {
	n, x := float64(sums.Rows()), sums.FeatureBound()
	reach := o.reach(n, o.lambda, longest, sums.Constants(0).AtZero)
	p := &solve.Problem{
		Dim: o.dim, Radius: math.Inf(1), Convexity: o.lambda,
		Smoothness: n*sums.Constants(reach).Smoothness*x*x + o.lambda,
		Error:      sums.GradientError(reach, o.clip) + 16*0x1p-53*(o.lambda*reach+longest),
	}
	p.Gradient = func(g, w []float64) error {
		if err := sums.Gradient(ctx, g, w, o.clip); err != nil {
			return err
		}
		floats.AddScaled(g, o.lambda, w)
		floats.Add(g, b)
		return nil
	}
	if sums.Curved() {
		p.Newton = o.newton(ctx, sums)
	}
	return p, math.Max(1e-9*o.clip/o.lambda, p.Floor())
}

// newton solves with second moments of a sample of the rows in moderate
// dimensions, with products in high ones.
func (o *objective) newton(ctx context.Context, sums *rows.Sums) func(w []float64) (func(g []float64) ([]float64, error), error) {
	stride := max(1, min(16, sums.Rows()/(40*o.dim)))
	sample := sums.Every(stride)
	return func(w []float64) (func(g []float64) ([]float64, error), error) {
		if o.dim <= 2*newtonDim {
			h, err := sample.Hessian(ctx, w, o.clip)
			if err != nil {
				return nil, err
			}
			h.ScaleSym(float64(stride), h)
			for j := range w {
				h.SetSym(j, j, h.At(j, j)+o.lambda)
			}
			if f, ok := solve.Factored(h); ok {
				return f, nil
			}
		}
		weights, err := sums.Curvatures(ctx, w, o.clip)
		if err != nil {
			return nil, err
		}
		return solve.Conjugate(func(dst, v []float64) error {
			if err := sums.Weighted(ctx, dst, v, weights); err != nil {
				return err
			}
			floats.AddScaled(dst, o.lambda, v)
			return nil
		}), nil
	}
}
