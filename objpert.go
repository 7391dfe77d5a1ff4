package dpglm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/accounting"
	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
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
// (Kifer, Smith and Thakurta 2012; Wang and Redberg, Lecture 10, 2021). Under a pure budget the coordinates of b
// are Laplace noise (Chaudhuri, Monteleoni and Sarwate 2011 have b's length gamma-distributed), and so is
// the small noise. λ draws the intercept to 0, which is the middle of real labels' range, but a probability of ½ and a rate of 1. Under a pure
// budget, where λ is large, θ is therefore counted from the constant model if the radius isn't given, whose mean of labels is
// released first, as for [OutputPerturbation]. Under others, where the loss has another link than the identity, the intercept is
// recalibrated, as [NoisyGD]'s is for the squared loss: the means of labels and of what the released weights predict are
// released, each with half of what NoisyGD has for the labels' where n·μ is large, if that leaves enough to a λ that is given; of amounts θ is counted from the
// constant model then, too, since 1 is another amount in another unit. There is
// no ball: Problem.Radius sets how finely kinks are smoothed, as in
// [OutputPerturbation], and where a loss that is not globally smooth or Lipschitz is
// continued linearly; the Poisson loss is where the mean exceeds the largest label, or 8 of events (counts to 1 with offsets), and
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
// ratio C/σ and log-determinant log(1 + HX²/λ), whose comment has the proof; under a pure budget that of
// [mechanisms.PureObjectivePerturbation], with noise of scale 2C√d/ε_b, where ε is the sum of ε_b, the log-determinant and a
// hundredth for the small noise. The
// computed θ̂ is certified to lie within τ of the exact one for any data and any
// b, in a ball that the exact one leaves for hardly any b; towards its sphere θ̂ is shortened to 0, which moves it by at most
// twice as much. The labels' mean, where it is released, comes before it, with the sensitivity of their range (of 1 where a row is added or
// removed, and √J for J steps of counts and amounts), and with weights, offsets or stated persons their sums, of sensitivity 2. Noise is Gaussian, or Laplace under a pure budget, where no mean of predictions is
// released; elsewhere that is held to the labels' range and released after it, with the labels' sensitivity (docs/proofs/sums.md). All compose with it. b lies on a grid that moves θ̂ by g√d/(2λ) at most; noise for
// a difference of 4τ + 2g√d/λ covers both, and the ledger counts
// it. No b is left out, so that there is no δ in this. Nothing is drawn twice.
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
// λ and σ are chosen together: for each log-determinant e from a millionth of the
// budget's ε or μ (or 1e-6, if that is less) to what leaves nothing, λ = HX²/(exp(e) − 1)
// and σ follows; e minimises
//
//	Σ_j h_j·((λ²v/r² + σ²)/(h_j + λ)² + σ_out²)
//
// the squared errors of scores that λ, b and the output noise cause in d
// directions with Hessians h_j ∝ 1/j, which together have the trace of the
// curvature in typical rows. v is the variance that scores would have under the
// best weights: s² where scores are real labels or amounts, π²/3 for binary labels, which is what the
// logistic law has, 2 for logarithms of amounts, ¼ for those of counts. A Huber loss whose Kappa is far below s has no curvature at
// most rows, while λ grows with the largest, 1, and draws all weights to 0: Kappa should be some
// hundredths of Y, or the loss losses.Absolute, whose kink is smoothed over as much.
// Counts are taken to have the largest curvature, that of the largest label, when the noise is planned. Where the labels' mean
// is released λ is the one that minimises the sum for the curvature at that mean, if it is larger, with σ as it was planned. For usual budgets e comes out between a tenth and a third of ε or μ. Under a pure budget σ² is the variance
// of Laplace noise, 8C²d/ε_b². The solver
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
	around := p.Radius == 0
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
	schedule, err := o.schedule(c.Lambda, p.Loss, b, around)
	if err != nil {
		return nil, err
	}
	c.Clip, c.Lambda = o.clip, o.lambda
	plan, err := planScore(c, s, p, b, schedule, o.run)
	if err != nil {
		return nil, err
	}
	plan.asks.starts = s.begun && b.pure
	plan.ledger = ofPersons(plan.ledger, s)
	plan.Ledger = plan.ledger
	return plan, nil
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
	trained    losses.Loss
	shape      Shape
	typical    estimate.Typical
	clip       float64 // bound on a row's gradient norm
	smoothness float64 // of a row's loss in its weights, HX²
	lambda     float64
	given      bool // whether λ is the caller's
	law        objectiveLaw
	start      *start // the centre or, where predictions are released, too, beside it; nil where none is released here
}

