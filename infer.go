package dpglm

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/labelsonly"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/losses"
)

var _ Learner = InferConfig{}

// InferConfig is the Learner of Infer.
type InferConfig struct {
	// Confidence is the confidence level of the intervals, at least 0.5 and below 1; 0 means 0.95.
	Confidence float64 `json:"confidence"`
}

// Infer fits a model and tells how far its coefficients can be trusted: an estimate, a
// standard error, a confidence interval and a p value for each, in the units of the raw
// columns, and tests of several together. The loss is losses.Squared, Logistic, Probit,
// Poisson, NegativeBinomial, Gamma or Ordinal.
//
// Errors are those of [InferConfig.Plan], before anything is released, and of [Plan.Run].
//
// Thresholds of losses.Ordinal that aren't given are estimated first, as [StandardisedGD] does but for the
// last step. The covariance then has, along the weights and for the intercept, what these have less
// in the joint information of thresholds and the scale of scores, and what the noise of the counts adds. They have
// intervals themselves ([Inference.Thresholds]).
//
// # What an interval covers
//
// The coefficients that minimise the expected loss in the population that the rows were
// drawn from, independently, after each is held to its public bounds: numeric columns and
// labels clamped to their ranges, rows to the bound on their norm, the Poisson loss
// continued linearly above the largest count, and the gamma loss where an amount is more than
// Ratio times the mean, which is the largest amount over Least unless it is given. No model
// needs to be true for that, nor errors to have one variance: standard errors are sandwiches. They hold sampling and
// privacy noise together; without privacy they would be those that statistics packages
// call robust (HC0).
//
// Where rows are shortened (see Method) the estimate is that of a weighted sum of the losses, whose minimiser is
// the same where labels have the mean that the model says. Where they don't, an interval allows for .15 of
// the part of curvature that rows lost, along each direction, in coordinates in which rows are round. If that
// is more than half of a coefficient's variance its Mark says so: it rests on rows far from most others.
//
// Columns whose ranges are so wide that noise hides their variance have scores that the other coefficients lack: of classes these
// are nearer to 0 then, and the intercept of a log link is larger. Intervals allow for scores as large, for each column that has a range other
// than 0 to 1, as those along a direction that is determined. How far such a column's mean is from 0, by what it varies, isn't known, so
// that the intercept, the score where columns are 0, has a Mark.
//
// What a clip cuts off of skewed labels, or of persons with many rows, lies to one side. The intercept's interval allows for what the law of the longest gradients
// says of it, and for as many rows beyond as a standard deviation of noise hides.
//
// A coefficient has an infinite standard error where the data, under this much noise,
// don't determine it: one of a direction in which the released Hessian doesn't stand out
// of its noise, as are all levels of a group beside an intercept, whatever n is, and one
// to whose error such a direction may add more than half of what all else does. Others
// keep their intervals. With n·μ too small for second moments nothing is determined, which
// the plan's Note tells beforehand, and the model is that of [StandardisedGD]. Where noise turns
// out to hide everything, the model is the pilot below, which is what [Auto] makes of a part of the
// budget; [Inference.Note] says so, and what number of rows or budget would do. Nor is anything
// for counts and amounts whose scores may be off by more than some .4, for classes by 2; or for
// classes whose scores differ by more than 3, as features then all but tell the
// class and the minimum is far out; or for the squared loss where predictions have another mean
// than labels, as those that lie far from others are hidden then.
//
// Some intervals are wrong, and nothing tells which. Of problems drawn at random
// (docs/INFERENCE.md) one in ten has such; most are real labels and counts whose model is far from their law where
// few rows lie ten times as far out as others; coefficients that rest on few rows of few thousand; and
// intercepts where the columns' ranges are far too wide. Intervals say nothing about choices among several fits.
//
// # Method
//
//  1. A pilot: the first stage of [StandardisedGD] with a quarter of μ² at most, after two
//     rounds of second moments where they promise something.
//  2. The Hessian at the pilot, for coordinates in which it is round. Rows of rare levels are kept short in
//     them, to 1.5√d on average.
//  3. A clip C of gradients. A row counts w = min(1, C/(ℓ·‖x̃‖)), ℓ being how large |φ'| is likely to be at the
//     row's score, whatever its label is. That depends on its features and the point
//     alone, so that where labels have the mean that the model says the estimate tends to the same
//     minimiser: bounded-influence estimates of the kind of
//     Künsch, Stefanski and Carroll (1989) and Cantoni and Ronchetti (2001). For two classes and levels
//     ℓ is the largest |φ'| of any label's, and nothing is left to clip: C follows from a
//     histogram of ℓ·‖x̃‖, and makes the product of the variances along all directions least, noise growing
//     with C, and rows that count less telling less. For others ℓ is two standard deviations, and C
//     follows from a histogram of gradients' norms: a law of their tail, rows·exp(−(t/s)^p), is fitted to the
//     counts of the largest, and C makes privacy noise and .6 of what is cut off small together.
//     Where noise is so small that single rows are seen, C is an edge that no gradient exceeds, and w = 1; a second histogram has
//     edges below the first one's if all are shorter than these.
//  4. Four times g̃, the sum of the gradients so bounded, with shares as 1, 2, 3 and 4, at points that begin at
//     the pilot and move to the mean of the estimates so far, shortened by James and Stein's rule.
//     Of counts the first of these ways is shortened where means grow. H̃, the Hessian
//     per row, in which rows count w too, is released after the second of them, or before where it doesn't
//     depend on the point. The Hessians' shares of μ² are such that their noise is a fifth of the
//     curvature, but at most 6 and 25 %. Under a log link the
//     Hessian is taken to change with the mean along the intercept, by which each way has its
//     own, and the covariance that at the result.
//     An estimate is u − H̃⁻¹g̃/n; the result is their mean, in which one from far off
//     counts less. It is the pilot along directions in which H̃ has less than half of the curvature that coordinates were made for and, of what its bound on each
//     row cut off, were it spread evenly, more than is seen: steps may be too long by any factor there.
//  5. J̃, the sum of products ggᵀ of gradients so bounded, at the last point.
//  6. Of two classes a histogram of scores at the result, for [Inference.MarginalEffects].
//
// The covariance is
//
//	H̃⁻¹(J̃₊/n + σ_g²·I + B)H̃⁻¹ + E[H̃⁻¹N·e·eᵀ·N·H̃⁻¹] + bow²·H̃⁻¹ + M
//
// J̃₊ being J̃ moved towards a multiple of H̃ by James and Stein's rule and then without
// negative eigenvalues, B the square of what C may cut off: .6 of it along any direction, all of it along
// the intercept; N the noise of H̃ and e how far the points were from
// the result: a point's error is not undone where H̃ is off; bow² what steps may miss as
// the Hessian changes on their way; and M the square of .15 of what rows lost. An error over the root of its
// diagonal has Student's law, with degrees of freedom by Satterthwaite's rule for the noise of H̃ and J̃, whose law
// is known: standard errors don't depend on the level of confidence.
//
// # Privacy
//
// Replace-one. As for [StandardisedGD]: all releases are Gaussian, from one pool of μ, each
// with a share of μ² that may depend on earlier results. Beside its releases there are
// histograms of gradients' norms or of ℓ·‖x̃‖, and of scores, of sensitivity √2 as others, and the sums of the gradients'
// products, of sensitivity √2·C² (‖ggᵀ − hhᵀ‖ ≤ √2·C² for gradients of norm at most C). A row's factor w is a
// function of that row and of earlier releases, and whatever it is gradients are clipped to C afterwards. All
// else follows from what was released and from public facts.
//
// Under [Budget.LabelsOnly], of two classes, real labels and counts, releases are those of [StandardisedGD] there, and products of slopes of rows that
// are cut to a norm K, of sensitivity √2·(BK)²; intervals come of a step of Newton's from its estimate, and the Hessian is exact.
//
// # Parameters
//
// x is n×d, d at most 1000. It makes at most 59 passes over the rows; O(n·d²) flops for moments, the Hessian and products, and O(d³) for
// eigenvectors. The ball does not bind: nothing depends on Problem.Radius.
func Infer(ctx context.Context, d *Dataset, p Problem, b Budget, cfg InferConfig, env *Env) (*Inference, error) {
	if err := d.given(ctx, p); err != nil {
		return nil, err
	}
	if p.Classes > 0 {
		return nil, check.Fail(ErrConfig, "Problem.Classes", p.Classes, "must be 0; InferClasses is for several")
	}
	plan, err := cfg.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	var found *infer.Law
	model, err := plan.observed(ctx, d, env, func(_ int, l *infer.Law) { found = l })
	if err != nil {
		return nil, err
	}
	f, err := newInference(model, plan.Learner.(InferConfig).Confidence, b.String(), d.Shape().Rows, found)
	if err != nil || found != nil {
		return f, err
	}
	f.note, err = nothing(model, d.Shape(), p, b)
	return f, err
}

