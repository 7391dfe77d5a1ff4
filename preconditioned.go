package dpglm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = PreconditionedGDConfig{}

// PreconditionedGDConfig holds the parameters of [PreconditionedGD]; it is the
// Learner.
type PreconditionedGDConfig struct {
	// Steps is T; 0 takes 200 or 100, or what balances step and noise where second
	// moments would be lost in theirs.
	Steps int `json:"steps"`
	// Clip bounds the norm of each row's gradient; 0 chooses it privately, and
	// again as the steps go on.
	Clip float64 `json:"clip"`
}

// PreconditionedGD descends along noisy clipped gradients, in coordinates that noisy
// second moments of the rows make round, with a clip from noisy counts of the
// gradients' norms:
//
//	M = Σ xᵢxᵢᵀ + noise,  V = H(M₊ + ρI) + κI,  w₁ = 0
//	w_{t+1} = w_t − V⁻¹( Σ clip_C(∇ℓᵢ(w_t)) + noise + κw_t ),  t = 1..T
//
// and returns the average of the last half; M₊ has M's negative eigenvalues set to
// zero. Two hundred steps then do what takes plain gradient descent many thousands,
// and the clip follows the residuals down, which neither sufficient statistics
// [Wang 2018] nor a single noisy objective can do. In trials it is the most accurate
// learner for real labels, for counts, for losses with kinks and at a small ε, and
// elsewhere as good as any. Losses with kinks are replaced as in [OutputPerturbation].
// With its clip the loss is Huberised, as in [NoisyGD]. The ball does not bind:
// Problem.Radius is the scale of ‖w‖ that κ and T assume, and w is held to 64 times it.
//
// # Privacy
//
// Replace-one. Four kinds of Gaussian releases, one after the other
// ([mechanisms.Gaussian]), each with a share of μ² that is fixed in advance:
//
//   - at most once a histogram of the norms of rows, and at most five times one of
//     the norms of gradients: a row moves from one count to another, which is a
//     sensitivity of √2 (curator.Sums.RowNorms, GradientNorms);
//   - at most once the second moments of the rows, shortened to a norm R, of Frobenius
//     sensitivity √2·R² and rounding (curator.Sums.Moments);
//   - T sums of clipped gradients, of sensitivity min(X·D(X‖w_t‖), 2C_t) and
//     rounding (curator.Sums.Gradient), whatever w_t and C_t are.
//
// R, V, w_t and C_t are functions of what was released before and of public facts, so
// that the releases compose to √(Σμ²)-GDP [Dong, Roth, Su 2022, Corollary 3.3].
//
// # Parameters
//
// x is n×d. T is 200, but 100 for classes with a smooth loss where n·μ < 300√d. Second
// moments and the gradients' counts have a twentieth of μ² each, the rows' count a
// fiftieth. R is the smallest of X·2^(−k/2), k ≤ 20, above which lie at most n/200 rows
// or what noise may hide, and X where noise may hide n/10. The noise of M has operator
// norm about ρ = √(2d)·σ_M: V dominates the Hessian, so that a step never overshoots.
// If ρ exceeds nX²/8 at R = X, or d exceeds 1000, then there are no second moments, V =
// nHX²/1.5 + κ and T = ⌈f·H·X·B·n·μ/(S√d)⌉ within [10, 1000], S being the largest slope
// at score 0, and f = 1 for real labels and 0.3 for others, whose scores seldom come
// near XB.
//
// C is the smallest of X·S·2^(−k/2), k ≤ 20, above which lie at most a share
// 80√d/(nμ) of the gradients, and at most half, or a quarter if labels aren't real:
// noise costs C√d/(nμ), clipping at most the mean excess, and the longest half of the
// gradients may be one class. C is chosen at steps 0, T/16, T/8, T/4 and T/2; where
// noise may hide n/8 rows, it is XS/4. κ = C√d/(2μB) is half the ridge that is minimax
// for ‖w‖ = 2B under the noise of all gradients together.
//
// It costs T passes, O(n·d²) for the moments, O(d³) for V's eigenvectors and O(d²) a
// step, and holds O(n + d²) numbers beside the data.
func PreconditionedGD(ctx context.Context, d *Dataset, p Problem, b Budget, cfg PreconditionedGDConfig, env *Env) (*Model, error) {
	return fit(ctx, cfg, d, p, b, env)
}

// The defaults of PreconditionedGD that its comment gives.
const (
	preconditionedSteps = 200  // with second moments
	preconditionedDim   = 1000 // the largest d with second moments
	preconditionedShare = 0.05 // of μ², for the moments and for the gradients' counts
	lengthsShare        = 0.02 // of μ², for the norms of rows
	preconditionedBound = 64   // bound on ‖w‖ in radii
	clipChoices         = 20   // edges of a histogram
)