// schedule plans the releases. Under a pure budget the minimiser is around the constant model, unless the
// caller's ball is around 0. Under others, where the loss has another link than the identity, the means of labels and of predictions
// are released beside it, which is around 0 but for amounts, whose 0 depends on their unit.
func (o *objective) schedule(lambda float64, l losses.Loss, b Budget, around bool) (*release.Schedule, error) {
	s, rest := o.shape, b
	beside := !b.pure && losses.LinkOf(l) != losses.Identity
	if (b.pure && around || beside) && s.Intercept && !s.begun {
		var err error
		models := 1
		if beside {
			models = 0 // λ, which grows with the noise, draws to the constant model by itself
		}
		if o.start, err = newStart(s, l, b, 1, s.Dim, models); err != nil {
			return nil, err
		}
		if b.pure {
			rest = o.start.rest
		} else if err := o.start.half(); err != nil {
			return nil, err
		}
	}
	err := o.calibrate(lambda, rest)
	if err != nil && o.start != nil && !b.pure { // means leave too little to a λ that is given
		o.start = nil
		err = o.calibrate(lambda, rest)
	}
	if err != nil {
		return nil, err
	}
	schedule, err := o.law.schedule(s.Dim)
	switch {
	case err != nil || o.start == nil:
		return schedule, err
	case b.pure:
		return release.Sequential(objectiveLabel+", around the constant model", o.start.around(schedule)...)
	}
	return release.Sequential(objectiveLabel+", beside means", o.start.around(schedule)...)
}

// clipped is the default clip over what most rows' gradients at w = 0 measure.
const clipped = 0.8

// newObjective plans for rows of which only bounds are known. The clip 0 stands
// for its default.
func newObjective(s Shape, p Problem, clip float64) *objective {
	z := s.FeatureBound * p.Radius
	t := estimate.TypicalOf(p.Loss, s.FeatureBound, s.LabelBound)
	o := &objective{trained: smooth.Everywhere(p.Loss, z, s.LabelBound, s.exposed()), shape: s, typical: t, clip: clip}
	if clip == 0 {
		o.clip = clipped * t.Row * p.Loss.Constants(0, t.Label).Slope
		if p.Loss.Labels() == losses.Binary {
			// What is shortened of one class more than of the other moves the mean.
			o.clip = s.FeatureBound * p.Loss.Constants(0, 0).Slope
		}
	}
	k := o.trained.Constants(check.Everywhere, s.LabelBound)
	if o.clip >= NoClip && math.IsInf(k.Lipschitz, 1) {
		o.trained = losses.Extended{Inner: o.trained, Limit: z}
		k = o.trained.Constants(check.Everywhere, s.LabelBound)
	}
	o.clip = math.Min(o.clip, s.FeatureBound*k.Lipschitz*o.room())
	o.smoothness = k.Smoothness * s.FeatureBound * s.FeatureBound * o.room() * o.room()
	return o
}

// letGo lets the default clip grow as data and a budget of about μ-GDP drown the noise,
// which then still falls as the root of n·μ.
func (o *objective) letGo(mu float64) {
	s := o.shape
	o.clip *= math.Max(1, lettingGo(s, mu))
	k := o.trained.Constants(check.Everywhere, s.LabelBound)
	o.clip = math.Min(o.clip, s.FeatureBound*k.Lipschitz*o.room())
}

// room is by how much rounding may lengthen a row or a clipped gradient: the slack
// of package rows.
func (o *objective) room() float64 {
	return 1 + math.Ldexp(float64(o.shape.Dim)+16, -50)*curator.MaxOffset
}

// outputShare is the part of the budget's μ that the output noise has. As squares
// add, it costs half a percent of the other noise. Of a pure budget it is the part of ε, which adds, so that less is had.
const (
	outputShare     = 0.1
	pureOutputShare = 0.01
)

