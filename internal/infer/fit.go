package infer

import (
	"errors"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/ordinal"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Problem is what is inferred, from public facts.
type Problem struct {
	Estimate estimate.Problem
	Doubt    ordinal.Doubt // of thresholds that were estimated
	alone    bool          // whether weights are all that is asked for
}

// leastNMu is the n·μ below which there is no inference, which can't do without moments.
func leastNMu(d int) float64 { return tuning.LeastNMu * math.Sqrt(float64(d)) }

// Futile reports whether public numbers tell that nothing will be determined: no more than
// the constant model is to be had, or second moments would drown.
func (p Problem) Futile() bool {
	part := p.Estimate.Share(p.pilotShare())
	return part.Hopeless() || part.NMu() < leastNMu(part.Facts.Features())
}

// pilotShare is the pilot's: less where noise is little.
func (p Problem) pilotShare() float64 {
	nmu, d := p.Estimate.NMu(), math.Max(tuning.PilotFewest, float64(p.Estimate.Facts.Features()))
	near, least := tuning.PilotNear, tuning.PilotLeast
	if p.Estimate.Loss.Labels() == losses.Real {
		near, least = tuning.PilotNearReal, tuning.PilotLeastReal
	}
	return math.Min(math.Max(tuning.PilotSlope*d*math.Sqrt(near/nmu), least), tuning.PilotMost)
}

// Suits reports whether there are laws for a loss.
func Suits(l losses.Loss) bool {
	switch l.(type) {
	case losses.Squared, losses.Logistic, losses.Probit, losses.Poisson, losses.NegativeBinomial, losses.Gamma, losses.Ordinal:
		return true
	}
	return false
}

// Weights are an estimate's alone: where there is little noise those that an inference's steps lead to, which end nearer to the minimiser
// than a descent, and whose limit is the loss's minimiser, else those of a descent.
func Weights(p estimate.Problem, t estimate.Task) ([]float64, error) {
	d := p.Facts.Features()
	if d > estimate.MostFeatures || !estimate.Quiet(p.NMu(), d) || !Suits(p.Asked) {
		return estimate.Fit(p, t)
	}
	w, _, err := Problem{Estimate: p, alone: true}.Fit(t)
	return w, err
}

// Fit releases a pilot, and what the steps and the covariance need. There is no law where nothing
// is determined.
func (p Problem) Fit(t estimate.Task) (w []float64, l *Law, err error) {
	if p.Futile() {
		w, err = estimate.Fit(p.Estimate, t)
		return w, nil, err
	}
	within := t
	within.Progress = func(done, total int) { t.Progress(done, total+tuning.NewtonSteps) }
	pilot, err := estimate.Begin(p.Estimate.Share(p.pilotShare()), within)
	if err != nil {
		return nil, nil, err
	}
	pilot.Pilot = true
	labels, err := pilot.Start()
	if err != nil {
		return nil, nil, err
	}
	if pilot.Pool.Spent() {
		return pilot.Constant(labels)[0], nil, nil
	}
	if pilot.NMu() < leastNMu(pilot.D) { // the rows' weights, now known, come to too little
		w, err = estimate.Fit(p.Estimate.Share(1-p.pilotShare()*(1-pilot.Pool.Left)), t)
		return w, nil, err
	}
	frame, err := pilot.Standardise()
	if err != nil {
		return nil, nil, err
	}
	return p.from(t, pilot, labels, frame)
}

// from goes on from a pilot's frame.
func (p Problem) from(t estimate.Task, pilot *estimate.Run, labels estimate.Labels, frame *estimate.Frame) (w []float64, l *Law, err error) {
	if _, err := frame.Shorten(frame.LevelNormBound()); err != nil {
		return nil, nil, err
	}
	descent := &estimate.Descent{Run: pilot, Labels: labels, Frame: frame}
	at, steps, err := descent.Pilot()
	if err != nil {
		return nil, nil, err
	}
	begun := estimate.Begun(descent)
	x, err := estimate.Begin(p.Estimate, t)
	if err != nil {
		return nil, nil, err
	}
	x.Pool.Left = 1 - p.pilotShare()
	x.N, x.NNoise = pilot.N, pilot.NNoise // what rows come to, as the pilot's labels tell
	v := &newton{in: newSpace(x, labels, frame.For(x), at)}
	v.in.alone, v.in.begun = p.alone, begun[:x.D]
	if err := v.estimate(steps); errors.Is(err, check.ErrBound) || errors.Is(err, errEigen) {
		// Bounds that differ by a hundred orders of magnitude lead to frames, points or
		// sensitivities that no number holds. All follow from what was released.
		return frame.Weights(at.At)[0], nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	v.allowForMean()
	l = v.law()
	w = l.of(v.theta)
	if !slices.Equal(w, estimate.Clamp(w)) || !l.finite() || !l.tells(t.Levels()) {
		return frame.Weights(at.At)[0], nil, nil // a step from there is noise
	}
	if p.Doubt != (ordinal.Doubt{}) {
		v.widenFor(p.Doubt, l)
	}
	if !l.finite() {
		l = nil
	}
	return w, l, nil
}

// estimate releases what the estimate and its law are made of; done steps were before it.
func (v *newton) estimate(done int) error {
	if err := v.in.enframe(); err != nil {
		return err
	}
	v.clip.in, v.clip.unit = v.in, 1
	if err := v.clip.choose(); err != nil {
		return err
	}
	if err := v.walk(done); err != nil {
		return err
	}
	return v.steepen()
}
