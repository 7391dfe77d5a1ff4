package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
)

// clipChoices is how often the clip is chosen: at the steps that pace lists.
const clipChoices = 4

// stage is planned by what was released so far, as firstStage is. The clip shortens the
// gradients of all classes alike, and may do so for three tenths of the rows where these are
// even.
func (x *softmaxing) stage() Stage {
	directions := x.frame.Effective - 1
	if x.frame.Signal == nil {
		directions = float64(x.run.D)
	}
	even := float64(x.k) * slices.Min(x.rates) // from 0 to 1
	s := Stage{Clips: tuning.ClipsShare, Effective: 1 + float64(directions*float64(x.k-1))}
	s.Curvature = math.Min(0.5, (tuning.ClassCurvatureRare-tuning.ClassCurvatureEven*even)*x.steepest())
	s.Allowed = x.run.N * math.Min(tuning.ClippedRows*math.Sqrt(s.Effective)/x.run.NMu(), tuning.ClassClipped*even)
	s.Share = x.run.Pool.Left - s.Clips
	if x.scaled {
		s.Share -= tuning.FactorShare
	}
	return s
}

// pace sets how many steps there are and how long they are, now that the first clip tells how
// long gradients and rows are, and returns the clip to begin with. Steps are as long as the
// curvature allows, or as noise in a typical score allows: what exceeds about 1 makes
// probabilities near 0 or 1, where the curvature is gone and nothing holds the noise.
//
// Where noise decides, a smaller clip lets the descent go further, and what it takes from long
// gradients matters less than that; the more so where columns weren't whitened and there are
// many directions. Where it doesn't, momentum does: where scores must become large the loss is
// so flat that few steps don't get there.
func (x *softmaxing) pace(s *Stage, clip float64) float64 {
	s.Steps = tuning.ClassMostSteps
	if x.frame.Signal != nil {
		s.Steps = int(math.Round(math.Min(math.Max(tuning.LeastSteps+tuning.StepsMore*math.Log(x.run.NMu()/(tuning.StepsFrom*(1+x.typical)))/math.Log(tuning.StepsFrom), tuning.ClassLeastSteps), tuning.ClassMostSteps)))
	}
	s.Averaged = s.Steps - s.Steps/2
	s.Choose = []int{0, s.Steps / tuning.ClipEarly, s.Steps / tuning.ClipLater, s.Steps / 2}
	tight := tuning.ClassTight
	s.Size = 1 / (s.Curvature * (1 + math.Min(1, x.frame.Spread*x.frame.frobenius())))
	if x.frame.Signal == nil { // one direction may have all of the rows' second moment
		tight, s.Size = tuning.ClassTightDrowned, tuning.ClassDrownedStep/(s.Curvature*x.typical)
	}
	s.Momentum = tuning.Momentum
	largest := x.largestStep(*s, clip)
	if x.limited = largest < s.Size; x.limited {
		clip *= tight
		largest = x.largestStep(*s, clip)
	}
	if largest > s.Size {
		s.Momentum = tuning.QuietMomentum
		largest = x.largestStep(*s, clip)
	}
	s.Size = math.Min(s.Size, largest)
	return clip
}

// largestStep is the length of steps with which noise in a typical score comes to 1, in directions
// without curvature.
func (x *softmaxing) largestStep(s Stage, clip float64) float64 {
	s.Size = 1
	noise := 2 * clip / (x.run.NMu() * math.Sqrt(s.Share/float64(s.Steps)))
	return 1 / math.Sqrt(x.typical*s.variance(slices.Repeat([]float64{noise}, s.Steps), 0))
}

// walk runs the steps, and fits a factor of the scores.
func (x *softmaxing) walk(start curator.ClassPoint) (curator.ClassPoint, error) {
	s := x.stage()
	clip, err := x.clipClasses(s, start, 0)
	if err != nil {
		return start, err
	}
	clip = x.pace(&s, clip)
	at, velocity, tail := start, like(start), like(start)
	for t := range s.Steps {
		if t > 0 && slices.Contains(s.Choose, t) {
			if clip, err = x.clipClasses(s, at, clip); err != nil {
				return at, err
			}
		}
		slope := curator.ClassSlope{Clip: clip}
		if x.run.Problem.Facts.Intercept {
			slope.Constant = 1
		}
		answer, err := x.in.Gradient(x.run.Task.Ctx, at, slope)
		g, err := x.run.Pool.Draw(s.Share/float64(s.Steps), answer, err)
		if err != nil {
			return at, err
		}
		x.step(s, &at, velocity, x.balanced(g))
		if t >= s.Steps-s.Averaged {
			for c := range at.U {
				floats.AddScaled(tail.U[c], 1/float64(s.Averaged), at.U[c])
				tail.B[c] += at.B[c] / float64(s.Averaged)
			}
		}
		x.run.Task.Progress(t+1, s.Steps)
	}
	if x.scaled {
		return x.rescale(start, tail)
	}
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
func (x *softmaxing) step(s Stage, at *curator.ClassPoint, v curator.ClassPoint, g [][]float64) {
	next := like(*at)
	for c := range at.U {
		for j, u := range at.U[c] {
			next.U[c][j], v.U[c][j] = s.step(u, v.U[c][j], float64(s.Size*g[c][j]/x.run.N))
		}
		next.B[c] = at.B[c]
		if x.run.Problem.Facts.Intercept {
			v.B[c] = float64(s.Momentum*v.B[c]) - float64(s.Size*g[c][x.run.D]/x.run.N)
			next.B[c] += v.B[c]
		}
	}
	*at = next
}

// clipClasses reads a histogram of the gradients' norms: a wide one at first, which tells how
// long rows are, too, and later one around the last clip, which grows no more where noise is
// what counts.
func (x *softmaxing) clipClasses(s Stage, at curator.ClassPoint, last float64) (float64, error) {
	first := last == 0
	edges := histogram.Geometric(tuning.LaterTop*last, math.Sqrt2, tuning.LaterEdges)
	switch {
	case first && x.frame.Signal == nil:
		edges = histogram.Geometric(tuning.ClassAlikeTop, math.Sqrt2, tuning.ClassAlikeEdges)
	case first:
		edges = histogram.Geometric(tuning.ClassTop*math.Sqrt(float64(x.run.D+1)), math.Sqrt2, tuning.ClassEdges)
	}
	slope := curator.ClassSlope{Clip: 1}
	if x.run.Problem.Facts.Intercept {
		slope.Constant = 1
	}
	answer, err := x.in.GradientNorms(x.run.Task.Ctx, edges, at, slope)
	h, err := x.run.Read(s.Clips/clipChoices, edges, answer, err)
	if err != nil {
		return 0, err
	}
	if h.Wide = first; first {
		x.measure(h)
	}
	clip := math.Max(s.readClip(h, last, math.Sqrt(1+x.frame.Effective)), math.Min(x.run.freeClip(s, h), unseen(h)))
	if x.limited {
		clip = math.Min(clip, last)
	}
	return clip, nil
}

// measure sets the rows' mean square from the norms of gradients at the constant model, which
// are ‖p − e_y‖ times (‖x̃‖² + 1)^½; E‖p − e_y‖² is 1 − Σq² there.
func (x *softmaxing) measure(h histogram.Tails) {
	slopes := 1.0
	for _, q := range x.rates {
		slopes -= float64(q * q)
	}
	switch {
	case h.Readable():
		x.typical = math.Max(tuning.ClassRowsLeast, h.MeanSquare()/slopes-1)
	case x.frame.Signal != nil:
		x.typical = floats.Sum(x.frame.Signal)
	default:
		x.typical = 2
	}
}