// calibrate sets λ, where none is given, and the law of the minimiser.
func (o *objective) calibrate(lambda float64, b Budget) error {
	for _, v := range []float64{o.clip, o.smoothness} {
		if !(v > 0 && v <= check.MaxScale/2) {
			return check.Fail(ErrBound, "feature bound", o.shape.FeatureBound, fmt.Sprintf("must be so small that the clip, %g, and the curvature of a row's loss, %g, are positive and at most %g", o.clip, o.smoothness, check.MaxScale/2))
		}
	}
	if b.pure {
		return o.calibratePure(lambda, b)
	}
	mu, err := b.gdp()
	if err != nil {
		return err
	}
	law := gaussianTerm{OutputMu: outputShare * mu}
	o.law = law
	law.LogDet = o.logDet(lambda)
	if lambda == 0 {
		law.LogDet = o.predict(b, mu, law.OutputMu)
	}
	for range 5 {
		law.Ratio, err = b.objectiveRatio(mechanisms.ObjectivePerturbation(o.composed(law)), o.shape.Dim)
		if err == nil || lambda != 0 {
			break
		}
		law.LogDet /= 4 // the prediction was too bold for this budget
	}
	if err != nil {
		return err
	}
	o.law = law
	return o.settle(lambda, law.LogDet)
}

// composed is the law with the Gaussian releases before and after it counted as output noise, whose squares of μ add.
func (o *objective) composed(law gaussianTerm) gaussianTerm {
	if o.start != nil {
		law.OutputMu = math.Hypot(law.OutputMu, o.start.mu) * (1 + poolRoom)
	}
	return law
}

// calibratePure is calibrate for a pure budget, whose ε the determinant, the linear term and the
// output noise share.
func (o *objective) calibratePure(lambda float64, b Budget) error {
	whole, err := b.pureEpsilon()
	if err != nil {
		return err
	}
	law := laplaceTerm{OutputEpsilon: pureOutputShare * whole, LogDet: o.logDet(lambda)}
	left := (whole - law.OutputEpsilon) * (1 - splitRoom)
	o.law = law
	if lambda == 0 {
		law.LogDet = o.least(left, func(logDet float64) (objectiveLaw, error) {
			return laplaceTerm{Epsilon: left - logDet, OutputEpsilon: law.OutputEpsilon}, nil
		})
	}
	if law.Epsilon = left - law.LogDet; !(law.Epsilon > 0) {
		return check.Fail(ErrBudget, "epsilon", b.epsilon, fmt.Sprintf("must be larger: λ = %g takes %.3g of it, and nothing is left for noise", lambda, law.LogDet))
	}
	o.law = law
	return o.settle(lambda, law.LogDet)
}

// settle sets λ where none was given, and sees to it that there is noise of the law's scale.
func (o *objective) settle(lambda, logDet float64) error {
	if o.lambda, o.given = lambda, lambda != 0; lambda == 0 {
		o.lambda = o.lambdaOf(logDet)
	}
	_, norm, err := o.law.noise(o.clip*o.room(), o.shape.Dim)
	if err != nil {
		return err
	}
	moves := o.moves(o.lambda, norm)
	if most := math.Max(release.L1(moves, o.shape.Dim), o.law.out(moves, o.shape.Dim)); !(most <= check.MaxScale) {
		return check.Fail(ErrConfig, "Lambda", o.lambda, fmt.Sprintf("must be so large that the minimiser moves by at most %g and has noise of no more, not %.3g", check.MaxScale, most))
	}
	return nil
}

// logDet is the log-determinant at λ, rounded up.
func (o *objective) logDet(lambda float64) float64 {
	return math.Log1p(o.smoothness/lambda) * (1 + 1e-15)
}

// objectiveLaw is the law of the linear term and of the output noise.
type objectiveLaw interface {
	schedule(dim int) (*release.Schedule, error)
	// noise is the standard deviation of the linear term's coordinates where gradients are at most
	// clip long, and a norm that it hardly ever has.
	noise(clip float64, dim int) (sd, norm float64, err error)
	// out is the standard deviation of the output noise's coordinates where a minimiser moves by moves.
	out(moves float64, dim int) float64
}

// gaussianTerm is that of Gaussian noise.
type gaussianTerm mechanisms.ObjectivePerturbation

