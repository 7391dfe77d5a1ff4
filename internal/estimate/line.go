package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// lineShare is the share of μ² for the last steps: one with which noise is about the same whatever
// n·μ is, as long as that isn't too much of what there is.
func (x *Run) lineShare() float64 {
	return math.Min(math.Max(math.Pow(tuning.LineKnown/x.NMu(), 2), tuning.LineLeastShare), tuning.LineMostShare)
}

// along goes on from a stage's result by one number, the length k of its scores beside the constant
// model: of one number little of the budget tells much. So scores that noise made, that steps stopped
// short of, or that a clip made too long, have the length at which the loss is least.
//
// Rows have one coordinate z then, their score less the constant model's, and a few more steps of the
// same descent lead from k = 1 to a k whose noise ω is known. Before them k is 1 − v/r², by James and
// Stein's rule: v is the variance of scores that the noise of the stage makes, as forecast, and r² that
// of all of them; its standard deviation τ is v/r², what the clip may have done, and a floor. The
// result is the mean of both, each by the inverse of its variance. As n·μ grows ω becomes small, and k is
// about the least loss's.
func (x *Descent) along(first Stage, at Iterate) (Iterate, error) {
	f := x.Labels
	at.B = f.Bias + x.interceptWeight(first, at)*(at.B-f.Bias)
	if x.Run.Problem.Loss.Labels() == losses.Real { // whose intercept is independent of the scores
		f.Bias = at.B
	}
	spread := x.Frame.scores(at.U)
	r := math.Hypot(math.Sqrt(spread), at.B-f.Bias)
	if !(r > 0) || x.Run.Pool.Spent() {
		return at, nil
	}
	line, err := x.Frame.through(at.U, at.B-f.Bias, r)
	if err != nil {
		return at, err
	}
	h := math.Min(f.Curvature, f.Steepest)
	s := Stage{In: line.In, Steps: tuning.LineSteps, Averaged: tuning.LineSteps / 2, Effective: line.Effective, Curvature: f.Residual, Choose: []int{0}, Line: true}
	s.Size = 1 / math.Min(f.Steepest, tuning.StepCurvature*f.Curvature)
	s.Clips = tuning.LineClips * x.Run.Pool.Left
	s.Share = x.Run.Pool.Left - s.Clips
	known := x.Run.NMu() * math.Sqrt(s.Share)
	s.Allowed = x.Run.N * math.Min(tuning.ClippedRows*math.Sqrt(s.Effective)/known, f.most())
	to, err := (&Descent{x.Run, f, line, true}).Walk(s, Iterate{U: []float64{r}, B: f.Bias, Clip: f.Typical * math.Sqrt(1+line.Effective)})
	if err != nil {
		return at, err
	}
	forecast := x.forecast(first, at) / (r * r)
	held := math.Min(1, f.Typical*math.Sqrt(1+first.Effective)/at.Clip)
	unsure := forecast*forecast + math.Pow(tuning.LineClipDoubt*held, 2) + tuning.LineDoubt*tuning.LineDoubt
	noise := s.variance(to.Noise, h) / (r * r)
	k := (math.Max(0, 1-forecast)*noise + to.U[0]/r*unsure) / (noise + unsure)
	k = math.Max(0, math.Min(k, tuning.LineMost))
	floats.Scale(k, at.U)
	at.B = f.Bias + k*(at.B-f.Bias)
	if x.Run.interceptHidden(f) {
		at.B -= k * k * spread / 2 // which keeps the mean of predictions
	}
	return at, nil
}

// forecast is the variance of scores that the noise of a stage's steps makes.
func (x *Descent) forecast(s Stage, at Iterate) (sum float64) {
	h := math.Min(x.Labels.Curvature, x.Labels.Steepest)
	for _, signal := range x.Frame.Signal {
		sum += float64(signal * s.variance(at.Noise, signal*h))
	}
	return sum
}

// through is the frame of one coordinate, ⟨u, x̃⟩ and a constant beside it, over r: the constant moves
// the centre.
func (x *Frame) through(u []float64, beside, r float64) (*Frame, error) {
	w, d := x.features(u), x.run.D
	f := &Frame{run: x.run, At: curator.Frame{Centre: x.At.Centre}, Signal: []float64{1}, Effective: 2, Spread: x.Spread}
	if square := floats.Dot(w, w); square > 0 && beside != 0 {
		f.At.Centre = make([]float64, d)
		copy(f.At.Centre, x.At.Centre)
		floats.AddScaled(f.At.Centre, -beside/square, w)
	}
	floats.Scale(1/r, w)
	f.At.Matrix = mat.NewDense(d, 1, w)
	var err error
	f.In, err = x.run.Sums.Frame(x.run.Task.Ctx, f.At)
	return f, err
}