// Plan calibrates the pool, or those of several classes, and its Note says so where nothing will be determined, or much
// may not be. The plan's Run returns the model alone. It fails, by an [ArgumentError], where
// the shape, the problem, the budget or a parameter breaks its rule.
func (c InferConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if c.Confidence == 0 {
		c.Confidence = 0.95
	}
	if !(c.Confidence >= 0.5 && c.Confidence <= 1-1e-9) {
		return nil, check.Fail(ErrConfig, "InferConfig.Confidence", c.Confidence, "must be at least 0.5 and below 1")
	}
	if err := losses.Validate(p.Loss, 0, s.LabelBound); err != nil {
		return nil, err
	}
	if p.Classes > 0 {
		return c.planClasses(s, p, b)
	}
	if !infer.Suits(p.Loss) {
		return nil, check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must be losses.Squared, Logistic, Probit, Poisson, NegativeBinomial, Gamma or Ordinal")
	}
	if d := s.features(); d > estimate.MostFeatures {
		return nil, check.Fail(ErrShape, "columns", d, "must be at most 1000: second moments are released")
	}
	o, err := newStandardised(s, p, b, infer.Coordinates(s.Dim, p.Loss))
	if err != nil {
		return nil, err
	}
	inference := &inference{o, infer.Problem{Estimate: o.estimate}}
	// An inference makes up to 59 passes, and a pilot that turns back two before a descent's 57.
	plan, err := o.plan(c, "inference", b, o.passes(59), inference.train)
	if err != nil {
		return nil, err
	}
	plan.Note = inference.note()
	return plan, nil
}