const objectiveLabel = "objective perturbation"

func (t gaussianTerm) schedule(dim int) (*release.Schedule, error) {
	return release.Objective(objectiveLabel, mechanisms.ObjectivePerturbation(t), dim)
}

func (t gaussianTerm) noise(clip float64, dim int) (sd, norm float64, err error) {
	sigma, err := mechanisms.Gaussian{Mu: t.Ratio}.Sigma(clip, dim)
	return sigma, release.GaussianNormBound(sigma, dim), err
}

func (t gaussianTerm) out(moves float64, dim int) float64 { return moves / t.OutputMu }

// laplaceTerm is that of Laplace noise.
type laplaceTerm mechanisms.PureObjectivePerturbation

func (t laplaceTerm) schedule(dim int) (*release.Schedule, error) {
	return release.PureObjective(objectiveLabel, mechanisms.PureObjectivePerturbation(t), dim)
}

func (t laplaceTerm) noise(clip float64, dim int) (sd, norm float64, err error) {
	scale, err := mechanisms.Laplace{Epsilon: t.Epsilon}.Scale(release.L1(2*clip, dim), dim)
	return math.Sqrt2 * scale, release.LaplaceNormBound(scale, dim), err
}

func (t laplaceTerm) out(moves float64, dim int) float64 {
	return math.Sqrt2 * release.L1(moves, dim) / t.OutputEpsilon
}

// lambdaOf is the λ at which the log-determinant is at most the given one.
func (o *objective) lambdaOf(logDet float64) float64 {
	return o.smoothness / math.Expm1(logDet) * (1 + 1e-12)
}

// predict returns the log-determinant with the lowest predicted risk, for a budget
// that as a whole is about μ-GDP, beside output noise of the given μ and the start's releases.
func (o *objective) predict(b Budget, mu, gaussian float64) float64 {
	whole := b.epsilon / (float64(b.parts) * float64(b.group))
	if b.inMu() {
		whole = mu
	}
	return o.least(whole, func(logDet float64) (objectiveLaw, error) {
		law := gaussianTerm{OutputMu: gaussian}
		var err error
		law.Ratio, err = o.ratioBeside(logDet, b, mu, o.composed(law).OutputMu)
		return law, err
	})
}

// least is the log-determinant with the lowest predicted risk, of those that leave something of the whole to
// the linear term, whose law beside it is given.
func (o *objective) least(whole float64, beside func(logDet float64) (objectiveLaw, error)) float64 {
	least, best := math.Inf(1), math.Ln2
	for logDet := 1e-6 * math.Min(whole, 1); logDet < math.Min(0.95*whole, 10); logDet *= lambdaStep {
		law, err := beside(logDet)
		if err != nil { // nothing is left
			break
		}
		sd, norm, err := law.noise(o.clip, o.shape.Dim)
		if err != nil {
			break
		}
		lambda := o.lambdaOf(logDet)
		if risk := o.risk(o.curvature(), lambda, sd, o.outputNoise(law, lambda, norm)); risk < least {
			least, best = risk, logDet
		}
	}
	return best
}

// errNothingLeft is why no ratio is had beside other releases.
var errNothingLeft = errors.New("dpglm: nothing is left")

// ratioBeside is about the ratio that is left beside a log-determinant. In μ it is
// exact, and quickly found; in (ε, δ) log-determinants add, Gaussians compose, and half
// of δ is for each half of a normal law (see mechanisms.ObjectivePerturbation).
func (o *objective) ratioBeside(logDet float64, b Budget, mu, gaussian float64) (float64, error) {
	if b.inMu() {
		return accounting.Objective{LogDet: logDet, OutputMu: gaussian, Dim: o.shape.Dim, Releases: 1}.RatioForGDP(mu)
	}
	parts, group := float64(b.parts), float64(b.group)
	both, err := mechanisms.GaussianMu(b.epsilon-logDet*parts*group, b.delta/2)
	if both /= math.Sqrt(parts) * group; err == nil && !(both > gaussian) {
		err = errNothingLeft
	}
	return math.Sqrt(float64(both*both)-float64(gaussian*gaussian)) / 2, err
}

