package dpglm

import (
	"context"
	"fmt"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/infer"
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
// in the joint information of thresholds and the scale of scores, and what the noise of the counts adds.
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
// A coefficient has an infinite standard error where the data, under this much noise,
// don't determine it: one of a direction in which the released Hessian doesn't stand out
// of its noise, as are all levels of a group beside an intercept, whatever n is, and one
// to whose error such a direction may add more than half of what all else does. Others
// keep their intervals. With n·μ too small for second moments nothing is determined, which
// the plan's Note tells beforehand, and the model is that of [StandardisedGD]. Where noise turns
// out to hide everything, the model is the pilot below, which is what [Auto] makes of a part of the
// budget; [Inference.Note] says so, and what number of rows or budget would do. Nor is anything
// for counts and amounts whose scores may be off by more than some .4, for classes by 2; for
// classes whose gradients vary by far less than the likelihood says, as the rarer one is then
// hidden in the noise, or whose scores differ by more than 3, as features then all but tell the
// class and the minimum is far out; or for the squared loss where predictions have another mean
// than labels, as those that lie far from others are hidden then.
//
// Intervals are wrong where few rows, lying far from all others, carry much of a coefficient's
// information, and noise hides them in a histogram of gradients, which are clipped: 30/μ to 50/μ
// rows, some 130 to 210 at ε = 1 and δ = 1e-6. Rows of rare levels, among which those of the rarer
// class are such few, are kept short instead, so that mostly the level's own interval alone is
// wider: twice as wide as without privacy at ε = 1 where 1,000 rows of 50,000 have a level and 80
// of these are of the other class. Where noise hides a level others may be undetermined too: some
// three in ten where 60 rows of 30,000 have it at μ = 1, and of real labels one in six where 150 of
// 15,000 do, beside a column with a long tail, at ε = 2. Levels are those that facts
// tell of, a [Schema]'s OneHot or those of a table: not a column of 0 and 1 that is declared as a
// number, whose coefficient would be 3 instead of 1.5 where 1,000 rows have it. With no more than
// two features beside it some four in five intervals of such a level hold. And intervals say nothing about choices among several fits.
//
// # Method
//
//  1. A pilot: the first stage of [StandardisedGD] with a quarter of μ² at most, after two
//     rounds of second moments where they promise something. Rows of rare levels are kept short
//     for all losses: to min(√(d+1), 3) on average in what gradients and the Hessian at the pilot
//     are released in, which is H̃ of real labels whose moments are known, to 1.5√d in what another
//     Hessian is, and to more as noise fades.
//  2. The Hessian at the pilot, for coordinates in which it is round. In these H̃, the Hessian
//     per row, again, after the first step of 3 where it depends on the point; and a wide clip C
//     from a histogram of gradient norms: a law of their tail, rows·exp(−(t/s)^p), is fitted to
//     the counts of the largest, and C makes privacy noise and what is cut off small together.
//     Where cells far above that law hold more rows than noise makes likely, the histogram is
//     released once more, and the mean of both counts.
//     For real labels a histogram of residuals tells whether those on one side are longer.
//     The Hessians' shares of μ² are such that their noise is a fifth of the curvature, but
//     at most 6 and 25 %.
//  3. Three times g̃, the sum of gradients clipped to C, at points that begin at the pilot
//     and move to the mean of the estimates so far, shortened by James and Stein's rule.
//     Of counts the first of these ways is shortened where means grow. Under a log link the
//     Hessian is taken to change with the mean along the intercept, by which each way has its
//     own, and the covariance that at the result.
//     What C cuts off, whose length the law tells, is added to g̃ in the direction that
//     large gradients of the loss mostly have: for counts and the rarer of two classes that
//     of the intercept, for classes and the Poisson loss that of the weights too, and for
//     residuals that are longer on one side both.
//     An estimate is u − H̃⁻¹g̃/n; the result is their mean, in which one from far off
//     counts less.
//  4. J̃, the sum of products ggᵀ of clipped gradients, at the last point.
//
// The covariance is
//
//	H̃⁻¹(J̃₊/n + σ_g²·I + B)H̃⁻¹ + E[H̃⁻¹N·e·eᵀ·N·H̃⁻¹] + bow²·H̃⁻¹
//
// J̃₊ being J̃ moved towards a multiple of H̃ by James and Stein's rule and then without
// negative eigenvalues, B the square of what the clip may cut off beside that, most of it along
// the intercept and along the weights, N the noise of H̃ and e how far the points were from
// the result: a point's error is not undone where H̃ is off; and bow² what steps may miss as
// the Hessian changes on their way. Standard errors are longer than its diagonal by a factor
// that makes up, to second order in the noise of H̃ and J̃, whose law is known, for the
// coverage that it costs.
//
// # Privacy
//
// Replace-one. As for [StandardisedGD]: all releases are Gaussian, from one pool of μ, each
// with a share of μ² that may depend on earlier results. Beside its releases there are a
// histogram of residuals, of sensitivity √2 as others, and the sums of the gradients'
// products, of sensitivity √2·C² (‖ggᵀ − hhᵀ‖ ≤ √2·C² for gradients of norm at most C). All
// else follows from what was released and from public facts.
//
// # Parameters
//
// x is n×d, d at most 1000. It makes at most 59 passes over the rows; O(n·d²) flops for moments, the Hessian and products, and O(d³) for
// eigenvectors. The ball does not bind: nothing depends on Problem.Radius.
func Infer(ctx context.Context, d *Dataset, p Problem, b Budget, cfg InferConfig, env *Env) (*Inference, error) {
	if err := d.whole(ctx, p); err != nil {
		return nil, err
	}
	plan, err := cfg.Plan(d.Shape(), p, b)
	if err != nil {
		return nil, err
	}
	var found *infer.Law
	model, err := plan.observed(ctx, d, env, func(l *infer.Law) { found = l })
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

// Plan calibrates the pool, and its Note says so where nothing will be determined, or much
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
	if !infer.Suits(p.Loss) {
		return nil, check.Fail(ErrConfig, "Problem.Loss", p.Loss.Name(), "must be losses.Squared, Logistic, Probit, Poisson, NegativeBinomial, Gamma or Ordinal")
	}
	if d := s.features(); d > estimate.MostFeatures {
		return nil, check.Fail(ErrShape, "columns", d, "must be at most 1000: second moments are released")
	}
	o, err := newStandardised(s, p, b, s.Dim)
	if err != nil {
		return nil, err
	}
	inference := &inference{o, infer.Problem{Estimate: o.estimate, Confidence: c.Confidence}}
	// An inference makes up to 57 passes, and a pilot that turns back two before a descent's 57.
	plan, err := o.plan(c, "inference", b, 59, inference.train)
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
	if o.pool.unknown == 0 {
		w, law, err = o.problem.Fit(r.task())
	} else {
		w, theta, err = o.pool.ordered(r).Before(r.task(), func(p estimate.Problem, d ordinal.Doubt, t estimate.Task) (w []float64, err error) {
			w, law, err = infer.Problem{Estimate: p, Confidence: o.problem.Confidence, Doubt: d}.Fit(t)
			return w, err
		})
	}
	if law != nil && r.observe != nil && err == nil {
		r.observe(law)
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
	o, err := newStandardised(s, p, b, s.Dim)
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
		does = fmt.Sprintf("as %.3g times the %s have, or these with %s", missing, unit, b.times(missing, o.estimate.Mu))
	}
	is := "the estimate of Auto, without intervals, of a part of the budget"
	if !slices.ContainsFunc(m.weights[0][:s.features()], func(w float64) bool { return w != 0 }) {
		is = "the constant one: it says the same of all rows"
	}
	return fmt.Sprintf("Nothing is determined: n·μ is %.3g, and most coefficients have an interval from some %.3g on; %s. The model is %s.", nmu, enough, does, is), nil
}
