package dpglm

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rows"
	"github.com/dpglm/dpglm/internal/solve"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var _ Learner = PreconditionedGDConfig{}

// PreconditionedGDConfig holds the parameters of PreconditionedGD; it is the
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
// elsewhere as good as any. Losses with kinks are replaced as in OutputPerturbation.
// With its clip the loss is Huberised, as in NoisyGD. The ball does not bind:
// Problem.Radius is the scale of ‖w‖ that κ and T assume, and w is held to 64 times it.
//
// # Privacy
//
// Replace-one. Four kinds of Gaussian releases, one after the other
// (mechanisms.Gaussian), each with a share of μ² that is fixed in advance:
//
//   - at most once a histogram of the norms of rows, and at most five times one of
//     the norms of gradients: a row moves from one count to another, which is a
//     sensitivity of √2 (rows.RowNorms, rows.GradientNorms);
//   - at most once the second moments of the rows, shortened to a norm R, of Frobenius
//     sensitivity √2·R² and rounding (rows.PackedSensitivity);
//   - T sums of clipped gradients, of sensitivity min(X·D(X‖w_t‖), 2C_t) and
//     rounding (rows.GradientSensitivity), whatever w_t and C_t are.
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
	preconditionedReach = 64   // bound on ‖w‖ in radii
	clipChoices         = 20   // edges of a histogram
)

// Plan calibrates preconditioned gradient descent.
func (c PreconditionedGDConfig) Plan(s Shape, p Problem, b Budget) (*Plan, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	p, err := p.resolve(s)
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
	ledger, err := o.calibrate(&c, b)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, d *Dataset, env *Env) ([]float64, error) {
		sums, err := d.sums(o.trained)
		if err != nil {
			return nil, err
		}
		return o.descend(ctx, sums, env.noise(), env)
	}
	if err := b.covers(ledger); err != nil {
		return nil, err
	}
	return &Plan{Learner: c, Problem: p, Ledger: ledger, shape: s, run: run, reach: preconditionedReach * p.Radius}, nil
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
	trained losses.Loss
	shape   Shape
	radius  float64
	largest float64 // gradient at w = 0: the first edge of the histogram
	bend    float64 // H
	reach   float64 // expected ‖w‖, for the number of steps
	cut     float64 // the largest share of the gradients that the clip may shorten
	easy    bool    // classes, and no kinks
	mu      float64 // of the whole
	steps   int
	clip    float64 // until one is chosen
	// What is released; a Mu of 0 is of what is not.
	lengths, moments, counts, gradients mechanisms.Gaussian
	choose                              []int // the steps before which the clip is chosen
}