// curvature is what a row's loss has under typical scores, as far as is known beforehand.
func (o *objective) curvature() float64 {
	curvature := o.smoothness / (o.shape.FeatureBound * o.shape.FeatureBound)
	if o.trained.Labels() == losses.Binary {
		curvature *= 0.6 // the largest is at score 0
	}
	return curvature
}

// lambdaStep is the factor between values of λ that are tried: the risk is flat at its least.
const lambdaStep = 1.1

// lambdaAt is λ, or a larger one where the labels' mean, which was released, tells that the loss of counts has less curvature than
// was taken for likely when the noise was planned, which would lead further then. (Of two classes, whose scores lie further apart where one is rare, λ is worth more as
// it is.) The determinant is closer to 1 than what is declared for it.
func (o *objective) lambdaAt(r *run) float64 {
	second, ok := losses.CurvatureOf(o.trained)
	if o.given || r.start == nil || o.trained.Labels() != losses.Count || !ok {
		return o.lambda
	}
	z := r.start.score + r.start.shifted // of a typical row
	curvature := second(z, losses.LinkOf(o.trained).Mean(z))
	sd, norm, err := o.law.noise(o.clip*o.room(), o.shape.Dim)
	if err != nil || !(curvature < o.curvature()) {
		return o.lambda
	}
	risk := func(lambda float64) float64 { return o.risk(curvature, lambda, sd, o.outputNoise(o.law, lambda, norm)) }
	lambda := o.lambda
	for risk(lambdaStep*lambda) < risk(lambda) {
		lambda *= lambdaStep
	}
	return lambda
}

// risk is the sum in the comment of ObjectivePerturbation.
func (o *objective) risk(curvature, lambda, sigma, out float64) float64 {
	d, r := float64(o.shape.Dim), o.typical.Row
	trace := curvature * r * r * float64(o.shape.Rows)
	first := trace / (math.Log(d) + 0.58) // over the sum of 1/j
	spread := lambda*lambda*o.typical.Variance/(r*r) + sigma*sigma
	risk := trace * out * out
	for j := 1.0; j <= d; {
		h, terms := first/j, math.Max(1, math.Floor(j/1000)) // beyond 2000 several that differ little
		risk += math.Min(terms, d-j+1) * h * spread / ((h + lambda) * (h + lambda))
		j += terms
	}
	return risk
}

// outputNoise predicts the output noise's standard deviation.
func (o *objective) outputNoise(law objectiveLaw, lambda, normBound float64) float64 {
	return law.out(o.moves(lambda, normBound), o.shape.Dim)
}

// moves predicts how far the computed minimiser moves, by the rounding error
// of a gradient at the largest ‖θ‖, raw terms being four times as large as the rows.
func (o *objective) moves(lambda, normBound float64) float64 {
	n, d := float64(o.shape.Rows), float64(o.shape.Dim)
	radius := 2 * curator.WeightBound(o.trained, o.shape.LabelBound, o.shape.largestOffset(), o.shape.Rows, o.shape.FeatureBound, o.clip, lambda, normBound)
	rounding := 4 * n * o.smoothness * 0x1p-53 * (d + 8) * radius
	return 16 * math.Max(rounding, 1e-9*o.clip) / lambda
}

// run releases the start, if there is one, and the minimiser.
func (o *objective) run(r *run) ([]float64, error) {
	return o.start.run(r, func(r *run, part func() (*release.Allowance, error)) ([]float64, error) {
		allow := r.allow
		if o.start != nil {
			var err error
			if allow, err = part(); err != nil {
				return nil, err
			}
		}
		w, err := o.train(r, r.data, allow)
		if err == nil {
			err = o.start.recalibrate(r, w, part)
		}
		if err == nil {
			r.progress(1, 1) // how many steps the solver took is not public
		}
		return w, err
	})
}

// train releases the minimiser.
func (o *objective) train(r *run, d *curator.Data, allow *release.Allowance) ([]float64, error) {
	sums, err := d.Under(o.trained)
	if err != nil {
		return nil, err
	}
	var centre []float64
	if o.start == nil || o.start.last == nil || o.trained.Labels() == losses.Amount {
		centre = r.centre(sums.Dim())
	}
	minimand, err := sums.Objective(centre, o.clip, o.lambdaAt(r))
	if err != nil {
		return nil, err
	}
	return allow.Minimise(r.ctx, minimand)
}
