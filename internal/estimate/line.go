package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// along goes on from a stage's result by one number, the length k of its scores beside the constant
// model: of one number little of the budget tells much. So scores that noise made, that steps stopped
// short of, or that a clip made too long, have the length at which the loss is least.
//
// Rows have one coordinate z then, their score less the constant model's, and a few more steps of the
// same descent lead from k = 1 to a k whose noise ω is known. Before them k is 1 − v/r², by James and
// Stein's rule: v is the variance of scores that the noise of the stage makes, as forecast, and r² that
// of all of them; its standard deviation is v/r², and LineDoubt beside that. The result is the mean of
// both, each by the inverse of its variance. As n·μ grows ω becomes small, and k is about the least loss's.
//
// The line is fitted to the rows that its direction was fitted to, whose loss is least at too long a k: p
// fitted numbers take p·Var(φ')/n of the slope (Mallows), which is added to the steps' gradients. As p is
// what the steps would have fitted if coordinates were apart, ω counts all of that as unknown.
func (x *Descent) along(first Stage, at Iterate) (Iterate, error) {
	f, from := x.Labels, x.start()
	if d := x.Run.D; x.of == nil {
		at.At[0][d] = from[0][d] + x.interceptWeight(first, at)*(at.At[0][d]-from[0][d])
		if x.Run.Problem.Loss.Labels() == losses.Real { // whose intercept is independent of the scores
			from[0][d] = at.At[0][d]
		}
	}
	r := math.Sqrt(squared(x.Frame, at.At, from))
	if !(r > 0) || x.Run.Pool.Spent() {
		return at, nil
	}
	line, s, err := x.lineStage(from, at.At, r, x.Run.Pool.Left)
	if err != nil {
		return at, err
	}
	if x.of == nil {
		s.NormBound = f.normBound(at.Clip, apart(at.At, from)[0]) / r
	}
	h := x.Labels.flattest()
	sampled := x.fitted(first, h) * f.Residual / (x.Run.N * h * h)
	s.Optimism = sampled * h / r
	clip := f.Typical * math.Sqrt(1+s.Effective)
	if x.of != nil { // whose clip no histogram chooses
		clip *= x.Run.loose()
	}
	to, err := line.Walk(s, Iterate{At: line.start(), Clip: clip})
	if err != nil {
		return at, err
	}
	forecast := x.forecast(first, at) / (r * r)
	unsure := forecast*forecast + tuning.LineDoubt*tuning.LineDoubt
	noise := s.variance(to.Noise, h)/(r*r) + math.Pow(sampled/(r*r), 2)
	k := (math.Max(0, 1-forecast)*noise + to.At[0][0]/r*unsure) / (noise + unsure)
	k = math.Max(0, k)
	to.At, at.At = at.At, between(from, at.At, k)
	if f.Means > 0 && !x.Frame.wide && x.origin == nil { // the intercept makes up for what centred scores add to means, which is about as their square
		at.At[0][x.Run.D] = between(from, to.At, k*k)[0][x.Run.D]
	}
	if x.Run.interceptHidden(f) { // which keeps the mean of predictions
		at.At[0][x.Run.D] -= (x.Frame.scores(at.At) - x.Frame.scores(from)) / 2
	}
	return at, nil
}

// normBound is how long gradients along a way are, times its length in scores, where those of all coordinates are no longer than a clip: by Cauchy and
// Schwarz's inequality. A wide histogram of few rows' budget now and then has an edge, far above, that noise alone exceeds.
func (l Labels) normBound(clip float64, way []float64) float64 {
	u, b := way[:len(way)-1], way[len(way)-1]
	if l.Apart > 0 { // where the intercept isn't in the clip
		return clip*floats.Norm(u, 2) + l.Apart*math.Abs(b)
	}
	return clip * floats.Norm(way, 2)
}

// squared is the mean square of what scores of two points differ by. Where columns aren't centred an intercept makes up for what these add to all
// scores, and that counts on neither side.
func squared(x *Frame, at, from [][]float64) float64 {
	way := apart(at, from)
	sum := x.scores(way)
	for _, of := range way {
		if !x.wide {
			sum += float64(of[x.run.D] * of[x.run.D])
		}
	}
	return sum
}

// apart is the way to a point from another one.
func apart(at, from [][]float64) [][]float64 {
	way := like(at)
	for c, of := range at {
		floats.SubTo(way[c], of, from[c])
	}
	return way
}

// lineStage is planned with what is left. It begins at the further point, whose number is r.
func (x *Descent) lineStage(from, to [][]float64, r, share float64) (*Descent, Stage, error) {
	f := x.Labels
	s := Stage{Steps: tuning.LineSteps, Averaged: tuning.LineSteps / 2, Effective: 2, Line: true}
	s.Size = 1 / math.Min(f.Steepest, tuning.StepCurvature*f.Curvature)
	if x.of != nil {
		s.In, s.Share = factored{x.of, from, to, r}, share
		return &Descent{Run: x.Run, Labels: f, Frame: x.Frame, still: true, origin: point([]float64{r}, 0)}, s, nil
	}
	line, offset, err := x.Frame.through(from, to, r)
	s.In, s.Choose = oneColumn{line.In}, []int{0}
	s.Clips = tuning.LineCounts * share
	s.Share = share - s.Clips
	return &Descent{Run: x.Run, Labels: f, Frame: line, still: true, origin: point([]float64{r}, offset)}, s, err
}

// fitted is how many coordinates a stage has fitted to the rows: of each direction the part of the way to
// the least loss that its steps go.
func (x *Descent) fitted(s Stage, h float64) (sum float64) {
	for _, signal := range x.Frame.Signal {
		sum += float64(signal * h * floats.Sum(s.effects(signal*h)))
	}
	return sum * x.contrasts()
}

// forecast is the variance of scores that the noise of a stage's steps makes.
func (x *Descent) forecast(s Stage, at Iterate) float64 {
	return s.spread(x.Frame.Signal, x.Labels.flattest(), at.Noise) * x.contrasts()
}

// through is the frame of one coordinate, what scores of a point have beside another one's, over r: a
// constant there moves the centre. The others are the frame's base, or an offset where they are constant.
func (x *Frame) through(from, to [][]float64, r float64) (f *Frame, offset float64, err error) {
	d, way := x.run.D, apart(to, from)[0]
	w, beside := x.features(way[:d]), way[d]
	f = &Frame{run: x.run, At: curator.Frame{Centre: x.At.Centre, Each: x.At.Each}, Signal: []float64{1}, Effective: 2, Spread: x.Spread}
	if square := floats.Dot(w, w); square > 0 && beside != 0 {
		f.At.Centre = make([]float64, d)
		copy(f.At.Centre, x.At.Centre)
		floats.AddScaled(f.At.Centre, -beside/square, w)
	}
	floats.Scale(1/r, w)
	f.At.Matrix = mat.NewDense(d, 1, w)
	if offset = from[0][d]; floats.Norm(from[0][:d], math.Inf(1)) > 0 {
		f.At.Base, offset = x.Weights(from)[0], 0
	}
	f.In, err = x.run.Frame(f.At)
	return f, offset, err
}