func newPreconditioned(s Shape, p Problem) *preconditioned {
	z := s.FeatureBound * p.Radius
	o := &preconditioned{trained: smoothed(p.Loss, z, s.LabelBound), shape: s, radius: p.Radius}
	o.largest = s.FeatureBound * p.Loss.Constants(0, s.LabelBound).Slope
	o.bend = o.trained.Constants(z, s.LabelBound).Smoothness
	o.reach, o.cut, o.easy = p.Radius, 0.5, smoothClasses(p.Loss)
	if p.Loss.Labels() != losses.Real {
		o.reach, o.cut = 0.3*p.Radius, 0.25
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
	return moved
}

// calibrate splits the budget, fills in c and returns the ledger.
func (o *preconditioned) calibrate(c *PreconditionedGDConfig, b Budget) (*Ledger, error) {
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
	steps := o.bend * x * x * o.reach * n * mu / (o.largest * math.Sqrt(float64(o.shape.Dim)))
	return int(min(max(math.Ceil(steps), 10), 1000))
}

// share divides μ² and returns the ledger. The releases together have no more
// numbers than the budget is calibrated for, as the grid's slack goes with them.
func (o *preconditioned) share(b Budget, useMoments bool) (*Ledger, error) {
	d, releases, rest := o.shape.Dim, o.steps+len(o.choose), 1.0
	if useMoments {
		releases += d/2 + 2
		rest -= preconditionedShare
	}
	each, err := b.gaussian(releases, max(d, clipChoices+1))
	if err != nil {
		return nil, err
	}
	o.mu = each.Mu * math.Sqrt(float64(releases)) * (1 - 1e-12)
	var parts []*Ledger
	add := func(label string, releases, dim int, share float64, sensitivities ...float64) (mechanisms.Gaussian, error) {
		g := mechanisms.Gaussian{Mu: o.mu * math.Sqrt(share/float64(releases))}
		for _, s := range sensitivities {
			if _, err := g.Sigma(s, dim); err != nil {
				return g, err
			}
		}
		l, err := g.Ledger("preconditioned GD, "+label, releases, dim)
		parts = append(parts, l)
		return g, err
	}
	if useMoments && 3*tailNoise(o.mu*math.Sqrt(lengthsShare), clipChoices) <= float64(o.shape.Rows)/10 {
		rest -= lengthsShare
		if o.lengths, err = add("row norms", 1, clipChoices+1, lengthsShare, math.Sqrt2); err != nil {
			return nil, err
		}
	}
	if useMoments {
		x := o.shape.FeatureBound
		if o.moments, err = add("second moments", 1, d*(d+1)/2, preconditionedShare, x*x, math.Ldexp(x*x, -clipChoices)); err != nil {
			return nil, err
		}
	}
	if len(o.choose) > 0 {
		rest -= preconditionedShare
		if o.counts, err = add("gradient norms", len(o.choose), clipChoices+1, preconditionedShare, math.Sqrt2); err != nil {
			return nil, err
		}
	}
	least, most := o.clip, o.clip // the clips that there can be, with room
	if len(o.choose) > 0 {
		least, most = math.Ldexp(o.largest, -clipChoices), math.Ldexp(o.largest, clipChoices)
	}
	if o.gradients, err = add("gradient sums", o.steps, d, rest, least, most); err != nil {
		return nil, err
	}
	if err := o.checkStep(most); err != nil {
		return nil, err
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return mechanisms.Sequential("preconditioned GD", parts...)
}

// checkStep refuses a problem in which a step could overflow.
func (o *preconditioned) checkStep(clip float64) error {
	n, x := float64(o.shape.Rows), o.shape.FeatureBound
	noise := math.Ldexp(clip, 30) / o.gradients.Mu * math.Sqrt(float64(o.shape.Dim))
	curvature := o.bend * n * x * x // and at least that times
	const least = 1e-40
	length := (n*clip+noise)/(curvature*least) + preconditionedReach*o.radius
	if !(length < 1e140 && curvature < 1e200) {
		return check.Fail(ErrBound, "feature bound, label bound, radius", [3]float64{x, o.shape.LabelBound, o.radius}, "must not differ so much that a step could overflow")
	}
	return nil
}

// descend runs the steps and returns the average of the last half.
func (o *preconditioned) descend(ctx context.Context, sums *rows.Sums, src mechanisms.Source, env *Env) ([]float64, error) {
	d, clip := sums.Dim(), o.clip
	metric, err := o.metric(ctx, sums, src)
	if err != nil {
		return nil, err
	}
	w, g, total := make([]float64, d), make([]float64, d), make([]float64, d)
	for t := range o.steps {
		if slices.Contains(o.choose, t) {
			if clip, err = o.chooseClip(sums, w, src); err != nil {
				return nil, err
			}
		}
		if err := sums.Gradient(ctx, g, w, clip); err != nil {
			return nil, err
		}
		if err := o.gradients.Release(g, g, sums.GradientSensitivity(solve.Norm(w), clip), src); err != nil {
			return nil, err
		}
		ridge := clip * math.Sqrt(float64(d)) / (2 * o.mu * o.radius)
		floats.AddScaled(g, ridge, w)
		metric.Step(w, g, ridge)
		solve.Project(w, preconditionedReach*o.radius)
		if t >= o.steps/2 {
			floats.Add(total, w)
		}
		env.progress(t+1, o.steps)
	}
	floats.Scale(1/float64(o.steps-o.steps/2), total)
	return total, nil
}

// chooseClip returns a clip from a private histogram of the gradients' norms at w.
func (o *preconditioned) chooseClip(sums *rows.Sums, w []float64, src mechanisms.Source) (float64, error) {
	counts, err := o.gradientNorms(sums, w, src)
	if err != nil {
		return 0, err
	}
	allowed := math.Min(o.cut*float64(o.shape.Rows), 80*math.Sqrt(float64(o.shape.Dim))/o.mu)
	return smallest(o.largest, counts, func(int) float64 { return allowed }), nil
}

// longest returns the norm R to which rows are shortened for the second moments,
// from a private histogram if one is planned.
func (o *preconditioned) longest(sums *rows.Sums, src mechanisms.Source) (float64, error) {
	x := o.shape.FeatureBound
	if o.lengths.Mu == 0 {
		return x, nil
	}
	counts, err := o.rowNorms(sums, src)
	if err != nil {
		return 0, err
	}
	return smallest(x, counts, func(bins int) float64 {
		return math.Max(float64(o.shape.Rows)/200, 3*tailNoise(o.lengths.Mu, bins))
	}), nil
}

// gradientNorms releases a histogram of the gradients' norms at w in steps below
// their largest at zero.
func (o *preconditioned) gradientNorms(sums *rows.Sums, w []float64, src mechanisms.Source) ([]float64, error) {
	counts := make([]float64, clipChoices+1)
	sums.GradientNorms(counts, halvings(o.largest), w)
	return counts, o.counts.Release(counts, counts, histogramSensitivity, src)
}

// rowNorms releases a histogram of the rows' norms in steps below their bound.
func (o *preconditioned) rowNorms(sums *rows.Sums, src mechanisms.Source) ([]float64, error) {
	counts := make([]float64, clipChoices+1)
	sums.RowNorms(counts, halvings(o.shape.FeatureBound))
	return counts, o.lengths.Release(counts, counts, histogramSensitivity, src)
}

// histogramSensitivity is √2, rounded up.
const histogramSensitivity = math.Sqrt2 * (1 + 1e-15)

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
	return math.Sqrt(2*float64(o.shape.Dim)) * rows.MomentsDistance(x, 0) / mu
}

// metric releases the second moments, if they are planned, and returns V without κ.
func (o *preconditioned) metric(ctx context.Context, sums *rows.Sums, src mechanisms.Source) (*solve.Metric, error) {
	if o.moments.Mu == 0 {
		x := o.shape.FeatureBound
		return solve.NewRoundMetric(o.bend * float64(o.shape.Rows) * x * x / 1.5), nil
	}
	longest, err := o.longest(sums, src)
	if err != nil {
		return nil, err
	}
	packed, err := sums.PackedMoments(ctx, longest)
	if err != nil {
		return nil, err
	}
	if err := o.moments.Release(packed, packed, sums.PackedSensitivity(longest), src); err != nil {
		return nil, err
	}
	m, ok := solve.NewMetric(rows.Unpack(packed, sums.Dim()), o.bend, o.damping(o.moments.Mu, longest))
	if !ok {
		return nil, check.Fail(ErrConfig, "second moments", nil, "must have eigenvalues that can be computed")
	}
	return m, nil
}
