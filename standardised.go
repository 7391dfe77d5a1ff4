package dpglm

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/internal/infer"
	"github.com/dpglm/dpglm/internal/labelsonly"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

var _ Learner = StandardisedGDConfig{}

// StandardisedGDConfig is the Learner of StandardisedGD. It has no parameters.
type StandardisedGDConfig struct{}

// StandardisedGD standardises the features privately and descends along noisy clipped
// gradients in the new coordinates, with a clip that lets go as data and budget grow, so
// that the result tends to the minimiser of the loss itself. It estimates: probabilities
// are calibrated and coefficients tend to the non-private ones.
//
//	x̃ = Aᵀ(x − m),   score ⟨u, x̃⟩ + b
//	(u, b) ← (u, b) − η·(Σ clip_C(∇ℓᵢ) + noise)/n + momentum,   u ← u/(1 + ηκh)
//
// It goes through these steps, all of which look only at what was released before:
//
//  1. The labels' mean starts the intercept and says how curved the loss is there. With
//     n·μ below 45 there is nothing else: the constant model, fitted with the whole budget. Where its noise is
//     more than a quarter of the rarer class's fraction, or of counts' mean, its share is doubled until it
//     isn't, up to a fifth of μ²; if it is more than half of it then, the constant model has all there is.
//     For losses of real labels whose slopes have a bound (absolute, quantile, Huber) two histograms of labels less a constant, of 1 % each,
//     tell which is best and how far labels are from it, however wide their range is.
//  2. Features are centred at m, the mean of rows shortened to a norm that at most two fifths exceed, and
//     fewer as noise fades, shortened by James and Stein's rule; and whitened by second moments M of rows
//     shortened so. With noise of deviation σ on M's diagonal, of what is off it eigenvalues λ beyond
//     ρ = √(2d)·σ are held to be √(λ² − ρ²), and others noise. An axis with the eigenvalue v then is scaled by
//     √(n/w), w = max(v, min(v + σ√(2 log d), tr M/5)): coordinates are round where moments stand out of the
//     noise, those of single columns where what is off the diagonal drowns, and of one scale where all does.
//     A second round in the first one's coordinates follows where that one leaves much to the noise.
//     With more than 1000 features M is the diagonal alone, of rows shortened to a norm that nine in ten
//     don't exceed, and v at least .002·n·R².
//     These coordinates make rows of rare levels long, and clips would cut off those of the rarer
//     class among them. For classes A becomes A·S, S = (I + Σ (‖a‖²/L² − 1)·aaᵀ/‖a‖²)^(−½), a being
//     the mean row of each level that is longer than L = min(√(d+1), 3)·max(1, .001·μ√n). Levels
//     are the one-hot columns that the facts tell of.
//  3. Descent: 12 to 33 steps with momentum ½, as long as the curvature at the start allows, or
//     as noise in scores does, which as forecast may have .8 of a slope's deviation; the last half
//     is averaged. Where two released gradients show the loss to be steeper along the step between them
//     than that, by more than two standard deviations of their noise, steps are shorter from there on. The
//     clip comes from histograms of the gradients' norms, at three steps, and may
//     shorten a fraction 40√d_eff/(nμ) of the gradients, at most half the minority's: zero in
//     the limit, where it is an edge that no gradient exceeds. It is at most that of typical gradients
//     times nμ/(25d), or 1; and at least that of typical ones of two classes, and of real labels under a loss whose
//     slopes are larger on one side. For classes and counts the intercept's sum is released unclipped beside the
//     clipped gradients, its bound S scaled to √(C·S/√d_eff), at which noise in all of them comes to
//     the least, but under the probit loss, whose slopes have no bound. Of Poisson counts whose range
//     is far above their mean that sum is of the means that the model says, less the labels' released mean, of a larger share. With more than 1000 features
//     there are 50 steps, noise in scores of others than classes may have .2 of a slope's deviation over the curvature, momentum is up to .9
//     as that allows, and a ridge holds weights as if scores varied by 2, which is nothing where rows are many.
//  4. Where n·μ ≥ 2000·d^1.5 all this is the pilot of an inference, whose steps follow (see [Infer]), for
//     losses that have one. Elsewhere eight more steps along one line follow, from the
//     constant model through the result: of one number 5 % of μ² tell much. The length of scores
//     is the mean of what they say and of what James and Stein's rule says of the forecast noise, each by
//     the inverse of its variance; what p fitted numbers take of the rows' loss, p·Var(φ')/n by Mallows'
//     rule, is given back.
//
// With a Problem.Prior step 3 begins at it, as far as the rows agree: along the line from the constant model through the prior's scores a
// histogram of what these have beside the constant's and eight steps, with (100/nμ)² of μ², 5 % at most and .1 % at least, tell the number k that
// they are to be multiplied by. Beforehand k is 1 ± ½; the result is the mean of both by the inverse of their variances, or 0 if that is
// less. Steps begin at k times the prior's, the ridge holds to that, and the line of step 4 goes from there.
//
// For losses.Ordinal whose thresholds aren't given these are estimated: from how many rows each level
// has, 1 % of μ²; then, with 15 %, by a model of its own, and from how many rows have each level and a
// score of that model in each of 8 to 64 cells, by the largest likelihood of thresholds and the scale
// of scores. All of the above follows with these thresholds, which at last move to where the scores
// that came out make them most likely, by such a histogram again. Each of the two takes 4 to 15 %, the
// more the more levels there are for n·μ. Beside an intercept thresholds have the mean 0. Labels must be
// levels, and offsets there may be none.
//
// Errors are those of the configuration's Plan, before anything is released, and of
// [Plan.Run].
//
// # Privacy
//
// Replace-one. All releases are Gaussian and come from one pool of μ, the budget's: each
// takes a share of μ², which may depend on earlier results, and the shares add up to 1 at
// most: a valid filter (Smith and Thakurta 2022), which package release enforces.
// Sensitivities are: a label's range, or √J for J steps of it; √2 for a histogram; 2R for a sum of rows shortened
// to R; √2·R² for their second moments, and for a Hessian's, √2·C² for products of gradients; 2C for clipped gradients,
// 2√(C² + k²) beside an intercept's slope in ±k, or √(4C² + k²) beside means of counts in [0, k] (curator.Framed). A row is in one cell of a
// histogram of levels and scores, whose edges are public or made of what was released, so that it is
// √2 again; it is asked for as that of [Evaluate]. Everything else follows
// from what was released and from public facts.
//
// Under [Budget.LabelsOnly], of classes, real labels and counts, other releases are made, for neighbours that differ in one label: the sum of
// labels' statistics, held to ±B, of counts about a middle that follows from what was released before, of rows that are cut to a norm K, of the sensitivity 2BK, histograms of them, and the labels' mean
// (internal/labelsonly). A Problem.Prior has no release of its own there: weights have a law about k times the prior's, after its scores were
// shortened to vary by 3 at most, or as much as real labels can, and k, 1 ± ½ beforehand, and the law's variance are those that make the sums
// likeliest; k is 0 where these are likelier if weights have nothing to do with the prior. Along directions in which no
// row varies the model has k times the prior's weights, k being held between 0 and 1.
//
// # Parameters
//
// x is n×d. It makes at most 60 passes over the rows, or 70 with more than 1000 features, and 12 more with a prior; up to 1000 features O(n·d²) flops for moments and
// norms and O(d³) for eigenvectors. The ball does not bind: of
// Problem.Radius the weights don't depend, and only the cap on losses of a [GridSearch] or
// [Boost] around it does. Kinks are smoothed over ½, of real labels over a thirtieth of how far these are from the constant model, or of the label
// bound where noise hides that.
func StandardisedGD(ctx context.Context, d *Dataset, p Problem, b Budget, cfg StandardisedGDConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// Plan calibrates the pool. It fails, by an [ArgumentError], where the shape, the problem, the
// budget or a parameter breaks its rule.
func (c StandardisedGDConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	o, err := newStandardised(s, p, b, s.Dim)
	if err != nil {
		return nil, err
	}
	plan, err := o.plan(c, "standardised GD", b, o.passes(framedPasses), o.train)
	if err == nil {
		plan.Note = o.note()
	}
	return plan, err
}

// named says in the ledger that a run begins at a public model.
func (o *standardised) named(label string) string {
	if o.estimate.Prior != nil {
		return label + ", from a prior"
	}
	return label
}

// passes are those over the rows, at most.
func (o *standardised) passes(dense int) int {
	if o.shape.features() > estimate.MostFeatures {
		dense = widePasses
	}
	if o.estimate.Prior != nil {
		dense += priorPasses
	}
	return dense
}

// note says where no more than the constant model is to be had.
func (o *standardised) note() string {
	if x := o.estimate; x.Hopeless() {
		return fmt.Sprintf("the budget and n suffice for the constant model only: n·μ is %.3g, and more takes %.3g", x.NMu(), tuning.LeastNMu)
	}
	return ""
}

// What a plan says, all of it at most or about.
const (
	framedPasses   = 60  // over the rows
	widePasses     = 70  // of more features than have moments of pairs
	priorPasses    = 12  // more where there is a prior
	passesOfLevels = 12  // of the counts by levels and scores
	mostReleases   = 128 // of the pool
	leastDim       = 64  // of a release, for histograms
	leastJoint     = 4   // steps of the shortest descent
	frameHolds     = 4   // numbers of a row that a frame keeps: norms and factors
	weightRadii    = 64  // weights, as an expectation: nothing holds them to it
)

// standardised is a planned estimate, by internal/estimate.
type standardised struct {
	shape         Shape
	problem       Problem
	estimate      estimate.Problem
	mu            float64 // of the pool
	releases, dim int     // of the pool, at most
	unknown       int     // levels whose thresholds are to be estimated; 0 for none
	labels        bool    // whether labels alone are private, and the estimate is from sums of these
}

// newStandardised checks the arguments and calibrates the pool, whose releases may have the
// given number of coordinates, or those of second moments.
func newStandardised(s Shape, p Problem, b Budget, coordinates int) (*standardised, error) {
	o, err := uncalibrated(s, p, b)
	if err != nil {
		return nil, err
	}
	if o.unknown > 0 {
		coordinates = max(coordinates, evaluate.LevelsSize(o.unknown).Dim)
	}
	return o, o.calibrate(b, coordinates)
}

// uncalibrated checks the arguments.
func uncalibrated(s Shape, p Problem, b Budget) (*standardised, error) {
	if err := p.oneScore(); err != nil {
		return nil, err
	}
	prior, err := p.prior(s)
	if err != nil {
		return nil, err
	}
	public := p.Prior
	p.Prior = nil
	asked, levels := p.Loss, 0
	if l, ok := p.Loss.(losses.Ordinal); ok && l.Estimated() && l.Validate() == nil {
		if s.largestOffset() != 0 {
			return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, where thresholds are to be estimated")
		}
		p.Loss, levels = l.Filled(), l.Levels
	}
	s, err = s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	p, err = p.resolve(s, nearScore)
	if err != nil {
		return nil, err
	}
	o := &standardised{shape: s, problem: p, unknown: levels}
	o.problem.Loss, o.problem.Prior = asked, public
	facts := s.facts()
	if levels > 0 { // which are counted row by row
		facts = facts.ByRows()
	}
	o.estimate = estimate.Problem{Facts: facts, Loss: smooth.Descended(p.Loss, s.LabelBound, s.exposed()), Asked: asked, Fraction: 1, Prior: prior}
	if err := solvable(o.estimate.Loss, s, p, 0); err != nil {
		return nil, err
	}
	o.labels = b.labelsOnly && labelsonly.Suits(o.estimate)
	return o, nil
}

// calibrate plans the pool.
func (o *standardised) calibrate(b Budget, coordinates int) error {
	d := o.shape.features()
	o.releases, o.dim = mostReleases, max(leastDim, coordinates)
	if d > estimate.MostFeatures && o.unknown > 0 { // a model of many steps before that with thresholds
		o.releases *= 2
	}
	if d <= estimate.MostFeatures {
		o.dim = max(o.dim, (d+1)*(d+2)/2)
	}
	each, err := b.gaussian(o.releases, o.dim)
	if err != nil {
		return err
	}
	o.mu = math.Min(each.Mu*math.Sqrt(float64(o.releases))*(1-poolRoom), largestMu)
	o.estimate.Mu = o.estimate.Facts.Mu(o.mu)
	if l, ok := o.estimate.Loss.(losses.CappedPoisson); ok { // a cap lets go as noise fades
		l.Cap *= math.Sqrt(math.Max(1, tuning.LetGo*o.estimate.Mu*math.Sqrt(float64(o.shape.Rows)/l.Cap)))
		o.estimate.Loss = l
	}
	if err := o.checkScales(); err != nil {
		return err
	}
	if least := leastMu * math.Sqrt(float64(o.dim)); o.mu < least { // a release has a ten-thousandth of μ² or more
		return check.Fail(ErrBudget, "mu", o.mu, fmt.Sprintf("must be at least %g for %d coordinates", least, o.dim))
	}
	return nil
}

// plan is that of a learner whose releases come from the pool.
func (o *standardised) plan(l Learner, label string, b Budget, passes int, train func(*run) (*fitted, error)) (*Plan, error) {
	schedule, err := release.Pool(o.named(label), o.mu, o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(l, o.shape, o.problem, b, schedule, train)
	if err != nil {
		return nil, err
	}
	if o.estimate.Hopeless() { // the labels' mean, in which each person counts
		plan.ledger = ofPersons(plan.ledger, o.shape)
		plan.Ledger = plan.ledger
	}
	if o.unknown > 0 {
		passes = 2*passes + passesOfLevels
	}
	if o.labels { // a mode is looked for until it is found
		passes = 0
	}
	plan.weightBound = weightRadii * o.problem.Radius
	plan.Passes, plan.asks.joint, plan.asks.holds = passes, leastJoint, frameHolds
	plan.asksSums(o.releases, o.dim, o.unknown, o.estimate.Loss)
	return plan, nil
}

// largestMu is more than the last digit of a float64 needs: what is beyond isn't spent.
const largestMu = 1e9

const (
	leastMu    = 1e-11 // for one coordinate
	weightRoom = 1e-10 // of what weights may be
	overflow   = 1e200 // what noise is kept below, and above its inverse
)

// checkScales refuses bounds and budgets with which noise would overflow or vanish, or
// weights leave the range of a model's.
func (o *standardised) checkScales() error {
	x, y, mu := o.shape.FeatureBound, math.Max(o.shape.LabelBound, 1), o.mu
	fine := y/x < weightRoom*check.MaxScale*check.MaxScale
	for _, v := range []float64{x * x / mu, y * x / mu, x / mu, y / mu} {
		fine = fine && v > 1/overflow && v < overflow
	}
	if !fine {
		return check.Fail(ErrBound, "feature bound, label bound, mu", [...]float64{x, o.shape.LabelBound, mu}, "must not differ so much that noise or weights could overflow")
	}
	return nil
}

// train releases what the comment of StandardisedGD lists.
func (o *standardised) train(r *run) (*fitted, error) {
	if o.labels && curator.ReadHere(r.data) {
		w, err := labelsonly.Fit(o.estimate, r.task())
		return o.fitted(w, nil), err
	}
	if o.unknown == 0 {
		w, err := infer.Weights(o.estimate, r.task())
		return o.fitted(w, nil), err
	}
	r = r.byRows()
	w, theta, err := o.ordered(r).Fit(r.task())
	return o.fitted(w, theta), err
}

// fitted is what was made: thresholds are those that were estimated, or nil.
func (o *standardised) fitted(w, thresholds []float64) *fitted {
	f := &fitted{weights: [][]float64{w}, loss: o.problem.Loss}
	if thresholds != nil {
		f.loss = losses.Ordinal{Thresholds: thresholds}
	}
	return f
}

// ordered is the problem with thresholds to estimate, of which the counts are those of an
// evaluation of levels.
func (o *standardised) ordered(r *run) ordinal.Ordered {
	return ordinal.Ordered{Problem: o.estimate, Levels: o.unknown, Count: func(w []float64, share float64) (ordinal.Cells, error) {
		return o.count(r, w, share)
	}}
}

// count releases how many rows have each level and a score in each cell, as Evaluate does of levels, with
// a share of μ²; for weights of 0 how many have each level.
func (o *standardised) count(r *run, w []float64, share float64) (c ordinal.Cells, err error) {
	sums, err := r.data.Under(losses.Squared{})
	if err != nil {
		return c, err
	}
	in, err := sums.Frame(r.ctx, curator.Frame{})
	if err != nil {
		return c, err
	}
	at, err := evaluate.NewScore(w, o.shape.Intercept, 0, o.shape.rowBound(), 0)
	if err != nil {
		return c, err
	}
	t := evaluate.Task{Ctx: r.ctx, Allow: r.allow, Mu: o.shape.histograms(o.mu), Rows: o.shape.Rows, Whole: o.shape.whole()}
	rows := evaluate.NewLevelCounts(t, in, o.unknown, at, o.shape.shift(losses.Real))
	if floats.Norm(w[:o.shape.features()], math.Inf(1)) == 0 { // one cell
		c.Scores = []float64{w[len(w)-1]}
		c.Counts, c.Spread, err = rows.Between(share, nil)
		return c, err
	}
	j, err := rows.Joint(share, evaluate.Cells(math.Sqrt(float64(o.shape.Rows)*o.estimate.Mu*math.Sqrt(share)/float64(o.unknown))))
	if err != nil {
		return c, err
	}
	c.Scores = append(c.Scores, j.Edges[0]-j.Beyond)
	for k := 1; k < len(j.Edges); k++ {
		c.Scores = append(c.Scores, (j.Edges[k-1]+j.Edges[k])/2)
	}
	c.Scores = append(c.Scores, j.Edges[len(j.Edges)-1]+j.Beyond)
	c.Counts, c.Spread = j.Counts, j.Spread
	return c, nil
}
