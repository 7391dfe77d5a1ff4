package dpglm

import (
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/smooth"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// start is a planned release of the labels' mean. It tells where the constant model is, which
// is the centre of the ball where no radius is given.
type start struct {
	shape        Shape
	loss         losses.Loss
	mean, totals additive // totals is nil where rows have neither weights nor offsets, and no persons are stated who may have none
	schedule     *release.Schedule
	last         []*release.Schedule // of the mean of predictions, at the end; none where that isn't released
	rest         Budget              // for what follows
	mu           float64             // of all that is released here, where noise is Gaussian
	share, most  float64             // of μ²: the labels', and the most that it may be
}

// begun is a start that was released.
type begun struct {
	score             float64 // of the constant model
	sd                float64 // of the noise in it
	n, noise, shifted float64 // how many rows there are, the noise in that, and their mean offset
}

// What rounding takes of a budget that is divided: of a sum of several parts, or of its root.
const (
	splitRoom = 1e-11
	poolRoom  = 1e-9
)

// newStart plans the release before so many others, each of at most dim coordinates. As n·μ nears what makes for no more than the constant model, the mean has
// all of the budget but what it has at least elsewhere. Where one of so many models is chosen that is where each has μ over their root.
func newStart(s Shape, l losses.Loss, b Budget, others, dim, models int) (*start, error) {
	mu, err := b.gdp()
	if err != nil {
		return nil, err
	}
	s = s.byRows()
	o := &start{shape: s, loss: l}
	releases, totals := 1.0, s.facts().TotalledBesideLabels()
	if totals {
		releases = 2
	}
	sums, numbers := len(curator.LabelSteps(l.Labels(), s.LabelBound)), 2
	if o.problem().WideExposures() {
		numbers++
	}
	if s.AddRemove {
		sums++
	}
	o.share, o.most = s.facts().StartShare(l, mu)
	o.share = math.Max(o.share, math.Min(float64(models)*math.Pow(tuning.LeastNMu/(float64(s.Rows)*mu), 2), 1-tuning.StartLeastShare))
	if b.pure {
		epsilon, err := b.pureEpsilon()
		if err != nil {
			return nil, err
		}
		own := epsilon * math.Sqrt(o.share)
		o.rest = PureDP((epsilon - own) * (1 - splitRoom))
		each := mechanisms.Laplace{Epsilon: own / releases * (1 - splitRoom)}
		o.mean, o.totals = laplace{each, sums}, laplace{each, numbers}
	} else {
		each, err := b.gaussian(others+2, max(dim, sums, numbers))
		if err != nil {
			return nil, err
		}
		whole := each.Mu * math.Sqrt(float64(others+2)) * (1 - poolRoom)
		o.mu, o.rest = whole*math.Sqrt(o.share), GDP(whole*math.Sqrt(1-o.share))
		each.Mu = whole * math.Sqrt(o.share/releases)
		o.mean, o.totals = gaussian{each, sums}, gaussian{each, numbers}
	}
	o.rest.addRemove, o.rest.labelsOnly = b.addRemove, b.labelsOnly
	if !totals {
		o.totals = nil
	}
	return o, o.plan()
}

// half gives half of what Gaussian noise of labels has of μ² to that of predictions, which are released later.
func (o *start) half() error {
	mean := o.mean.(gaussian)
	mean.Mu /= math.Sqrt2
	o.mean = mean
	return o.again(mean)
}

// again plans the mean of predictions as that of labels.
func (o *start) again(mean gaussian) error {
	last, err := mean.schedule("predictions' sum", 1)
	if err != nil {
		return err
	}
	o.last = []*release.Schedule{last}
	return o.plan()
}

// beside plans a release of the mean of predictions, by which the result is recalibrated, for losses of numbers that are lowest at their
// mean: clipped gradients lead to a middle of the labels in place of it. (Of two classes the two are nearer, and noise costs more.) Both means have as much of μ²
// as that of labels asks for, or half of the most each. Where that is less, and a model is chosen among the constant one and others, nothing is
// planned: the choice is worth more then. Nor is it where hardly more than the constant model is to be had.
func (o *start) beside(choice bool) error {
	_, squared := o.loss.(losses.Squared)
	mean, of := o.mean.(gaussian)
	if !of || !squared && losses.LinkOf(o.loss) != losses.Log || o.share > o.most || choice && o.share > o.most/2 {
		return nil
	}
	each, all := math.Min(1, o.most/(2*o.share)), float64(o.mu*o.mu)+float64(o.rest.mu*o.rest.mu)
	before := float64(mean.Mu * mean.Mu)
	mean.Mu *= math.Sqrt(each)
	more := 2*float64(mean.Mu*mean.Mu) - before
	o.mean, o.mu = mean, math.Sqrt(float64(o.mu*o.mu)+more)
	o.rest.mu = math.Sqrt(all - float64(o.mu*o.mu))
	return o.again(mean)
}

// around are the releases, if there are any, and those that lie between them.
func (o *start) around(between ...*release.Schedule) []*release.Schedule {
	if o == nil {
		return between
	}
	return slices.Concat([]*release.Schedule{o.schedule}, between, o.last)
}

// plan makes the schedule.
func (o *start) plan() error {
	var err error
	if o.schedule, err = o.mean.schedule("labels' sum", 1); err != nil || o.totals == nil {
		return err
	}
	totals, err := o.totals.schedule("what rows and their offsets come to", 1)
	if err != nil {
		return err
	}
	o.schedule, err = release.Sequential("constant model", o.schedule, totals)
	return err
}

// passes are those over the rows.
func (o *start) passes() int {
	passes := 1
	if o.totals != nil {
		passes++
	}
	if o.last != nil {
		passes++
	}
	return passes
}

// begin releases the start, and has the run go on from there. Where several parties hold the rows their plan is for sums of
// gradients in a ball, and no others: nothing is released, and the start is 0.
func (o *start) begin(r *run, allow *release.Allowance) error {
	r.start = &begun{n: float64(o.shape.Rows)}
	if r.data.Parties() {
		return nil
	}
	sums, err := r.byRows().data.Under(o.loss)
	if err != nil {
		return err
	}
	mean, p := allow, o.problem()
	if o.totals != nil {
		if mean, err = allow.Part(0); err != nil {
			return err
		}
		totals, err := allow.Part(1)
		if err != nil {
			return err
		}
		noise := p.Facts.Deviation(p.TotalsNoise()) * o.totals.perSensitivity()
		answer, err := sums.Totals(r.ctx, 1, p.ExposurePower(noise))
		v, err := released(totals, answer, err)
		if err != nil {
			return err
		}
		r.start.n, r.start.noise, r.start.shifted = p.Totals(v, noise)
	}
	answer, err := sums.Labels(r.ctx)
	v, err := released(mean, answer, err)
	if err == nil {
		*r.start = o.read(*r.start, v)
	}
	return err
}

func (o *start) problem() estimate.Problem {
	return estimate.Problem{Facts: o.shape.facts(), Loss: smooth.Descended(o.loss, o.shape.LabelBound, o.shape.exposed())}
}

// scoreStep is that of a difference quotient, over the score where that is larger than 1: its square is small beside 1, and it is large beside rounding.
const scoreStep = 1e-4

// read is what the sums of labels tell, once it is known how many these are.
func (o *start) read(of begun, sums []float64) begun {
	p := o.problem()
	mean, n, noise := p.MeanLabel(sums, p.Facts.Deviation(1)*o.mean.perSensitivity(), of.n, of.noise)
	l := p.Labels(n, of.shifted, mean)
	link, z := losses.LinkOf(o.loss), l.Bias+of.shifted
	step := scoreStep * math.Max(1, math.Abs(z))
	slope := (link.Mean(z+step) - link.Mean(z-step)) / (2 * step)
	return begun{score: l.Bias, sd: l.Noise / slope, n: n, noise: noise, shifted: of.shifted}
}

// recalibrate moves the intercept of w by the difference between the constant models' scores of the labels and of what w predicts, shortened by
// James and Stein's rule for the noise in both. The mean of predictions is released as that of the labels was. Nothing moves where no such release is planned.
func (o *start) recalibrate(r *run, w []float64, part func() (*release.Allowance, error)) error {
	if o == nil || o.last == nil || r.data.Parties() {
		return nil
	}
	allow, err := part()
	if err != nil {
		return err
	}
	sums, err := r.byRows().data.Under(o.loss)
	if err != nil {
		return err
	}
	answer, err := curator.Predicted(r.ctx, sums, w)
	v, err := released(allow, answer, err)
	if err != nil {
		return err
	}
	of := o.read(*r.start, v)
	by := r.start.score - of.score
	w[len(w)-1] += by * estimate.JamesStein(float64(r.start.sd*r.start.sd)+float64(of.sd*of.sd), by*by)
	return nil
}

// recalibrateChosen recalibrates a model that was chosen, by the third part of the training's allowance.
func (o *start) recalibrateChosen(r *run, chosen *fitted, training *release.Allowance) error {
	return o.recalibrate(r, chosen.weights[0], func() (*release.Allowance, error) { return training.Part(2) })
}

// released is an answer with noise.
func released(allow *release.Allowance, answer release.Answer, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return allow.AddNoise(answer)
}

// run releases the start, where it is planned, and trains with the parts of the schedule that
// follow, each of which is given once.
func (o *start) run(r *run, train func(r *run, part func() (*release.Allowance, error)) ([]float64, error)) ([]float64, error) {
	of, next := *r, 0
	part := func() (*release.Allowance, error) {
		next++
		return r.allow.Part(next - 1)
	}
	if o == nil {
		return train(&of, part)
	}
	allow, err := part()
	if err != nil {
		return nil, err
	}
	if err := o.begin(&of, allow); err != nil {
		return nil, err
	}
	return train(&of, part)
}

// centre are the weights of the constant model.
func (r *run) centre(dim int) []float64 {
	c := make([]float64, dim)
	if r.start != nil {
		c[dim-1] = r.start.score
	}
	return c
}

// capRoom keeps a cap below check.MaxScale.
const capRoom = 4

// capAround is lossCap at scores within z of a start that was released.
func (r *run) capAround(l losses.Loss, z, labelBound, planned float64) float64 {
	if r.start == nil {
		return planned
	}
	score := math.Abs(r.start.score)
	limit, there := l.Constants(score+z, labelBound).Value, maxCap*l.Constants(score, labelBound).Value
	if !(limit < there) {
		limit = there
	}
	return math.Min(limit, check.MaxScale/capRoom)
}

// before releases the start from d by the first part of a schedule, and returns the run that
// goes on from there and the allowance of the second part.
func (o *start) before(r *run, d *curator.Data, allow *release.Allowance) (*run, *release.Allowance, error) {
	first, err := allow.Part(0)
	if err != nil {
		return nil, nil, err
	}
	rest, err := allow.Part(1)
	if err != nil {
		return nil, nil, err
	}
	of := *r
	of.data = d
	return &of, rest, o.begin(&of, first)
}

// The scores of binary losses that default radii reach at the feature bound:
// nearScore where noise or a certificate grows with the ball, farScore elsewhere, as
// rows are often much shorter than their bound.
const (
	nearScore = 10
	farScore  = smooth.FarScore
)

// leastLambda is the least λ over a loss's smoothness and the square of rows' bound: a billionth.
const leastLambda = 1e-9

// solvable refuses a loss whose smoothness is not known, and a λ so small (0 is
// the default's) that a solver would not end in good time.
func solvable(trained losses.Loss, s Shape, p Problem, lambda float64) error {
	k := trained.Constants(s.FeatureBound*p.Radius, s.LabelBound)
	if !(k.Smoothness > 0) || math.IsInf(k.Smoothness, 1) {
		return check.Fail(ErrConfig, "loss", trained.Name(), "must have a known smoothness above zero, or be one that losses.Envelope can smooth")
	}
	if least := leastLambda * k.Smoothness * s.FeatureBound * s.FeatureBound; lambda != 0 && lambda < least {
		return check.Fail(ErrConfig, "Lambda", lambda, fmt.Sprintf("must be at least %.3g here, a billionth of the loss's smoothness", least))
	}
	return nil
}

// regularisation returns the λ with the lowest predicted risk; noise is the
// standard deviation per unit of sensitivity, and rows'
// gradients are held to the clip.
func regularisation(s Shape, l losses.Loss, radius, noise, clip float64) float64 {
	x, n := s.FeatureBound, float64(s.Rows)
	k := l.Constants(x*radius, s.LabelBound)
	perLambda := math.Min(x*l.Diameter(x*radius, s.LabelBound), 2*clip) * noise / n // σ·λ
	smooth := math.Cbrt(2*k.Smoothness*x*x*perLambda*perLambda) / math.Cbrt(radius*radius)
	risk := smooth*radius*radius/2 + k.Smoothness*x*x*perLambda*perLambda/(2*smooth*smooth)
	lipschitz := math.Sqrt(2*math.Sqrt(2/math.Pi)*x*k.Lipschitz*perLambda) / radius
	if lipschitz*radius*radius < risk { // its two terms are equal at the optimum
		return lipschitz
	}
	return smooth
}

// lettingGo grows with data and budget, and is 1 where a default clip may begin to.
func lettingGo(s Shape, mu float64) float64 {
	return math.Sqrt(float64(s.Rows) * mu / (tuning.LettingGo * math.Sqrt(float64(s.Dim))))
}
