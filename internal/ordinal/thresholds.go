package ordinal

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Ordered is a problem whose labels are levels, with thresholds that are to be estimated.
type Ordered struct {
	Problem estimate.Problem
	Levels  int
	// Count releases how many rows have each level and a score in each cell with a share of μ²,
	// for weights of 0 how many have each level.
	Count func(w []float64, share float64) (Cells, error)
}

// jointShare is that of a joint histogram: more, the more its noise hides.
func (o Ordered) jointShare() float64 {
	hides := tuning.JointHides * float64(o.Levels) / (float64(o.Problem.Facts.Rows) * o.Problem.Mu)
	return math.Min(math.Max(hides, tuning.JointLeastShare), tuning.JointMostShare)
}

// joint releases counts.
func (o Ordered) joint(w []float64, share float64) (*jointCounts, error) {
	cells, err := o.Count(w, share)
	if err != nil {
		return nil, err
	}
	return newJointCounts(cells), nil
}

// with is the problem with given thresholds and a fraction of all μ².
func (o Ordered) with(t thresholds, fraction float64) estimate.Problem {
	p := o.Problem.Share(fraction)
	p.Loss = losses.Ordinal{Thresholds: t.theta}
	return p
}

// Fit releases thresholds, trains by them with what is left, and moves them to where the
// likelihood is largest for the scores that came out; where they are rows' scores under a model of
// little budget first, noise in these makes thresholds too close. The loss is convex in weights and
// thresholds together, so that with much budget both end close to its minimum.
func (o Ordered) Fit(t estimate.Task) (w, theta []float64, err error) {
	first, err := o.first(t, o.jointShare())
	if err != nil {
		return nil, nil, err
	}
	if w, err = estimate.Fit(o.with(first.found, first.left), first.task); err != nil {
		return nil, nil, err
	}
	counts, err := o.joint(w, o.jointShare())
	if err != nil {
		return nil, nil, err
	}
	theta = counts.likeliest(first.found.theta, false).theta
	o.centre(w, theta)
	return w, theta, nil
}

// Before releases thresholds for a fit with what they leave of μ², which is told what
// estimating them adds to its variance. A law of its estimate is for these thresholds, which don't
// move then.
func (o Ordered) Before(t estimate.Task, fit func(p estimate.Problem, d Doubt, t estimate.Task) ([]float64, error)) (w, theta []float64, err error) {
	first, err := o.first(t, 0)
	if err != nil {
		return nil, nil, err
	}
	if w, err = fit(o.with(first.found, first.left), first.counts.doubt(first.found), first.task); err != nil {
		return nil, nil, err
	}
	theta = first.found.theta
	o.centre(w, theta)
	return w, theta, nil
}

// opening is thresholds, the counts that they were made of, and what follows them.
type opening struct {
	found  thresholds
	counts *jointCounts
	left   float64       // of μ²
	task   estimate.Task // with the progress of what follows
}

// first releases thresholds, and keeps a share of μ² for later.
func (o Ordered) first(t estimate.Task, kept float64) (opening, error) {
	counts, err := o.joint(make([]float64, o.Problem.Facts.Dim), tuning.CountsShare)
	if err != nil {
		return opening{}, err
	}
	found := opening{counts.marginal(), counts, 1 - tuning.CountsShare - kept, t}
	little := o.with(found.found, tuning.JointMostShare)
	if little.Hopeless() {
		return found, nil
	}
	steps, with := 0, t
	with.Progress = func(done, total int) {
		steps = total
		t.Progress(done, 2*total)
	}
	w, err := estimate.Fit(little, with)
	if err != nil {
		return opening{}, err
	}
	found.task.Progress = func(done, total int) { t.Progress(done+steps, total+steps) }
	if found.counts, err = o.joint(w, o.jointShare()); err != nil {
		return opening{}, err
	}
	found.found = found.counts.likeliest(found.found.theta, true)
	found.left = found.left - tuning.JointMostShare - o.jointShare()
	return found, nil
}

// centre moves thresholds beside an intercept to the mean 0.
func (o Ordered) centre(w, theta []float64) {
	if !o.Problem.Facts.Intercept {
		return
	}
	mean := floats.Sum(theta) / float64(len(theta))
	floats.AddConst(-mean, theta)
	w[len(w)-1] -= mean
}
