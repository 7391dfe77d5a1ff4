package dpglm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/internal/solve"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = OutputPerturbationConfig{}

// OutputPerturbationConfig holds the parameters of OutputPerturbation; it is the
// Learner.
type OutputPerturbationConfig struct {
	// Lambda is the weight λ of the regulariser (λ/2)‖w‖²; 0 takes the one that
	// minimises the predicted risk.
	Lambda float64 `json:"lambda"`
	// Project projects the noisy weights back to the ball, which costs no
	// privacy. The paper does not.
	Project bool `json:"project"`
}

// OutputPerturbation computes the regularised empirical minimiser over the ball
// and releases it with noise [AB+22, Algorithm 3]:
//
//	w̃ = argmin_{‖w‖≤B} L̂(w) + (λ/2)‖w‖²,  released: w̃ + noise
//
// Losses with kinks are replaced by their Moreau envelope of width Z/100, Z the
// largest score on the ball: it lies below the loss, by at most half the width
// times the squared slope.
//
// # Privacy
//
// Replace-one. The minimisers of neighbouring data sets are at most
// Δ = sup_{r≤B} D(r)/(λn) apart, D(r) the diameter of gradients at norm r: add
// the two strong-convexity inequalities at both minimisers; each is optimal over
// the ball, so the gradients of the two objectives at one of them differ by at
// least λ times the distance [AB+22, Theorem 5's proof; with D in place of 2G].
// The computed minimiser is certified to lie within τ of the exact one for any
// data, so the sensitivity is Δ + 2τ; τ is public, a millionth of Δ or the
// gradient's rounding floor, whichever is larger. (Two points of the ball are
// never further apart than 2B, which is taken where it is less.) Gaussian noise (an ApproxDP or
// GDP budget) is mechanisms.Gaussian; under PureDP each coordinate gets discrete
// Laplace noise of scale √d(Δ+2τ)/ε (mechanisms.Laplace). The paper's
// σ² = 4G²‖X‖²log(1/δ)/(λ²n²ε²) is not used: it breaks its promise for ε above
// 0.14 at δ = 1e-6.
//
// # Parameters
//
// x is n×d. The default radius lets scores of binary losses reach ±10, as the
// noise grows with it. With noise s times the sensitivity in each coordinate, H the
// smoothness and L the Lipschitz constant of the loss, λ minimises a bound on the
// excess empirical risk:
//
//	λB²/2 + H·X²D²s²/(2λ²n²)      λ = (2HX²D²s²/(n²B²))^(1/3)     [Theorem 3]
//	λB²/2 + √(2/π)·X·L·D·s/(λn)   λ = √(2√(2/π)·X·L·D·s/n)/B      [Theorem 5]
//
// and, where both apply, is the one with the lower bound. The solver takes a few
// Newton steps (O(n·d²) each) for d ≤ 500 and accelerated gradient steps beyond.
func OutputPerturbation(ctx context.Context, d *Dataset, p Problem, b Budget, cfg OutputPerturbationConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan calibrates output perturbation.
func (c OutputPerturbationConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p, err := p.withDefault(s, 10).resolve(s)
	if err != nil {
		return nil, err
	}
	if c.Lambda != 0 {
		if err := check.Scale(ErrConfig, "OutputPerturbationConfig.Lambda", c.Lambda); err != nil {
			return nil, err
		}
	}
	noise, err := b.additive(s.Dim)
	if err != nil {
		return nil, err
	}
	trained := smoothed(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
	if err := solvable(trained, s, p, c.Lambda); err != nil {
		return nil, err
	}
	if c.Lambda == 0 {
		c.Lambda = regularisation(s, trained, p.Radius, noise.perSensitivity())
	}
	sensitivity := s.FeatureBound * trained.Diameter(s.FeatureBound*p.Radius, s.LabelBound) / (c.Lambda * float64(s.Rows))
	sensitivity = math.Min(sensitivity, 2*p.Radius)
	if err := noise.check(sensitivity); err != nil {
		return nil, err
	}
	ledger, err := noise.ledger("output perturbation, minimiser", 1)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, d *Dataset, env *Env) ([]float64, error) {
		sums, err := d.sums(trained)
		if err != nil {
			return nil, err
		}
		w, sensitivity, err := minimiser(ctx, sums, p.Radius, c.Lambda)
		if err != nil {
			return nil, err
		}
		if err := noise.release(w, sensitivity, env.noise()); err != nil {
			return nil, err
		}
		if c.Project {
			solve.Project(w, p.Radius)
		}
		return w, nil
	}
	plan := &Plan{Learner: c, Problem: p, Ledger: ledger, shape: s, run: run, reach: p.Radius}
	if !c.Project {
		plan.spread = sensitivity * noise.perSensitivity()
	}
	return plan, nil
}

// everywhere is a score beyond all that are ever computed.
const everywhere = 1e300

// smoothed returns the loss to train with for scores up to z on the ball and the
// given label bound: the loss itself, extended linearly unless its smoothness
// holds at every score, or a Moreau envelope of a loss with kinks. Objective
// perturbation has no ball, so that its guarantee rests on the smoothness there.
func smoothed(l losses.Loss, z, labelBound float64) losses.Loss {
	if e, ok := losses.Envelope(l, z/100); ok {
		return e
	}
	if !(l.Constants(everywhere, labelBound).Smoothness <= l.Constants(z, labelBound).Smoothness) {
		return losses.Extend(l, z)
	}
	return l
}

// solvable refuses a loss whose smoothness is not known, and a λ so small (0 is
// the default's) that a solver would not end in good time.
func solvable(trained losses.Loss, s Shape, p Problem, lambda float64) error {
	k := trained.Constants(s.FeatureBound*p.Radius, s.LabelBound)
	if !(k.Smoothness > 0) || math.IsInf(k.Smoothness, 1) {
		return check.Fail(ErrConfig, "loss", trained.Name(), "must have a known smoothness above zero, or be one that losses.Envelope can smooth")
	}
	if least := 1e-9 * k.Smoothness * s.FeatureBound * s.FeatureBound; lambda != 0 && lambda < least {
		return check.Fail(ErrConfig, "Lambda", lambda, fmt.Sprintf("must be at least %.3g here, a billionth of the loss's smoothness", least))
	}
	return nil
}

// regularisation returns the λ with the lowest predicted risk; noise is the
// standard deviation per unit of sensitivity.
func regularisation(s Shape, l losses.Loss, radius, noise float64) float64 {
	x, n := s.FeatureBound, float64(s.Rows)
	k := l.Constants(x*radius, s.LabelBound)
	perLambda := x * l.Diameter(x*radius, s.LabelBound) * noise / n // σ·λ
	smooth := math.Cbrt(2*k.Smoothness*x*x*perLambda*perLambda) / math.Cbrt(radius*radius)
	risk := smooth*radius*radius/2 + k.Smoothness*x*x*perLambda*perLambda/(2*smooth*smooth)
	lipschitz := math.Sqrt(2*math.Sqrt(2/math.Pi)*x*k.Lipschitz*perLambda) / radius
	if lipschitz*radius*radius < risk { // its two terms are equal at the optimum
		return lipschitz
	}
	return smooth
}

// newtonDim is the largest dimension in which the solvers use second moments.
const newtonDim = 500

// minimiser returns a point within τ of the regularised minimiser over the ball
// and its L2 sensitivity, Δ + 2τ or the ball's diameter.
func minimiser(ctx context.Context, sums *rows.Sums, radius, lambda float64) ([]float64, float64, error) {
	n := float64(sums.Rows())
	problem := regularised(ctx, sums, radius, lambda)
	delta := sums.Diameter(radius) / (lambda * n)
	tolerance := math.Max(1e-6*delta, problem.Floor())
	w, err := problem.Minimize(ctx, tolerance)
	return w, math.Min(delta+2*tolerance, 2*radius*(1+1e-12)), err
}

// regularised is the problem of minimising the mean loss plus (λ/2)‖w‖².
func regularised(ctx context.Context, sums *rows.Sums, radius, lambda float64) *solve.Problem {
	n, x := float64(sums.Rows()), sums.FeatureBound()
	p := &solve.Problem{Dim: sums.Dim(), Radius: radius, Convexity: lambda, Smoothness: sums.Constants(3*radius).Smoothness*x*x + lambda}
	// The mean, the regulariser and the certificate's own arithmetic round too.
	p.Error = sums.GradientError(radius, math.Inf(1))/n + 16*0x1p-53*(p.Smoothness*radius+sums.Constants(radius).Slope*x)
	p.Gradient = func(g, w []float64) error {
		if err := sums.Gradient(ctx, g, w, math.Inf(1)); err != nil {
			return err
		}
		floats.Scale(1/n, g)
		floats.AddScaled(g, lambda, w)
		return nil
	}
	p.Value = func(w []float64) (float64, error) {
		v := make([]float64, 1)
		err := sums.Losses(ctx, v, [][]float64{w}, []float64{math.Inf(1)})
		return v[0]/n + lambda/2*floats.Dot(w, w), err
	}
	if sums.Curved() && sums.Dim() <= newtonDim {
		p.Hessian = func(w []float64) (*mat.SymDense, error) {
			h, err := sums.Hessian(ctx, w, math.Inf(1))
			if err != nil {
				return nil, err
			}
			h.ScaleSym(1/n, h)
			for j := range w {
				h.SetSym(j, j, h.At(j, j)+lambda)
			}
			return h, nil
		}
	}
	return p
}

// additive is noise for vectors of known L2 sensitivity.
type additive interface {
	// perSensitivity is the standard deviation in each coordinate for each unit
	// of sensitivity.
	perSensitivity() float64
	// check refuses a sensitivity that release would refuse.
	check(sensitivity float64) error
	ledger(label string, releases int) (*Ledger, error)
	release(w []float64, sensitivity float64, src mechanisms.Source) error
}

// additive calibrates noise for one vector of dim coordinates: discrete Laplace
// under a pure budget, Gaussian otherwise.
func (b Budget) additive(dim int) (additive, error) {
	if b.pure {
		epsilon, err := b.pureEpsilon()
		return laplace{mechanisms.Laplace{Epsilon: epsilon}, dim}, err
	}
	g, err := b.gaussian(1, dim)
	return gaussian{g, dim}, err
}

type gaussian struct {
	mechanisms.Gaussian
	dim int
}

func (g gaussian) perSensitivity() float64 { return 1 / g.Mu }

func (g gaussian) check(sensitivity float64) error {
	_, err := g.Sigma(sensitivity, g.dim)
	return err
}

func (g gaussian) ledger(label string, releases int) (*Ledger, error) {
	return g.Ledger(label, releases, g.dim)
}

func (g gaussian) release(w []float64, sensitivity float64, src mechanisms.Source) error {
	return g.Release(w, w, sensitivity, src)
}

// laplace is discrete Laplace noise: a vector of d coordinates that moves by Δ in
// L2 norm moves by at most √d·Δ in L1 norm.
type laplace struct {
	mechanisms.Laplace
	dim int
}

func (l laplace) perSensitivity() float64 { return math.Sqrt(2*float64(l.dim)) / l.Epsilon }

func (l laplace) l1(sensitivity float64) float64 {
	return math.Sqrt(float64(l.dim)) * sensitivity * (1 + 1e-15)
}

func (l laplace) check(sensitivity float64) error {
	_, err := l.Scale(l.l1(sensitivity), l.dim)
	return err
}

func (l laplace) ledger(label string, releases int) (*Ledger, error) {
	return l.Ledger(label, releases)
}

func (l laplace) release(w []float64, sensitivity float64, src mechanisms.Source) error {
	return l.Release(w, w, l.l1(sensitivity), src)
}
