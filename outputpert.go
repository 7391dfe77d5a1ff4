package dpglm

import (
	"context"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

var _ Learner = OutputPerturbationConfig{}

// OutputPerturbationConfig holds the parameters of [OutputPerturbation]; it is the
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
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
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
// never further apart than 2B, which is taken where it is less.) Gaussian noise (an [ApproxDP] or
// [GDP] budget) is [mechanisms.Gaussian]; under [PureDP] each coordinate gets discrete
// Laplace noise of scale √d(Δ+2τ)/ε ([mechanisms.Laplace]). The paper's
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

// Plan calibrates output perturbation. It fails, by an [ArgumentError], where the shape, the
// problem, the budget or a parameter breaks its rule.
func (c OutputPerturbationConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	p, err = p.resolve(s, nearScore)
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
	schedule, err := noise.schedule("output perturbation, minimiser", 1)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(c, s, p, b, schedule, func(r *run) ([]float64, error) {
		w, err := c.train(r, trained, p.Radius)
		if err == nil {
			r.progress(1, 1) // how many steps the solver took is not public
		}
		return w, err
	})
	if err == nil && !c.Project {
		plan.spread = sensitivity * noise.perSensitivity()
	}
	return plan, err
}

// train releases the minimiser.
func (c OutputPerturbationConfig) train(r *run, trained losses.Loss, radius float64) ([]float64, error) {
	sums, err := r.data.Under(trained)
	if err != nil {
		return nil, err
	}
	point, err := sums.Minimiser(r.ctx, radius, c.Lambda)
	if err != nil {
		return nil, err
	}
	w, err := r.allow.AddNoise(point.Weights())
	if err == nil && c.Project {
		vector.Project(w, radius)
	}
	return w, err
}
