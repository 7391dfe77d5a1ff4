package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/losses"
)

// SoftmaxConfig configures [Softmax].
type SoftmaxConfig struct {
	// Classes is how many there are, 2 or more: labels are 0 to Classes−1. It is public. Of a
	// table it is the number of the label's levels.
	Classes int `json:"classes"`
}

// maxClasses limits classes, as a pass takes so many scores of each row.
const maxClasses = 1000

// Softmax trains a model of several classes, with probabilities that sum to 1: noisy
// gradient descent on −log p_y, p_k = e^{z_k}/Σe^{z_j}, in coordinates that are centred and
// whitened privately, as in [StandardisedGD].
//
// Errors are those of [SoftmaxConfig.Ledger], and of labels that aren't classes 0 to K−1
// ([ErrLabel]), before anything is released; a run that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All releases are Gaussian, from one pool of μ. How many rows each class has
// moves by √2; norms, mean and moments of rows are [StandardisedGD]'s. The gradient of a
// row is (p − e_y) ⊗ (x̃, 1), held to the norm C for all classes together, so that the sum
// moves by 2C. Everything else follows from what was released and from public facts.
//
// # Parameters
//
// Steps are as long as the curvature at the classes' rates allows where these are even, and
// shorter where noise in a typical score would exceed about 1: probabilities near 0 or 1 have
// no curvature that holds noise. The clip may shorten a fifth of the rows.
//
// x is n×d, K classes. It makes some 40 passes over the rows, of O(n·d·K) flops each; a model
// has K·(d+1) weights. Noise is that of one model for classes in two: K models of one class
// against the rest, in place of this one, would have √K times as much.
func Softmax(ctx context.Context, d *Dataset, b Budget, cfg SoftmaxConfig, env *Env) (*ClassModel, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := d.suitsClasses("SoftmaxConfig.Classes", cfg.Classes); err != nil {
		return nil, err
	}
	o, schedule, ledger, err := cfg.plan(d.Shape(), b)
	if err != nil {
		return nil, err
	}
	classes, err := d.data.Classes(cfg.Classes)
	if err != nil {
		return nil, err
	}
	ledger = env.mark(ledger)
	r := &run{ctx: ctx, data: d.data.Against(0), allow: schedule.Allow(d.data.Rows(), env.noise()), progress: env.progress}
	weights, err := o.trainClasses(r, classes, cfg.Classes)
	if err != nil {
		return nil, &Interrupted{ledger, err}
	}
	return newClassModel(weights, d, nil, ledger), nil
}

// Ledger is what [Softmax] would spend on data of the given shape: a dry run. It fails, by an
// [ArgumentError], where the shape, the problem, the budget or a parameter breaks its rule.
func (c SoftmaxConfig) Ledger(s Shape, b Budget) (*Ledger, error) {
	_, _, ledger, err := c.plan(s, b)
	return ledger, err
}

func (c SoftmaxConfig) plan(s Shape, b Budget) (*standardised, *release.Schedule, *Ledger, error) {
	if err := ofClasses("SoftmaxConfig.Classes", c.Classes, s); err != nil {
		return nil, nil, nil, err
	}
	if s.features() > standardisedDim {
		return nil, nil, nil, check.Fail(ErrShape, "features", s.features(), fmt.Sprintf("must be at most %d", standardisedDim))
	}
	o, err := newStandardised(s, Problem{Loss: losses.Logistic{}}, b, c.Classes*s.Dim)
	if err != nil {
		return nil, nil, nil, err
	}
	schedule, err := release.Pool("softmax", o.mu, o.releases, o.dim)
	if err != nil {
		return nil, nil, nil, err
	}
	ledger, err := b.ledger(schedule, o.shape)
	return o, schedule, ledger, err
}

// ofClasses refuses a number of classes, and data that aren't for classes: scores of all of
// them may have a number added without effect, so that offsets say nothing.
func ofClasses(param string, classes int, s Shape) error {
	if classes < 2 || classes > maxClasses {
		return check.Fail(ErrConfig, param, classes, fmt.Sprintf("must lie between 2 and %d", maxClasses))
	}
	if s.largestOffset() != 0 {
		return check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for classes")
	}
	return nil
}

// softmaxing is a run.
type softmaxing struct {
	*standardising
	classes *curator.Classes
	in      *curator.ClassFramed
	k       int
	rates   []float64
}

// ratesShare is what the classes' counts have of μ².
const ratesShare = 0.01