// Plan calibrates preconditioned gradient descent.
func (c PreconditionedGDConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p, err := p.resolve(s, farScore)
	if err != nil {
		return nil, err
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	o := newPreconditioned(s, p)
	if err := solvable(o.trained, s, p, 0); err != nil {
		return nil, err
	}
	schedule, err := o.calibrate(&c, b)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(c, s, p, b, schedule, func(r *run) ([]float64, error) { return o.descend(r, r.data, r.allow) })
	if err == nil {
		plan.weightBound = preconditionedBound * p.Radius
	}
	return plan, err
}

func (c PreconditionedGDConfig) validate() error {
	if c.Steps < 0 || c.Steps > 1e9 {
		return check.Fail(ErrConfig, "PreconditionedGDConfig.Steps", c.Steps, "must be in [1, 1e9], or 0 for the default")
	}
	if c.Clip != 0 {
		return check.Scale(ErrConfig, "PreconditionedGDConfig.Clip", c.Clip)
	}
	return nil
}

// preconditioned is a planned descent.
type preconditioned struct {
	trained    losses.Loss
	shape      Shape
	radius     float64
	largest    float64 // gradient at w = 0: the first edge of the histogram
	smoothness float64 // H
	expected   float64 // norm of w, for the number of steps
	cut        float64 // the largest share of the gradients that the clip may shorten
	easy       bool    // classes, and no kinks
	mu         float64 // of the whole
	steps      int
	clip       float64 // until one is chosen
	// μ of each release of a kind; 0 of what is not released.
	lengths, moments, counts, gradients float64
	choose                              []int             // the steps before which the clip is chosen
	parts                               [descentParts]int // places in the schedule, −1 of what is not released
}

func newPreconditioned(s Shape, p Problem) *preconditioned {
	z := s.FeatureBound * p.Radius
	o := &preconditioned{trained: smoothed(p.Loss, z, s.LabelBound), shape: s, radius: p.Radius}
	o.largest = s.FeatureBound * p.Loss.Constants(0, s.LabelBound).Slope
	o.smoothness = o.trained.Constants(z, s.LabelBound).Smoothness
	o.expected, o.cut, o.easy = p.Radius, 0.5, smoothClasses(p.Loss)
	if p.Loss.Labels() != losses.Real {
		o.expected, o.cut = 0.3*p.Radius, 0.25
	}
	return o
}

func smoothClasses(l losses.Loss) bool {
	_, kinked := losses.Envelope(l, 1)
	return l.Labels() == losses.Binary && !kinked
}

// at is the planned descent on rows of another shape: the same releases, relative to
// their sensitivities.
func (o *preconditioned) at(s Shape, p Problem, clip float64) *preconditioned {
	moved := newPreconditioned(s, p)
	moved.mu, moved.steps, moved.choose, moved.clip = o.mu, o.steps, o.choose, clip
	moved.lengths, moved.moments, moved.counts, moved.gradients = o.lengths, o.moments, o.counts, o.gradients
	moved.parts = o.parts
	return moved
}

// calibrate splits the budget, fills in c and returns the schedule.
func (o *preconditioned) calibrate(c *PreconditionedGDConfig, b Budget) (*release.Schedule, error) {
	d, n, x := o.shape.Dim, float64(o.shape.Rows), o.shape.FeatureBound
	whole, err := b.gaussian(1, d)
	if err != nil {
		return nil, err
	}
	mu := whole.Mu
	useMoments := d <= preconditionedDim && o.damping(mu*math.Sqrt(preconditionedShare), x) <= n*x*x/8
	if c.Steps == 0 {
		c.Steps = o.defaultSteps(mu, useMoments)
	}
	o.steps, o.clip = c.Steps, c.Clip
	if c.Clip == 0 {
		o.clip = o.largest / 4
		o.choose = slices.Compact([]int{0, o.steps / 16, o.steps / 8, o.steps / 4, o.steps / 2})
		if noise := math.Sqrt(2*float64(len(o.choose))/preconditionedShare) / mu; 3*noise > n/8 {
			o.choose = nil
		}
	}
	return o.share(b, useMoments)
}

func (o *preconditioned) defaultSteps(mu float64, useMoments bool) int {
	switch {
	case !useMoments:
		return o.balanced(mu)
	case o.easy && !quiet(o.shape, mu):
		return preconditionedSteps / 2
	}
	return preconditionedSteps
}

// quiet reports that the noise of a sum of gradients is small beside the sum.
func quiet(s Shape, mu float64) bool {
	return float64(s.Rows)*mu >= 300*math.Sqrt(float64(s.Dim))
}

// balanced is the number of steps without second moments.
func (o *preconditioned) balanced(mu float64) int {
	n, x := float64(o.shape.Rows), o.shape.FeatureBound
	steps := o.smoothness * x * x * o.expected * n * mu / (o.largest * math.Sqrt(float64(o.shape.Dim)))
	return int(min(max(math.Ceil(steps), 10), 1000))
}

// share divides μ² and returns the schedule. The releases together have no more
// numbers than the budget is calibrated for, as the grid's slack goes with them.
func (o *preconditioned) share(b Budget, useMoments bool) (*release.Schedule, error) {
	d, x, releases, rest := o.shape.Dim, o.shape.FeatureBound, o.steps+len(o.choose), 1.0
	if useMoments {
		releases += d/2 + 2
		rest -= preconditionedShare
	}
	each, err := b.gaussian(releases, max(d, clipChoices+1))
	if err != nil {
		return nil, err
	}
	o.mu = each.Mu * math.Sqrt(float64(releases)) * (1 - 1e-12)
	if useMoments {
		o.moments = o.muOf(preconditionedShare, 1)
		if 3*tailNoise(o.muOf(lengthsShare, 1), clipChoices) <= float64(o.shape.Rows)/10 {
			o.lengths = o.muOf(lengthsShare, 1)
			rest -= lengthsShare
		}
	}
	least, most := o.clip, o.clip // the clips that there can be, with room
	if len(o.choose) > 0 {
		rest -= preconditionedShare
		o.counts = o.muOf(preconditionedShare, len(o.choose))
		least, most = math.Ldexp(o.largest, -clipChoices), math.Ldexp(o.largest, clipChoices)
	}
	o.gradients = o.muOf(rest, o.steps)
	for _, c := range []struct {
		mu, sensitivity float64
		dim             int
	}{{o.moments, x * x, d * (d + 1) / 2}, {o.moments, math.Ldexp(x*x, -clipChoices), d * (d + 1) / 2}, {o.gradients, least, d}, {o.gradients, most, d}} {
		if c.mu == 0 {
			continue
		}
		if _, err := (mechanisms.Gaussian{Mu: c.mu}).Sigma(c.sensitivity, c.dim); err != nil {
			return nil, err
		}
	}
	if err := o.checkStep(most); err != nil {
		return nil, err
	}
	return o.schedule()
}

// muOf is the μ of each of several releases that have a share of μ² together.
func (o *preconditioned) muOf(share float64, releases int) float64 {
	return o.mu * math.Sqrt(share/float64(releases))
}

// The parts of the schedule.
const (
	partLengths = iota
	partMoments
	partCounts
	partGradients
	descentParts
)

// schedule lists the releases; a part that isn't released is left out.
func (o *preconditioned) schedule() (*release.Schedule, error) {
	d := o.shape.Dim
	var parts []*release.Schedule
	o.parts = [descentParts]int{-1, -1, -1, -1}
	for part, p := range [descentParts]struct {
		label         string
		mu            float64
		releases, dim int
	}{
		{"row norms", o.lengths, 1, clipChoices + 1},
		{"second moments", o.moments, 1, d * (d + 1) / 2},
		{"gradient norms", o.counts, len(o.choose), clipChoices + 1},
		{"gradient sums", o.gradients, o.steps, d},
	} {
		if p.mu == 0 {
			continue
		}
		s, err := release.Gaussian("preconditioned GD, "+p.label, p.mu, p.releases, p.dim)
		if err != nil {
			return nil, err
		}
		o.parts[part] = len(parts)
		parts = append(parts, s)
	}
	return release.Sequential("preconditioned GD", parts...)
}

// checkStep refuses a problem in which a step could overflow.
func (o *preconditioned) checkStep(clip float64) error {
	n, x := float64(o.shape.Rows), o.shape.FeatureBound
	noise := math.Ldexp(clip, 30) / o.gradients * math.Sqrt(float64(o.shape.Dim))
	curvature := o.smoothness * n * x * x // and at least that times
	const least = 1e-40
	length := (n*clip+noise)/(curvature*least) + preconditionedBound*o.radius
	if !(length < 1e140 && curvature < 1e200) {
		return check.Fail(ErrBound, "feature bound, label bound, radius", [3]float64{x, o.shape.LabelBound, o.radius}, "must not differ so much that a step could overflow")
	}
	return nil
}

// descent is a run of the steps.
type descent struct {
	*preconditioned
	*run
	sums  *curator.Sums
	allow [descentParts]*release.Allowance
}

// descend runs the steps on d and returns the average of the last half.
func (o *preconditioned) descend(r *run, d *curator.Data, allow *release.Allowance) ([]float64, error) {
	sums, err := d.Under(o.trained)
	if err != nil {
		return nil, err
	}
	x := &descent{preconditioned: o, run: r, sums: sums}
	for part, i := range o.parts {
		if i < 0 {
			continue
		}
		if x.allow[part], err = allow.Part(i); err != nil {
			return nil, err
		}
	}
	return x.iterate()
}

func (x *descent) iterate() ([]float64, error) {
	d, clip, steps := x.sums.Dim(), x.clip, x.steps
	metric, err := x.metric()
	if err != nil {
		return nil, err
	}
	w, total := make([]float64, d), make([]float64, d)
	for t := range steps {
		if slices.Contains(x.choose, t) {
			if clip, err = x.chooseClip(w); err != nil {
				return nil, err
			}
		}
		answer, err := x.sums.Gradient(x.ctx, w, clip)
		if err != nil {
			return nil, err
		}
		g, err := x.allow[partGradients].AddNoise(answer)
		if err != nil {
			return nil, err
		}
		ridge := clip * math.Sqrt(float64(d)) / (2 * x.mu * x.radius)
		vector.AddScaled(g, ridge, w)
		metric.step(w, g, ridge)
		vector.Project(w, preconditionedBound*x.radius)
		if t >= steps/2 {
			floats.Add(total, w)
		}
		x.progress(t+1, steps)
	}
	floats.Scale(1/float64(steps-steps/2), total)
	return total, nil
}

// chooseClip returns a clip from a private histogram of the gradients' norms at w,
// in steps below their largest at zero.
func (x *descent) chooseClip(w []float64) (float64, error) {
	counts, err := x.allow[partCounts].AddNoise(x.sums.GradientNorms(halvings(x.largest), w))
	if err != nil {
		return 0, err
	}
	allowed := math.Min(x.cut*float64(x.shape.Rows), 80*math.Sqrt(float64(x.shape.Dim))/x.mu)
	return smallest(x.largest, counts, func(int) float64 { return allowed }), nil
}

// longest returns the norm R to which rows are shortened for the second moments,
// from a private histogram if one is planned.
func (x *descent) longest() (float64, error) {
	bound := x.shape.FeatureBound
	if x.lengths == 0 {
		return bound, nil
	}
	counts, err := x.allow[partLengths].AddNoise(x.sums.RowNorms(halvings(bound)))
	if err != nil {
		return 0, err
	}
	return smallest(bound, counts, func(bins int) float64 {
		return math.Max(float64(x.shape.Rows)/200, 3*tailNoise(x.lengths, bins))
	}), nil
}

// tailNoise is the standard deviation of the sum of so many noisy counts.
func tailNoise(mu float64, bins int) float64 { return math.Sqrt(2*float64(bins)) / mu }

// halvings are the edges of a histogram, top·2^(−k/2).
func halvings(top float64) []float64 {
	edges := make([]float64, clipChoices)
	for k := range edges {
		edges[k] = top * math.Pow(2, -float64(k+1)/2)
	}
	return edges
}

// smallest returns the smallest of the histogram's edges, or top, above which lies no
// more than is allowed for a sum of so many counts.
func smallest(top float64, counts []float64, allowed func(bins int) float64) float64 {
	above := 0.0
	for k, edge := range halvings(top) {
		if above += counts[k]; above > allowed(k+1) {
			break
		}
		top = edge
	}
	return top
}

// damping is ρ for rows of norm at most x, √(2d) times the standard deviation of
// their noisy second moments.
func (o *preconditioned) damping(mu, x float64) float64 {
	return math.Sqrt(2*float64(o.shape.Dim)) * curator.MomentsDistance(x, 0) / mu
}

// metric releases the second moments, if they are planned, and returns V without κ.
func (x *descent) metric() (*metric, error) {
	if x.moments == 0 {
		bound := x.shape.FeatureBound
		return roundMetric(x.smoothness * float64(x.shape.Rows) * bound * bound / 1.5), nil
	}
	longest, err := x.longest()
	if err != nil {
		return nil, err
	}
	answer, err := x.sums.Moments(x.ctx, longest)
	if err != nil {
		return nil, err
	}
	packed, err := x.allow[partMoments].AddNoise(answer)
	if err != nil {
		return nil, err
	}
	m, ok := newMetric(curator.Unpack(packed, x.sums.Dim()), x.smoothness, x.damping(x.moments, longest))
	if !ok {
		return nil, check.Fail(ErrConfig, "second moments", nil, "must have eigenvalues that can be computed")
	}
	return m, nil
}
