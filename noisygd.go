package dpglm

import (
	"context"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = NoisyGDConfig{}

// Schedule chooses the number of steps and the step size of Noisy GD.
type Schedule string

// The schedules.
const (
	// Practical balances the optimisation error against the noise. It is what
	// the empty string means.
	Practical Schedule = "practical"
	// Theorem1 is the schedule that [AB+22, Theorem 1] analyses: T = n steps of
	// size min(B/(√T·max(√H̃·‖Y‖, σ√d)), 1/(4H̃)), no clip, all iterates averaged. The loss
	// must be smooth.
	Theorem1 Schedule = "theorem1"
)

// NoisyGDOutput chooses which function of the iterates Noisy GD returns. All of them
// are post-processing.
type NoisyGDOutput string

// The outputs. The empty string means FullAverage under Theorem1 and
// TailAverage otherwise.
const (
	TailAverage NoisyGDOutput = "tail-average" // mean of the last half
	FullAverage NoisyGDOutput = "full-average" // mean of all
	LastIterate NoisyGDOutput = "last-iterate"
)

// NoClip is a clip beyond all gradients.
const NoClip = math.MaxFloat64

// NoisyGDConfig holds the parameters of [NoisyGD]; it is the Learner.
type NoisyGDConfig struct {
	Schedule Schedule      `json:"schedule"` // the empty string takes Practical
	Output   NoisyGDOutput `json:"output"`   // the empty string takes TailAverage, or FullAverage under Theorem1
	// Steps is T, the number of passes; 0 takes the schedule's.
	Steps int `json:"steps"`
	// StepSize is η, for the mean gradient; 0 takes the schedule's.
	StepSize float64 `json:"step_size"`
	// Clip bounds the norm of each row's gradient; longer ones are scaled down. It costs
	// bias where it is small and noise where it is large.
	// 0 takes the schedule's; NoClip, or math.Inf(1), turns clipping off.
	Clip float64 `json:"clip"`
}

// NoisyGD minimises the mean loss by projected gradient descent on the whole
// data set with Gaussian noise in each gradient [AB+22, Algorithm 1]:
//
//	w₁ = 0,  w_{t+1} = Π_B(w_t − η(∇L̂(w_t) + ξ_t)),  ξ_t ~ N(0, σ_t²I),  t = 1..T
//
// With a clip C it minimises a Huberised loss instead of L̂: each row's φ is
// continued linearly where its gradient would be longer than C, which is still
// convex and no less smooth. At small ε this gains more than it loses, because
// rows are often much shorter than their bound.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. The gradient sum at w_t moves by at most
// Δ_t = min(X·D(X‖w_t‖), 2C) plus the bound on its rounding, D being the loss's
// gradient diameter ([losses.Loss]): the true sensitivity instead of 2G. It is
// released with σ = Δ_t/μ_step by [mechanisms.Gaussian], so each step is
// μ_step-GDP whatever w_t is; w_t itself was released before. T adaptive steps
// compose to exactly √T·μ_step-GDP [Dong, Roth, Su 2022, Corollary 3.3], which
// is calibrated to the budget. The paper's σ² = 8G²T·log(1/δ)/(n²ε²) is not
// used: it is 24 % too large at (1, 1e-6) and too small above ε ≈ 8.3.
//
// Where the radius is not given there are two releases before the steps. The labels' mean, of the
// sensitivity of their range (√J for J steps of it, of counts and amounts: docs/proofs/sums.md), has 1 to 25 % of μ² (50 % for counts), or (45/nμ)²
// of it where that is more, and 99 % at most: at n·μ = 45 no more than the constant model is to be had; with weights, offsets or stated persons
// half of that is for their sums, of sensitivity 2. For the squared loss with a clip the mean of what the result predicts, held to the labels' range, is released last, unless the labels' has more than its usual most: both means have
// the same part, which is what the labels' has without the other, and half of its most where that is less. A gradient sum at the start, with the sensitivity of the
// others, has 10 % of what is left. Both are Gaussian and add up with the steps in μ². Where several parties
// hold the rows the labels' mean isn't released, and its share is left unspent, which is nearly all at n·μ = 45 and below.
//
// The bound on rows and labels, the ball and the clip are enforced for every
// input. The caller must take Bounds or Schema, Problem and configuration from
// public knowledge.
//
// # Parameters
//
// x is n×d. With Δ the largest Δ_t over the ball, μ the budget's, H̃ = X²·sup φ”
// over the ball and σ the noise of a mean gradient, the practical schedule has
//
//	C = X·sup_y|φ'_y(0)|·min(2, ½·max(1, √(nμ/(150√d)))), ¼ for ½ unless labels are binary
//	T = ⌈H̃·B·n·μ/(Δ√d)⌉, at least 10 and at most n and 1000
//	η = min(B/(√T·σ√d), 4/H̃), or 1.5/H̃ where φ' is unbounded
//
// η is no longer for counts than 4/H̃ for their mean as it was released, where that is more than 1: their curvature grows with it. A plan tells η for a
// mean of 1, and one that is given stays.
// Where the radius is not given, the ball of the default radius is around the constant model: the
// steps begin there, and a result that the gradient released there doesn't tell to be better,
// with 95 % confidence, is shortened to it. As clipped steps of the squared loss lead to a middle of the labels and not to their mean, the intercept is then
// recalibrated: it moves by the difference of the mean label and the mean of what the result predicts, shortened by James and Stein's rule for the noise in both,
// for which that of predictions is released.
// In T and η of both schedules, B is then the radius at
// which noise makes out half of what scores of typical rows vary by, ½√(1.5·d·v)/(¾X), v being π²/3 for
// classes, (Y/4)² for real labels and ¼ for counts, whose loss is continued linearly where means
// exceed the largest label; and ½ and ¼ in C are 1 and ⅛.
//
// T balances the optimisation error H̃B²/T against the noise; all of it is
// public. For a loss with kinks, subgradients of norm at most
// G = min(C, X·sup|φ'|) take the place of gradients, and
//
//	T = ⌈(G·n·μ/(Δ√d))²⌉, within the same limits
//	η = B/√(T(G² + dσ²))
//
// the step size of [AB+22, Theorem 10]; the paper's T = n² passes are not needed,
// as the contraction lemma bounds the generalisation error of a linear model.
// Smoothed losses need fewer steps.
//
// Each step is one pass, O(n·d) flops; a fit holds O(n + d) numbers beside the
// data. The squared loss without clip takes O(d²) a step, from second moments, and
// as many numbers a goroutine to form them.
func NoisyGD(ctx context.Context, d *Dataset, p Problem, b Budget, cfg NoisyGDConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan calibrates Noisy GD. It fails, by an [ArgumentError], where the shape, the problem, the
// budget or a parameter breaks its rule.
func (c NoisyGDConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	g, err := c.planned(s, p, b)
	if err != nil {
		return nil, err
	}
	schedule, err := g.schedule(b, p.Radius == 0)
	if err != nil {
		return nil, err
	}
	if err := g.checkScales(g.shape, g.sized, g.step, g.mu); err != nil {
		return nil, err
	}
	plan, err := planScore(g.NoisyGDConfig, g.shape, g.ball, b, schedule, g.train)
	if err != nil {
		return nil, err
	}
	plan.asks.starts = g.shape.begun
	questions := g.questions()
	plan.Passes = max(questions, 2) // two for second moments, where they pay
	if g.start != nil {
		plan.Passes += g.start.passes()
	}
	plan.asks.of = g.problem.Loss
	plan.asks.descent = &curator.Descent{Steps: questions, Clip: g.Clip, Radius: g.ball.Radius, Mu: schedule.Ledger().Mu()}
	if g.around { // where parties hold the rows, the centre is 0
		plan.asks.descent.Mu = math.Hypot(math.Sqrt(float64(g.Steps))*g.step.Mu, g.witness.Mu)
	}
	if _, squared := p.Loss.(losses.Squared); !squared || g.Clip < NoClip {
		plan.asks.joint = questions
	}
	return plan, nil
}

// planned checks the arguments and fills in the defaults.
func (c NoisyGDConfig) planned(s Shape, p Problem, b Budget) (*noisyGD, error) {
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	asked := p
	p, err = p.resolve(s, farScore)
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if k := p.Loss.Constants(s.FeatureBound*p.Radius, s.LabelBound); c.Schedule == Theorem1 && math.IsInf(k.Smoothness, 1) {
		return nil, check.Fail(ErrConfig, "NoisyGDConfig.Schedule", c.Schedule, "needs a smooth loss, which "+p.Loss.Name()+" is not")
	}
	whole, err := b.gaussian(1, s.Dim)
	if err != nil {
		return nil, err
	}
	g := &noisyGD{shape: s, problem: p, ball: p, sized: p, mu: whole.Mu, around: asked.Radius == 0 || s.begun}
	if g.around {
		g.problem.Loss = heldMeans(p.Loss, s)
		g.sized = Problem{Loss: g.problem.Loss, Radius: asked.Radius}.forSteps(s)
	}
	g.NoisyGDConfig = c.resolve(s, g.sized, g.mu, g.around)
	g.sizes = c.StepSize == 0 && g.Schedule == Practical
	return g, nil
}

func (c NoisyGDConfig) validate() error {
	switch c.Schedule {
	case "", Practical, Theorem1:
	default:
		return check.Fail(ErrConfig, "NoisyGDConfig.Schedule", fmt.Sprintf("%q", c.Schedule), "must be practical or theorem1")
	}
	switch c.Output {
	case "", TailAverage, FullAverage, LastIterate:
	default:
		return check.Fail(ErrConfig, "NoisyGDConfig.Output", fmt.Sprintf("%q", c.Output), "must be tail-average, full-average or last-iterate")
	}
	if c.Steps < 0 {
		return check.Fail(ErrConfig, "NoisyGDConfig.Steps", c.Steps, "must be at least 1, or 0 for the schedule's number")
	}
	if c.StepSize != 0 {
		if err := check.Scale(ErrConfig, "NoisyGDConfig.StepSize", c.StepSize); err != nil {
			return err
		}
	}
	if c.Clip != 0 && !(c.Clip >= NoClip) {
		return check.Scale(ErrConfig, "NoisyGDConfig.Clip", c.Clip)
	}
	return nil
}

// resolve fills in the defaults from public numbers; mu is the whole budget's, and around says
// that the ball is around the constant model.
func (c NoisyGDConfig) resolve(s Shape, p Problem, mu float64, around bool) NoisyGDConfig {
	k := p.Loss.Constants(s.FeatureBound*p.Radius, s.LabelBound)
	if c.Schedule == "" {
		c.Schedule = Practical
	}
	if c.Output == "" {
		c.Output = TailAverage
		if c.Schedule == Theorem1 {
			c.Output = FullAverage
		}
	}
	if math.IsInf(c.Clip, 1) {
		c.Clip = NoClip
	}
	if c.Clip == 0 {
		c.Clip = NoClip
		if c.Schedule == Practical {
			c.Clip = practicalClip(s, p, mu, around)
		}
	}
	if c.Schedule == Theorem1 {
		return c.theorem1(s, p, k, mu)
	}
	return c.practical(s, p, k, mu)
}

// practicalClip is C of NoisyGD's comment: a part of what gradients at w = 0 can measure
// where noise is large, and growing with the root of nμ/√d to where no gradient of a
// Lipschitz loss is clipped. Clipping bends what is estimated.
func practicalClip(s Shape, p Problem, mu float64, around bool) float64 {
	k := p.Loss.Constants(0, s.LabelBound)
	least := tuning.ClipBall
	switch binary := p.Loss.Labels() == losses.Binary; {
	case binary && around: // what is shortened of one class more than of the other moves the mean
		least = tuning.ClipClasses
	case around:
		least = tuning.ClipOthers
	case !binary:
		least = tuning.ClipBallOthers
	}
	quiet := lettingGo(s, mu)
	return s.FeatureBound * k.Slope * math.Min(tuning.ClipFree, least*math.Max(1, quiet))
}

// theoremStep is the largest step of [AB+22, Theorem 1] in units of 1/H̃.
const theoremStep = 0.25

// theorem1 fills in the steps and the step size of [AB+22, Theorem 1].
func (c NoisyGDConfig) theorem1(s Shape, p Problem, k losses.Constants, mu float64) NoisyGDConfig {
	smooth := k.Smoothness * s.FeatureBound * s.FeatureBound
	if c.Steps == 0 {
		c.Steps = s.Rows
	}
	if c.StepSize == 0 {
		gradient := max(math.Sqrt(smooth*k.AtZero), c.noise(s, p, mu))
		c.StepSize = min(p.Radius/(math.Sqrt(float64(c.Steps))*gradient), theoremStep/smooth)
	}
	return c
}

// practical fills in the steps and the step size of the practical schedule.
func (c NoisyGDConfig) practical(s Shape, p Problem, k losses.Constants, mu float64) NoisyGDConfig {
	x, kinked := s.FeatureBound, math.IsInf(k.Smoothness, 1)
	largest := min(x*k.Slope, c.Clip)
	if c.Steps == 0 {
		balance := float64(s.Rows) * mu / (c.sensitivity(s, p) * math.Sqrt(float64(s.Dim)))
		if kinked {
			balance *= largest * largest * balance
		} else {
			balance *= k.Smoothness * x * x * p.Radius
		}
		c.Steps = int(min(max(math.Ceil(balance), tuning.PracticalLeastSteps), maxSteps, float64(s.Rows)))
	}
	if c.StepSize == 0 {
		noise, root := c.noise(s, p, mu), math.Sqrt(float64(c.Steps))
		if kinked {
			c.StepSize = p.Radius / (root * math.Hypot(largest, noise))
		} else {
			c.StepSize = min(p.Radius/(root*noise), practicalStep(k)/(k.Smoothness*x*x))
		}
	}
	return c
}

// noise is the root of the expected squared norm of the noise of a mean gradient.
func (c NoisyGDConfig) noise(s Shape, p Problem, mu float64) float64 {
	return c.sensitivity(s, p) / float64(s.Rows) * math.Sqrt(float64(c.Steps)*float64(s.Dim)) / mu
}

// sensitivity is the largest sensitivity of a gradient sum over the ball, but
// for rounding.
func (c NoisyGDConfig) sensitivity(s Shape, p Problem) float64 {
	return math.Min(s.FeatureBound*p.Loss.Diameter(s.FeatureBound*p.Radius, s.LabelBound), 2*c.Clip)
}

const (
	rounding = 1 << 30 // steps of a lattice to a sensitivity, about
	tooLong  = 1e250   // a step whose sums with others could overflow
)

// checkScales refuses what would overflow once the steps run: sensitivities from
// that at w = 0 to that on the sphere, rounding included, and a step's length.
func (c NoisyGDConfig) checkScales(s Shape, p Problem, step mechanisms.Gaussian, mu float64) error {
	least := math.Min(s.FeatureBound*p.Loss.Diameter(0, s.LabelBound), 2*c.Clip)
	largest := c.sensitivity(s, p)
	for _, sensitivity := range []float64{math.Max(least, largest/rounding/rounding), largest * rounding} {
		if _, err := step.Sigma(sensitivity, s.Dim); err != nil {
			return err
		}
	}
	slope := p.Loss.Constants(s.FeatureBound*p.Radius, s.LabelBound).Slope
	length := c.StepSize * (s.FeatureBound*slope + rounding*c.noise(s, p, mu))
	if !(c.StepSize > 0 && length < tooLong) {
		return check.Fail(ErrBound, "step size", c.StepSize, "must be positive, and its product with the largest gradient must not overflow")
	}
	return nil
}

// maxSteps bounds the practical schedule's passes: more cost time and, as the
// noise of a pass grows with their number, gain next to nothing.
const maxSteps = 1000

// practicalStep is the largest practical step in units of 1/H̃. Gradient descent
// converges for any rows below 2. A Lipschitz loss allows more: its
// gradients cannot blow up, and rows are usually shorter than their bound. Steps that are
// longer than that classify as well, and overstate scores.
func practicalStep(k losses.Constants) float64 {
	if math.IsInf(k.Lipschitz, 1) {
		return tuning.PracticalStep
	}
	return tuning.PracticalStepLipschitz
}