// trainClasses returns the weights of each class.
func (o *standardised) trainClasses(r *run, classes *curator.Classes, k int) ([][]float64, error) {
	begun, err := o.begin(r, 1)
	if err != nil {
		return nil, err
	}
	x := &softmaxing{standardising: begun, classes: classes, k: k}
	if err := x.total(); err != nil {
		return nil, err
	}
	hopeless := x.nmu() < math.Max(45, 8.5*math.Sqrt(float64(x.d*(k-1))))
	share := ratesShare
	if hopeless {
		share = x.pool.left
	}
	if err := x.count(share); err != nil {
		return nil, err
	}
	start := curator.ClassPoint{U: make([][]float64, k), B: make([]float64, k)}
	for c := range k {
		start.U[c] = make([]float64, x.d)
		if start.B[c] = math.Log(x.rates[c]); !x.shape.Intercept {
			start.B[c] = 0
		}
	}
	if hopeless {
		x.frame = curator.Frame{Scale: make([]float64, x.d)}
		return x.weights(start), nil
	}
	few, err := x.standardise()
	if err != nil {
		return nil, err
	}
	if few { // nothing stands out: one scale
		x.frame.Matrix, x.known = nil, nil
		if err := x.roundFrame(2 / x.data.Facts().Bound); err != nil {
			return nil, err
		}
	}
	if x.in, err = classes.Frame(x.ctx, x.frame); err != nil {
		return nil, err
	}
	at, err := x.walkClasses(start)
	if err != nil {
		return nil, err
	}
	return x.weights(at), nil
}

// count releases the classes' rates.
func (x *softmaxing) count(share float64) error {
	answer, err := x.classes.Counts(x.ctx)
	counts, err := x.pool.draw(share, answer, err)
	if err != nil {
		return err
	}
	floor := math.Max(math.Sqrt2/(x.nmu()*math.Sqrt(share)), 2/x.n)
	x.rates = make([]float64, x.k)
	for c, v := range counts {
		x.rates[c] = math.Max(v/x.n, math.Min(floor, 1/float64(x.k)))
	}
	floats.Scale(1/floats.Sum(x.rates), x.rates)
	return nil
}

// steepest is the largest eigenvalue of diag(q) − qqᵀ, the Hessian in the scores where
// probabilities are the rates: at least that of the two largest alone.
func (x *softmaxing) steepest() float64 {
	m := mat.NewSymDense(x.k, nil)
	for i, p := range x.rates {
		for j := i; j < x.k; j++ {
			m.SetSym(i, j, -p*x.rates[j])
		}
		m.SetSym(i, i, p-p*p)
	}
	var e mat.EigenSym
	if !e.Factorize(m, false) {
		return 0.5
	}
	return e.Values(nil)[x.k-1]
}

// stage is planned by what was released so far, as firstStage is. The clip shortens the
// gradients of all classes alike, and may do so for a fifth of the rows where these are even.
func (x *softmaxing) stage() stage {
	nmu, effective := x.nmu(), 1+(x.effective-1)*float64(x.k-1)
	even := float64(x.k) * slices.Min(x.rates) // from 0 to 1
	s := stage{momentum: 0.5, clips: clipsShare, effective: effective, curvature: math.Min(0.5, (4-3*even)*x.steepest())}
	s.steps = int(math.Round(math.Min(math.Max(12+18*math.Log(nmu/(30*x.effective))/math.Log(30), 12), 29)))
	if x.known == nil {
		s.steps = int(math.Min(math.Max(nmu/8, 8), 16))
	}
	s.averaged = s.steps - s.steps/2
	s.share = x.pool.left - s.clips
	s.choose = slices.Compact([]int{0, s.steps / 8, s.steps / 4, s.steps / 2})
	s.allowed = x.n * math.Min(40*math.Sqrt(effective)/nmu, 0.2*even)
	return s
}

// pace sets the length of steps, now that the first clip tells how long gradients are. Where
// classes are even the curvature hardly exceeds that at the rates, and steps may be as long;
// but not where noise in a typical score would exceed about 1, for then probabilities are
// near 0 or 1, the curvature is gone, and nothing holds the noise.
func (x *softmaxing) pace(s *stage, clip float64) {
	careful := math.Min(0.5, 4*x.steepest())
	drowning := float64(4*float64(s.steps)*clip*clip) / (1.5 * math.Sqrt(3*s.share) * x.nmu())
	curvature := math.Min(careful, math.Max(s.curvature, drowning))
	s.size = 1 / (curvature * (1 + math.Min(1, x.spread*x.frobenius())))
	s.ridge = 32 * math.Pow(x.effective/x.nmu()*curvature, 2) / careful
}