// inference is a planned one, by internal/infer.
type inference struct {
	pool    *standardised
	problem infer.Problem
}

// train releases a pilot, and what the steps and the covariance need.
func (o *inference) train(r *run) (*fitted, error) {
	var w, theta []float64
	var law *infer.Law
	var err error
	switch {
	case o.pool.labels && curator.ReadHere(r.data):
		w, law, err = labelsonly.Infer(o.pool.estimate, r.task())
	case o.pool.unknown == 0:
		w, law, err = o.problem.Fit(r.task())
	default:
		r := r.byRows()
		w, theta, err = o.pool.ordered(r).Before(r.task(), func(p estimate.Problem, d ordinal.Doubt, t estimate.Task) (w []float64, err error) {
			w, law, err = infer.Problem{Estimate: p, Doubt: d}.Fit(t)
			return w, err
		})
	}
	if law != nil && r.observe != nil && err == nil {
		r.observe(0, law)
	}
	return o.pool.fitted(w, theta), err
}

// note says what public numbers tell of the intervals: on real tables most coefficients have
// one from an n·μ of some 250 a feature on.
func (o *inference) note() string {
	nmu, enough := o.problem.Estimate.NMu(), float64(250*o.pool.shape.features())
	few := "some coefficients may have no interval"
	switch {
	case o.problem.Futile():
		few = "no coefficient will have an interval"
	case nmu >= enough:
		return ""
	}
	return fmt.Sprintf("%s: n·μ is %.3g, and most have one from some %.3g on", few, nmu, enough)
}

// nothing says that nothing was determined, what would do, and what the model is.
func nothing(m *Model, s Shape, p Problem, b Budget) (string, error) {
	o, err := newStandardised(s, p, b, infer.Coordinates(s.Dim, p.Loss))
	if err != nil {
		return "", err
	}
	nmu, enough := o.estimate.NMu(), float64(250*s.features())
	does := "here not even that much is enough: more rows, a larger budget or fewer columns may be"
	if missing := enough / nmu; missing > 1 {
		unit := "rows"
		if s.PersonRows > 0 {
			unit = "persons"
		}
		does = fmt.Sprintf("as %.3g times the %s have, or these with %s", missing, unit, b.times(missing, o.mu))
	}
	is := "the estimate of Auto, without intervals, of a part of the budget"
	if !slices.ContainsFunc(m.weights[0][:s.features()], func(w float64) bool { return w != 0 }) {
		is = "the constant one: it says the same of all rows"
	}
	return fmt.Sprintf("Nothing is determined: n·μ is %.3g, and most coefficients have an interval from some %.3g on; %s. The model is %s.", nmu, enough, does, is), nil
}
