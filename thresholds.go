package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// The shares of μ² that go to thresholds which are to be estimated.
const (
	levelsShare = 0.01 // how many rows each level has
	firstShare  = 0.15 // a model by these, for the order of the rows' scores
	leastJoint  = 0.04 // rows by level and by that score, or by the last model's
	mostJoint   = 0.15
)

// jointShare is that of a joint histogram: more, the more its noise hides.
func (o *standardised) jointShare() float64 {
	hides := 150 * float64(o.unknown) / (float64(o.shape.Rows) * o.mu)
	return math.Min(math.Max(hides, leastJoint), mostJoint)
}

// withThresholds releases thresholds, trains by them with what is left, and moves them to where the
// likelihood is largest for the scores that came out; where they are rows' scores under a model of
// little budget first, noise in these makes thresholds too close. The loss is convex in weights and
// thresholds together, so that with much budget both end close to its minimum.
func (o *standardised) withThresholds(r *run, train func(o *standardised, r *run) ([]float64, error)) ([]float64, error) {
	counts, err := o.joint(r, make([]float64, o.shape.Dim), levelsShare)
	if err != nil {
		return nil, err
	}
	t, with, left := counts.marginal(), *r, 1-levelsShare
	if !o.infers {
		left -= o.jointShare()
	}
	if first := o.part(firstShare, t.theta); !first.foreseen().hopeless() {
		steps := 0
		with.progress = func(done, total int) {
			steps = total
			r.progress(done, 2*total)
		}
		w, err := first.within(&with, 1)
		if err != nil {
			return nil, err
		}
		with.progress = func(done, total int) { r.progress(done+steps, total+steps) }
		if counts, err = o.joint(r, w, o.jointShare()); err != nil {
			return nil, err
		}
		t, left = counts.likeliest(t.theta, true), left-firstShare-o.jointShare()
	}
	main := o.part(left, t.theta)
	main.doubt = counts.doubt(t)
	w, err := train(main, &with)
	if err != nil {
		return nil, err
	}
	if !o.infers { // whose law is of these thresholds
		if counts, err = o.joint(r, w, o.jointShare()); err != nil {
			return nil, err
		}
		t = counts.likeliest(t.theta, false)
	}
	return o.settled(r, w, t.theta), nil
}

// settled tells the thresholds, whose mean is 0 beside an intercept.
func (o *standardised) settled(r *run, w, theta []float64) []float64 {
	if o.shape.Intercept {
		mean := floats.Sum(theta) / float64(len(theta))
		floats.AddConst(-mean, theta)
		w[len(w)-1] -= mean
	}
	if r.thresholds != nil {
		*r.thresholds = theta
	}
	return w
}

// part is the same with given thresholds and a fraction of all μ².
func (o *standardised) part(fraction float64, theta []float64) *standardised {
	p := *o
	p.unknown, p.mu, p.fraction = 0, o.mu*math.Sqrt(fraction), o.fraction*fraction
	p.loss = losses.Ordinal{Thresholds: theta}
	return &p
}

// joint releases how many rows have each level and a score in each cell, as EvaluateLevels does, with
// a share of μ²; for weights of 0 how many have each level.
func (o *standardised) joint(r *run, w []float64, share float64) (*jointCounts, error) {
	sums, err := r.data.Under(losses.Squared{})
	if err != nil {
		return nil, err
	}
	p := &levelEvaluation{counting: counts(o.shape, o.mu), shape: o.shape, k: o.unknown}
	p.ctx, p.allow = r.ctx, r.allow
	p.cells = min(max(int(math.Sqrt(float64(o.shape.Rows)*p.mu*math.Sqrt(share)/float64(p.k))), leastCells), mostCells)
	if err := p.take(&Model{weights: w}); err != nil {
		return nil, err
	}
	if p.in, err = sums.Frame(r.ctx, curator.Frame{}); err != nil {
		return nil, err
	}
	if floats.Norm(w[:o.shape.features()], math.Inf(1)) == 0 { // one cell
		list, spread, err := p.levels(share, nil)
		c := newJointCounts(o.unknown, list, spread)
		c.z = []float64{w[len(w)-1]}
		return c, err
	}
	edges, beyond, err := p.scoreCells(share)
	if err != nil {
		return nil, err
	}
	list, spread, err := p.levels((1-rangeShare)*share, edges)
	if err != nil {
		return nil, err
	}
	c := newJointCounts(o.unknown, list, spread)
	c.z = append(c.z, edges[0]-beyond)
	for j := 1; j < len(edges); j++ {
		c.z = append(c.z, (edges[j-1]+edges[j])/2)
	}
	c.z = append(c.z, edges[len(edges)-1]+beyond)
	return c, nil
}