// walkClasses runs the steps and shortens the result for its noise.
func (x *softmaxing) walkClasses(start curator.ClassPoint) (curator.ClassPoint, error) {
	s := x.stage()
	at, velocity, tail := start, like(start), like(start)
	noise, clip := make([]float64, s.steps), 0.0
	for t := range s.steps {
		if slices.Contains(s.choose, t) {
			var err error
			if clip, err = x.clipClasses(s, at, clip); err != nil {
				return at, err
			}
		}
		if t == 0 {
			x.pace(&s, clip)
		}
		slope := curator.Slope{Clip: clip}
		if x.shape.Intercept {
			slope.Constant = 1
		}
		answer, err := x.in.Gradient(x.ctx, at, slope)
		g, err := x.pool.draw(s.share/float64(s.steps), answer, err)
		if err != nil {
			return at, err
		}
		noise[t] = 2 * clip / (x.nmu() * math.Sqrt(s.share/float64(s.steps)))
		x.step(s, &at, velocity, x.balanced(g))
		if t >= s.steps-s.averaged {
			for c := range at.U {
				floats.AddScaled(tail.U[c], 1/float64(s.averaged), at.U[c])
				tail.B[c] += at.B[c] / float64(s.averaged)
			}
		}
		x.progress(t+1, s.steps)
	}
	x.shorten(s, noise, start, &tail)
	return tail, nil
}

// balanced takes the mean over classes away from a gradient, class by class: that of the
// rows' is 0, what there is is noise.
func (x *softmaxing) balanced(g []float64) [][]float64 {
	dim := len(g) / x.k
	of := make([][]float64, x.k)
	for c := range of {
		of[c] = g[c*dim : (c+1)*dim]
	}
	for j := range dim {
		mean := 0.0
		for _, v := range of {
			mean += v[j] / float64(x.k)
		}
		for _, v := range of {
			v[j] -= mean
		}
	}
	return of
}

// step moves a point by one step of heavy-ball descent, the ridge proximal.
func (x *softmaxing) step(s stage, at *curator.ClassPoint, v curator.ClassPoint, g [][]float64) {
	next := like(*at)
	for c := range at.U {
		for j, u := range at.U[c] {
			moved := (u + float64(s.momentum*v.U[c][j]) - float64(s.size*g[c][j]/x.n)) / (1 + float64(s.size*s.ridge))
			v.U[c][j], next.U[c][j] = moved-u, moved
		}
		next.B[c] = at.B[c]
		if x.shape.Intercept {
			v.B[c] = float64(s.momentum*v.B[c]) - float64(s.size*g[c][x.d]/x.n)
			next.B[c] += v.B[c]
		}
	}
	*at = next
}

// clipClasses reads a histogram of the gradients' norms: a wide one at first, later one
// around the last clip.
func (x *softmaxing) clipClasses(s stage, at curator.ClassPoint, clip float64) (float64, error) {
	first := clip == 0
	edges := cells(4*clip, math.Sqrt2, 8)
	if first {
		edges = cells(4*math.Sqrt(float64(x.d+1)), 2, 15)
	}
	slope := curator.Slope{Clip: 1}
	if x.shape.Intercept {
		slope.Constant = 1
	}
	answer, err := x.in.GradientNorms(x.ctx, edges, at, slope)
	h, err := x.read(s.clips/float64(len(s.choose)), edges, answer, err)
	if err != nil {
		return 0, err
	}
	h.wide = first
	return math.Max(s.readClip(h, clip, math.Sqrt(1+x.effective)), x.freeClip(s)), nil
}

// shorten is James and Stein's: by the noise of the average in the norm of scores.
func (x *softmaxing) shorten(s stage, noise []float64, start curator.ClassPoint, at *curator.ClassPoint) {
	h, free := x.steepest(), float64(x.k-1)
	known := x.known
	if known == nil {
		known = slices.Repeat([]float64{1}, x.d)
		h *= 0.1
	}
	var drawn, all float64
	for j, weight := range known {
		drawn += float64(free * weight * s.variance(noise, weight*h))
		for c := range at.U {
			all += float64(weight * at.U[c][j] * at.U[c][j])
		}
	}
	keep := math.Max(0, 1-drawn/math.Max(all, 1e-300))
	for c := range at.U {
		floats.Scale(keep, at.U[c])
		at.B[c] = start.B[c] + float64(keep*(at.B[c]-start.B[c]))
	}
}

// like is a point of zeros.
func like(p curator.ClassPoint) curator.ClassPoint {
	q := curator.ClassPoint{U: make([][]float64, len(p.U)), B: make([]float64, len(p.B))}
	for c := range q.U {
		q.U[c] = make([]float64, len(p.U[c]))
	}
	return q
}

// weights maps a point back, class by class.
func (x *softmaxing) weights(at curator.ClassPoint) [][]float64 {
	list := make([][]float64, x.k)
	for c := range list {
		list[c] = x.back(iterate{u: at.U[c], b: at.B[c]})
	}
	return list
}
