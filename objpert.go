package dpglm

import (
	"context"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/release"
)

var _ Learner = ObjectivePerturbationConfig{}

// ObjectivePerturbationConfig holds the parameters of [ObjectivePerturbation]; it
// is the Learner.
type ObjectivePerturbationConfig struct {
	// Clip bounds the norm of each row's gradient; 0 takes the default, which
	// guesses how much shorter rows and labels are than their bounds, and lets go as
	// data and budget grow. NoClip, or math.Inf(1), leaves the loss's own bound.
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
// no ball: Problem.Radius sets how finely kinks are smoothed, as in
// [OutputPerturbation], and where a loss that is not globally smooth or Lipschitz is
// continued linearly; the Poisson loss is where the mean exceeds the largest label, and
// the gamma loss where the label exceeds 30 means. With a clip C, each row's φ is continued
// linearly where its gradient would be longer than C. In trials this classifies about as
// well as [StandardisedGD] and estimates worse, since it guesses its clip; its guarantee
// costs more noise in a GDP budget.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. Every gradient is at most C long and every φ” at most H, enforced
// for every row; the law of θ̂ is that of [mechanisms.ObjectivePerturbation] with
// ratio C/σ and log-determinant log(1 + HX²/λ), whose comment has the proof. The
// computed θ̂ is certified to lie within τ of the exact one for any data and any
// b, and b lies on a grid that moves θ̂ by g√d/(2λ) at most; Gaussian noise that
// makes a difference of 2τ + g√d/λ μ_out-GDP covers both, and the ledger counts
// it. b is held to the norm σ(√d + 64) + 2C, so that the certificate can be reached
// for every b; that costs less than e^-2048, under any δ that a float64 can hold.
// Nothing is drawn twice.
//
// # Parameters
//
// x is n×d. For classes C is X·|φ'(0)|, by which what is shortened of one class more than of
// the other moves the mean less. Elsewhere it is guessed. The guess is that rows have norm r = ¾X and that labels have the scale s = Y/4,
// but for amounts whose score is a logarithm, which are taken for the least; [Auto] measures
// both. Then
// C = 0.8·r·sup_{|y|≤s}|φ'_y(0)|·max(1, √(nμ/(150√d))): gradients of most rows at w = 0
// are just clipped, until data and budget drown the noise.
//
// λ and σ are chosen together: for each log-determinant e from a hundredth of the
// budget's ε or μ (or 0.01, if that is less) to what leaves nothing, λ = HX²/(exp(e) − 1)
// and σ follows; e minimises
//
//	Σ_j h_j·((λ²v/r² + σ²)/(h_j + λ)² + σ_out²)
//
// the squared errors of scores that λ, b and the output noise cause in d
// directions with Hessians h_j ∝ 1/j, which together have the trace of the
// curvature in typical rows. v is the variance that scores would have under the
// best weights: s² where scores are real labels or amounts, 2 for binary labels and logarithms
// of amounts, 1 for those of counts. A Huber loss whose Kappa is far below s has no curvature at
// most rows, while λ grows with the largest, 1, and draws all weights to 0: Kappa should be some
// hundredths of Y, or the loss losses.Absolute, whose kink is smoothed over as much.
// For usual budgets e comes out between a tenth and a third of ε or μ. The solver
// takes Newton steps with second moments of a sample of the rows for d ≤ 1000 and with
// conjugate gradients beyond: some tens of passes.
func ObjectivePerturbation(ctx context.Context, d *Dataset, p Problem, b Budget, cfg ObjectivePerturbationConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan chooses λ and σ. It fails, by an [ArgumentError], where the shape, the problem, the
// budget or a parameter breaks its rule.
func (c ObjectivePerturbationConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	p, err = p.resolve(s, nearScore)
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := newObjective(s, p, c.Clip)
	if c.Clip == 0 {
		mu, err := b.gdp()
		if err != nil {
			return nil, err
		}
		o.letGo(mu)
	}
	if err := solvable(o.trained, s, p, c.Lambda); err != nil {
		return nil, err
	}
	if err := o.calibrate(c.Lambda, b); err != nil {
		return nil, err
	}
	c.Clip, c.Lambda = o.clip, o.lambda
	schedule, err := release.Objective("objective perturbation", o.law, s.Dim)
	if err != nil {
		return nil, err
	}
	return newPlan(c, s, p, b, schedule, func(r *run) ([]float64, error) {
		w, err := o.train(r, r.data, r.allow)
		if err == nil {
			r.progress(1, 1) // how many steps the solver took is not public
		}
		return w, err
	})
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
