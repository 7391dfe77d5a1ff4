package dpglm

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
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
// x is n×d. Where the radius is not given, w is counted from the constant model, whose mean of labels is
// released first, as for [NoisyGD] (by Laplace noise under [PureDP], with the root of the part of μ² that it would have as its part of ε). Losses are
// continued linearly where gradients are longer than NoisyGD's clip C, D is at most 2C, and ‖w̃‖ ≤ C/λ for
// any data, so that no ball binds; B in λ is that of NoisyGD's steps. By James and Stein's rule the result is then
// multiplied by 1 − σ²q/‖w‖², or is 0, q being the 95 % quantile of χ² with d degrees of freedom, or by
// 1 − 10·(¾Xσ)²/v where that is more, as noise then makes out little of what scores vary by; and its intercept is recalibrated, for the squared loss and those
// whose link is the logarithm, as NoisyGD's is, under budgets with Gaussian noise. With noise s times the sensitivity in each coordinate, H the
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
	asked := p
	o, p, err := c.planned(s, p)
	if err != nil {
		return nil, err
	}
	schedule, err := o.schedule(p.Loss, b, asked.Radius == 0)
	if err != nil {
		return nil, err
	}
	plan, err := planScore(o.OutputPerturbationConfig, o.shape, p, b, schedule, o.train)
	if err != nil {
		return nil, err
	}
	plan.asks.starts = o.shape.begun
	if o.around {
		plan.weightBound = o.clip / o.Lambda
	}
	if !c.Project {
		plan.spread = o.sensitivity() * o.noise.perSensitivity()
	}
	return plan, nil
}

// planned checks the arguments and returns the problem with its radius.
func (c OutputPerturbationConfig) planned(s Shape, p Problem) (*outputPerturbation, Problem, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, p, err
	}
	asked := p
	if p, err = p.resolve(s, nearScore); err != nil {
		return nil, p, err
	}
	if c.Lambda != 0 {
		if err := check.Scale(ErrConfig, "OutputPerturbationConfig.Lambda", c.Lambda); err != nil {
			return nil, p, err
		}
	}
	o := &outputPerturbation{OutputPerturbationConfig: c, shape: s, radius: p.Radius, clip: NoClip}
	if asked.Radius == 0 || s.begun {
		o.around = true
		o.trained = smooth.Everywhere(p.Loss, s.FeatureBound*p.Radius, s.LabelBound, s.exposed())
		o.radius = math.Min(asked.forSteps(s).Radius, p.Radius)
	} else {
		o.trained = smooth.Kinks(p.Loss, s.FeatureBound*p.Radius, s.LabelBound)
	}
	return o, p, solvable(o.trained, s, p, c.Lambda)
}

// outputPerturbation is a planned run.
type outputPerturbation struct {
	OutputPerturbationConfig
	shape   Shape
	trained losses.Loss
	around  bool    // whether the minimiser is counted from the constant model
	radius  float64 // of the ball, or where it is around the constant model the one that λ is for
	clip    float64
	start   *start // nil where none is released here
	noise   additive
}

// schedule plans the releases, and fills in λ; own says that the start is released here, if there
// is one.
func (o *outputPerturbation) schedule(l losses.Loss, b Budget, own bool) (*release.Schedule, error) {
	s, rest := o.shape, b
	if o.around {
		mu, err := b.gdp()
		if err != nil {
			return nil, err
		}
		o.clip = practicalClip(s, Problem{Loss: l, Radius: o.radius}, mu, true)
		if own && s.Intercept && !s.begun {
			if o.start, err = newStart(s, l, b, 1, s.Dim, 1); err != nil {
				return nil, err
			}
			if err := o.start.beside(false); err != nil {
				return nil, err
			}
			rest = o.start.rest
		}
	}
	var err error
	if o.noise, err = rest.additive(s.Dim); err != nil {
		return nil, err
	}
	if o.Lambda == 0 {
		o.Lambda = regularisation(s, o.trained, o.radius, o.noise.perSensitivity(), o.clip)
	}
	if o.around { // no gradient is longer
		o.clip = math.Min(o.clip, s.FeatureBound*o.trained.Constants(check.Everywhere, s.LabelBound).Lipschitz)
	}
	if err := o.noise.check(o.sensitivity()); err != nil {
		return nil, err
	}
	schedule, err := o.noise.schedule("output perturbation, minimiser", 1)
	if err != nil || o.start == nil {
		return schedule, err
	}
	return release.Sequential("output perturbation", o.start.around(schedule)...)
}

// sensitivity is that of the minimiser, but for rounding.
func (o *outputPerturbation) sensitivity() float64 {
	n := float64(o.shape.Rows)
	if o.around {
		return 2 * o.clip / (o.Lambda * n)
	}
	x := o.shape.FeatureBound
	return math.Min(x*o.trained.Diameter(x*o.radius, o.shape.LabelBound)/(o.Lambda*n), 2*o.radius)
}

// train releases the minimiser.
func (o *outputPerturbation) train(r *run) ([]float64, error) {
	r = r.byRows()
	if o.around {
		return o.start.run(r, o.trainAround)
	}
	sums, err := r.data.Under(o.trained)
	if err != nil {
		return nil, err
	}
	point, err := sums.Minimiser(r.ctx, o.radius, o.Lambda)
	if err != nil {
		return nil, err
	}
	w, err := r.allow.AddNoise(point.Weights())
	if err == nil && o.Project {
		vector.Project(w, o.radius)
	}
	r.progress(1, 1) // how many steps the solver took is not public
	return w, err
}

// noiseFelt limits what noise costs where there is nothing to find, and the length of the noise doesn't
// tell: a result with the part v of what typical scores vary by as noise is shortened to 1 − noiseFelt·v at
// least, so that noise makes out .015 of it at most.
const noiseFelt = 10

// trainAround releases the minimiser from the constant model on, shortened.
func (o *outputPerturbation) trainAround(r *run, part func() (*release.Allowance, error)) ([]float64, error) {
	sums, err := r.data.Under(o.trained)
	if err != nil {
		return nil, err
	}
	centre := r.centre(sums.Dim())
	point, err := sums.ClippedMinimiser(r.ctx, centre, o.clip, o.Lambda)
	if err != nil {
		return nil, err
	}
	allow := r.allow
	if o.start != nil {
		if allow, err = part(); err != nil {
			return nil, err
		}
	}
	w, err := allow.AddNoise(point.Weights())
	if err != nil {
		return nil, err
	}
	if o.Project {
		vector.Project(w, o.clip/o.Lambda)
	}
	sd := o.sensitivity() * o.noise.perSensitivity()
	t := estimate.TypicalOf(o.trained, o.shape.FeatureBound, o.shape.LabelBound)
	quiet := 1 - noiseFelt*math.Pow(sd*t.Row, 2)/t.Variance
	floats.Scale(math.Max(estimate.Kept(floats.Dot(w, w), sd*sd, len(w)), quiet), w)
	floats.Add(w, centre)
	if err := o.start.recalibrate(r, w, part); err != nil {
		return nil, err
	}
	r.progress(1, 1)
	return w, nil
}
