package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
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
//     n·μ below max(45, 8.5√d), or below 3√d over the rarer class's fraction, or for counts
//     20√d over their mean, or over 1 where that is more, there is nothing else: the constant
//     model, fitted with the whole budget (47 for more than 1000 features).
//  2. Features are centred at m, their mean shortened by James and Stein's rule, and
//     whitened by second moments, A = √n·(M₊ + ρI)^(−½), ρ the operator norm of the
//     noise; a second round in the first one's coordinates follows where the first
//     one's moments leave much to the noise. Where moments would drown, with n·μ below 80√d,
//     or 30d from 7 features on, 500 from 17, 0.15d² from 58, 2000 from 116, and for a rarer
//     class of a fraction q up to √(½/q) times that, A is 2I/R, R being exceeded by a quarter of
//     the rows; where they are round already, but for noise, A is one scale.
//     These coordinates make rows of rare levels long, and clips would cut off those of the rarer
//     class among them. For classes A becomes A·S, S = (I + Σ (‖a‖²/L² − 1)·aaᵀ/‖a‖²)^(−½), a being
//     the mean row of each level that is longer than L = min(1.2√(d+1), 3)·max(1, .001·μ√n). Levels
//     are the one-hot columns that the facts tell of.
//  3. Descent: 12 to 29 steps with momentum ½, 8 to 16 (48 of real labels) where moments
//     drown, or from 4 on without momentum where they were round; the last half is averaged.
//     The clip comes from histograms of the gradients' norms, at up to four steps, and may
//     shorten a fraction 40√d_eff/(nμ) of the gradients, at most half the minority's: zero in
//     the limit. It is at most that of typical gradients times nμ/(50d), or 1. For classes and
//     counts the intercept's sum is released unclipped beside the clipped gradients, within a
//     range of ±Y as .4·C, or for counts as .6·√(YC/√(1 + d_eff)) where that is more, but under
//     the probit loss, whose slopes have no bound. The result is shortened by James and Stein's
//     rule, for the noise of privacy and of the sample, and for the logistic loss lengthened where
//     the gradients say that it stopped short, and shortened by what the clip makes scores too
//     long; predictions keep their mean. Where moments drown it is shortened by less if the
//     gradients that were released on the way say so, the clip is at most that of typical
//     gradients, and the logistic loss's intercept stays at the start until its own slope is
//     released at the end. That of counts whose range is far above their mean stays at a labels'
//     mean with a larger share.
//  4. Where n·μ ≥ 50·d^1.5, instead of shortening: the coordinates are made round for the
//     loss's Hessian, which is released, and six more steps follow. Gradients of coordinates
//     that S made short are multiplied by S⁻², but for what noise hides.
//
// With more than 1000 features, or for classes where no direction of many stands out of the
// moments' noise, columns are scaled by their own noisy sums of squares instead (see Auto).
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
// Sensitivities are: a label's range; √2 for a histogram; 2R for a sum of rows shortened
// to R; √2·R² for their second moments, and for a Hessian's; 2C for clipped gradients, or
// 2√(C² + k²) beside an intercept of range k (curator.Framed). A row is in one cell of a
// histogram of levels and scores, whose edges are public or made of what was released, so that it is
// √2 again; it is asked for as that of [EvaluateLevels]. Everything else follows
// from what was released and from public facts.
//
// # Parameters
//
// x is n×d. It makes at most 60 passes over the rows, and 310 of more than 200 features;
// O(n·d²) flops for moments and norms, O(d³) for eigenvectors. The ball does not bind: of
// Problem.Radius the weights don't depend, and only the cap on losses of a [GridSearch] or
// [Boost] around it does. Kinks are smoothed over ½, or a thirtieth of the label bound.
func StandardisedGD(ctx context.Context, d *Dataset, p Problem, b Budget, cfg StandardisedGDConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// standardisedDim is the largest number of features with second moments, and whitenedDim
// the largest for which they are always used.
const (
	standardisedDim = 1000
	whitenedDim     = 200
)

// Plan calibrates the pool. It fails, by an [ArgumentError], where the shape, the problem, the
// budget or a parameter breaks its rule.
func (c StandardisedGDConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	o, err := newStandardised(s, p, b, s.Dim)
	if err != nil {
		return nil, err
	}
	plan, err := o.plan(c, "standardised GD", b, 60, o.train)
	if x := o.foreseen(); err == nil && x.hopeless() {
		plan.Note = fmt.Sprintf("the budget and n suffice for the constant model only: n·μ is %.3g, and more takes %.3g", x.nmu(), x.least())
	}
	return plan, err
}

// foreseen is a run as far as public numbers tell: weights of rows can but make for less.
func (o *standardised) foreseen() *standardising {
	x := &standardising{standardised: o, n: float64(o.shape.Rows), d: o.shape.features()}
	d := float64(x.d) // sets of data with few and with many features chose the numbers
	x.clear = max(min(80*math.Sqrt(d), 200), min(30*d, 500), min(0.15*d*d, 2000))
	return x
}

// newStandardised checks the arguments and calibrates the pool, whose releases may have the
// given number of coordinates, or those of second moments.
func newStandardised(s Shape, p Problem, b Budget, coordinates int) (*standardised, error) {
	asked, levels := p.Loss, 0
	if l, ok := p.Loss.(losses.Ordinal); ok && l.Estimated() && l.Validate() == nil {
		if s.largestOffset() != 0 {
			return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, where thresholds are to be estimated")
		}
		p.Loss, levels = l.Filled(), l.Levels
		coordinates = max(coordinates, levelDim(levels))
	}
	s, err := s.under(p.Loss)
	if err != nil {
		return nil, err
	}
	p, err = p.resolve(s, nearScore)
	if err != nil {
		return nil, err
	}
	o := &standardised{shape: s, problem: p, loss: estimated(p.Loss, s), unknown: levels, fraction: 1}
	o.problem.Loss = asked
	if err := solvable(o.loss, s, p, 0); err != nil {
		return nil, err
	}
	d := s.features()
	o.releases, o.dim = 128, max(64, coordinates)
	if d <= standardisedDim {
		o.dim = max(o.dim, (d+1)*(d+2)/2)
	}
	if d > whitenedDim {
		o.releases = maxColumnSteps + 40
	}
	each, err := b.gaussian(o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	o.mu = math.Min(each.Mu*math.Sqrt(float64(o.releases))*(1-1e-9), largestMu)
	if err := o.checkScales(); err != nil {
		return nil, err
	}
	if least := 1e-11 * math.Sqrt(float64(o.dim)); o.mu < least { // a release has a ten-thousandth of μ² or more
		return nil, check.Fail(ErrBudget, "mu", o.mu, fmt.Sprintf("must be at least %g for %d coordinates", least, o.dim))
	}
	return o, nil
}

// plan is that of a learner whose releases come from the pool.
func (o *standardised) plan(l Learner, label string, b Budget, passes int, train func(*run) ([]float64, error)) (*Plan, error) {
	schedule, err := release.Pool(label, o.mu, o.releases, o.dim)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(l, o.shape, o.problem, b, schedule, train)
	if err != nil {
		return nil, err
	}
	if o.unknown > 0 {
		passes = 2*passes + 12
	}
	plan.weightBound = 64 * o.problem.Radius // an expectation: nothing holds the weights to it
	if o.shape.features() > whitenedDim {
		plan.Passes = maxColumnSteps + 10
		if o.unknown > 0 {
			plan.Passes *= 2
		}
		return plan, nil
	}
	// The shortest descent has four steps, and a frame keeps the rows' norms and factors.
	plan.Passes, plan.joint, plan.holds = passes, 4, 4
	return plan, nil
}

// largestMu is more than the last digit of a float64 needs: what is beyond isn't spent.
const largestMu = 1e9

// checkScales refuses bounds and budgets with which noise would overflow or vanish, or
// weights leave the range of a model's.
func (o *standardised) checkScales() error {
	x, y := o.shape.FeatureBound, math.Max(o.shape.LabelBound, 1)
	fine := y/x < 1e-10*check.MaxScale*check.MaxScale
	for _, v := range []float64{x * x / o.mu, y * x / o.mu, x / o.mu, y / o.mu} {
		fine = fine && v > 1e-200 && v < 1e200
	}
	if !fine {
		return check.Fail(ErrBound, "feature bound, label bound, mu", [3]float64{x, o.shape.LabelBound, o.mu}, "must not differ so much that noise or weights could overflow")
	}
	return nil
}

// estimated is the loss to descend along. Kinks are smoothed over a width that is small
// beside what labels vary by.
func estimated(l losses.Loss, s Shape) losses.Loss {
	width := 0.5
	if l.Labels() == losses.Real {
		width = s.LabelBound / 30
	}
	if e, ok := losses.Envelope(l, width); ok {
		return e
	}
	if g, ok := l.(losses.Gamma); ok && g.Ratio == 0 { // no mean lies below the least label
		g.Ratio = math.Max(2, s.LabelBound/g.Least)
		return g
	}
	return everywhereSmooth(l, farScore, s.LabelBound)
}

// standardised is a planned descent.
type standardised struct {
	shape         Shape
	problem       Problem
	loss          losses.Loss
	mu            float64
	releases, dim int // of the pool, at most

	unknown  int     // levels whose thresholds are to be estimated; 0 for none
	fraction float64 // of the pool's μ², whose root μ has
	doubt    *doubt  // of those that were estimated; nil for given ones
	infers   bool    // for an inference
}

// train releases what the comment of StandardisedGD lists.
func (o *standardised) train(r *run) ([]float64, error) {
	if o.unknown > 0 {
		return o.withThresholds(r, (*standardised).train)
	}
	return o.within(r, 1)
}

// within is train with a fraction of all μ².
func (o *standardised) within(r *run, whole float64) ([]float64, error) {
	x, err := o.begin(r, whole)
	if err != nil {
		return nil, err
	}
	if err := x.start(); err != nil {
		return nil, err
	}
	if x.constant {
		return x.model(make([]float64, x.d), x.bias), nil
	}
	if x.d > standardisedDim {
		return x.byColumns()
	}
	if x.loss.Labels() == losses.Binary { // there is less to learn of a rare class
		x.clear = max(x.clear, min(x.clear*math.Sqrt(0.5/x.facts.minority), 30*float64(x.d), 2400))
	}
	few, err := x.standardise()
	if err != nil {
		return nil, err
	}
	if few {
		return x.byColumns()
	}
	if x.shortens() {
		if _, err := x.shorten(x.longestLevel(1.2)); err != nil {
			return nil, err
		}
	}
	return x.descend()
}

// begin is a run, before its first release, with a fraction of all μ².
func (o *standardised) begin(r *run, whole float64) (*standardising, error) {
	part := *o
	part.mu *= math.Sqrt(whole)
	x := part.foreseen()
	x.run, x.data, x.pool = r, r.data, &pool{r.allow, whole * o.fraction, 1}
	var err error
	x.sums, err = r.under(o.loss)
	return x, err
}

// standardising is a run.
type standardising struct {
	*standardised
	*run
	data *curator.Data
	sums *curator.Sums
	pool *pool
	n    float64
	d    int

	facts    labelFacts
	told     float64 // the labels' noisy sums, each times its share
	toldWith float64 // these shares
	bias     float64 // the intercept at the start
	shifted  float64 // mean offset of the scores
	constant bool    // whether nothing is left for a model of the features

	frame     curator.Frame
	framed    *curator.Framed
	known     []float64 // of each direction, the fraction of its second moment that isn't noise; nil without moments
	effective float64   // dimension
	round     bool      // whether moments are those of one scale in all directions
	spread    float64   // noise of the centre, in each coordinate
	hessian   bool      // whether a second stage is planned
	clear     float64   // n·μ from which on second moments don't drown
	pilot     bool      // whether this is but the beginning of an inference
}

// pool draws releases with shares of μ².
type pool struct {
	allow *release.Allowance
	whole float64 // fraction of all μ² that shares are taken of
	left  float64
}

func (p *pool) draw(share float64, x release.Answer, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	p.left -= share
	return p.allow.Draw(share*p.whole, x)
}

// nmu is n·μ, by which noise is measured against sums.
func (x *standardising) nmu() float64 { return x.n * x.mu }

// labelFacts is what the labels' mean tells of the loss.
type labelFacts struct {
	curvature float64 // φ'' under the constant model
	steepest  float64 // the largest φ'' anywhere
	minority  float64 // the rarer class's fraction, at most 1
	apart     float64 // S: the bound on φ' by which the intercept is released apart; 0 for no
	typical   float64 // the clip over √(1 + d_eff), where nothing can be measured
	residual  float64 // variance of φ', roughly
	mean      float64
	noise     float64 // standard deviation of the mean
}

// start releases the labels' mean: with all there is, where nothing else can be had.
func (x *standardising) start() error {
	low, high := x.labelEnds()
	scale := 1.0
	switch x.loss.Labels() {
	case losses.Count:
		scale = x.shape.LabelBound
	case losses.Amount:
		scale = 30 // of the range over usual amounts, which have no unit
	}
	if err := x.total(); err != nil {
		return err
	}
	least := 0.005
	if x.pilot { // which has but a part of μ²
		least = 0.1
		if x.loss.Labels() == losses.Binary {
			least = 0.03
		}
	}
	share := math.Min(math.Max(math.Pow(25*scale/x.nmu(), 2), least), 0.2)
	if x.hopeless() {
		share = x.pool.left
	}
	if err := x.level(share, low, high); err != nil || x.constant {
		return err
	}
	if x.hidden() { // all that will be known of the intercept
		if err := x.level(againShare, low, high); err != nil {
			return err
		}
	}
	rare := 3.0
	if x.loss.Labels() == losses.Count {
		rare = 20
		if x.pilot { // whose intercept isn't released apart
			rare = 5
		}
	}
	if x.d <= standardisedDim && x.facts.minority*x.nmu() < rare*math.Sqrt(float64(x.d)) {
		return x.level(x.pool.left, low, high) // so few of the rarer class
	}
	return nil
}

// labelEnds are the ends of the labels' range.
func (x *standardising) labelEnds() (low, high float64) {
	switch y := x.shape.LabelBound; x.loss.Labels() {
	case losses.Binary:
		return 0, 1
	case losses.Count, losses.Amount:
		return 0, y
	default:
		return -y, y
	}
}

// totalShare is what the rows' weights and offsets are summed with.
const totalShare = 0.01

// total releases how many rows of the largest weight all come to, and the mean offset, where
// these aren't known: that of the mean exposure for counts and amounts, as a constant
// rate has it.
func (x *standardising) total() error {
	if !x.shape.Weighted && x.shape.largestOffset() == 0 {
		return nil
	}
	answer, err := x.sums.Totals(x.ctx)
	sums, err := x.pool.draw(totalShare, answer, err)
	if err != nil {
		return err
	}
	noise := 2 / (x.mu * math.Sqrt(totalShare))
	if x.shape.Weighted {
		x.n = math.Min(x.n, math.Max(sums[0], math.Max(1, noise)))
	}
	low, high := x.shape.OffsetRange[0], x.shape.OffsetRange[1]
	if x.shifted = x.shape.largestOffset() * sums[1] / x.n; x.loss.Labels().FromZero() {
		x.shifted = high + math.Log(math.Max(sums[1], noise)/x.n)
	}
	x.shifted = math.Min(math.Max(x.shifted, low), high)
	return nil
}

// hopeless reports whether rows and budget make for no more than the constant model.
func (x *standardising) hopeless() bool { return x.nmu() < x.least() }

// least is the n·μ that a model of the features takes.
func (x *standardising) least() float64 {
	if x.d > standardisedDim {
		return 47
	}
	return math.Max(45, 8.5*math.Sqrt(float64(x.d)))
}

// drowned reports whether second moments would drown in their noise.
func (x *standardising) drowned() bool { return x.nmu() < x.clear }

// level draws the labels' mean with a share, and takes what was drawn before into account.
func (x *standardising) level(share, low, high float64) error {
	answer, err := x.sums.Labels(x.ctx)
	sum, err := x.pool.draw(share, answer, err)
	if err != nil {
		return err
	}
	x.constant = x.pool.left <= 0
	x.told, x.toldWith = x.told+float64(share*sum[0]), x.toldWith+share
	x.facts, x.bias = x.labels(x.told/(x.toldWith*x.n), (high-low)/(x.nmu()*math.Sqrt(x.toldWith)), low, high)
	x.bias -= x.shifted
	if !x.shape.Intercept {
		x.bias, x.facts.apart = 0, 0
	}
	return nil
}

// labels reads the labels' noisy mean, of the given standard error. A pilot's clip holds counts'
// intercept with the rest: steps that follow mend what it cuts off, and noise would cost more.
func (x *standardising) labels(mean, noise, low, high float64) (labelFacts, float64) {
	k := x.loss.Constants(everywhere, x.shape.LabelBound)
	f := labelFacts{steepest: k.Smoothness, minority: 1, noise: noise}
	kind := x.loss.Labels()
	if (kind == losses.Binary || kind == losses.Count && !x.pilot) && !math.IsInf(k.Lipschitz, 1) {
		f.apart = k.Lipschitz
	}
	switch kind {
	case losses.Binary:
		floor := math.Min(0.5, math.Max(noise, 2/x.n))
		q := math.Min(math.Max(mean, floor), 1-floor)
		f.mean, f.minority, f.typical = q, math.Min(q, 1-q), 0.5
		bias := f.constant(x.loss)
		f.residual = f.curvature
		return f, bias
	case losses.Count, losses.Amount:
		f.mean = math.Max(math.Min(math.Max(mean, math.Min(noise, high/2)), high), 1e-9)
		f.minority = math.Min(1, f.mean)
		bias := f.constant(x.loss)
		f.residual = f.curvature
		return f, bias
	}
	width := high - low
	f.mean = math.Min(math.Max(mean, low), high)
	f.curvature, f.typical = f.steepest, 0.15*width
	f.residual = math.Pow(width/20*f.steepest, 2)
	if !math.IsInf(k.Lipschitz, 1) {
		f.curvature = math.Min(f.steepest, 10*k.Lipschitz/width)
		f.typical, f.residual = math.Min(f.typical, k.Lipschitz), math.Min(f.residual, k.Lipschitz*k.Lipschitz)
	}
	return f, f.mean
}

// read draws a histogram.
func (x *standardising) read(share float64, edges []float64, answer release.Answer, err error) (histogram.Tails, error) {
	counts, err := x.pool.draw(share, answer, err)
	if err != nil {
		return histogram.Tails{}, err
	}
	return histogram.NewTails(edges, counts, math.Sqrt2/(x.mu*math.Sqrt(share)), x.n), nil
}

// lengths draws a histogram of the rows' norms.
func (x *standardising) lengths(share float64, edges []float64, r *curator.Framed) (histogram.Tails, error) {
	answer, err := r.Lengths(x.ctx, edges)
	return x.read(share, edges, answer, err)
}

// shrunk is James and Stein's factor for v with noise of the given variance in each of
// its coordinates.
func shrunk(v []float64, variance float64) float64 {
	var sum float64
	for _, a := range v {
		sum += float64(a * a)
	}
	if sum == 0 {
		return 0
	}
	return math.Max(0, 1-float64(len(v))*variance/sum)
}

// model maps weights of the features and an intercept to those of encoded rows.
func (x *standardising) model(w []float64, b float64) []float64 {
	if w = slices.Clone(w); x.shape.Intercept {
		w = append(w, b)
	}
	return held(w)
}

// held holds weights to what a model may have, where bounds that differ by a hundred
// orders of magnitude leave nothing but noise.
func held(w []float64) []float64 {
	w = slices.Clone(w)
	for j, v := range w {
		if w[j] = math.Max(-largestWeight, math.Min(v, largestWeight)); math.IsNaN(v) {
			w[j] = 0
		}
	}
	return w
}

// largestWeight is the largest that a model may have.
const largestWeight = check.MaxScale * check.MaxScale
