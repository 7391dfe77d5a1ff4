package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
)

// Stage is a number of steps in one frame.
type Stage struct {
	In              scored
	Steps, Averaged int     // all, and the last ones, which are averaged
	Size, Momentum  float64 // η
	Intercept       float64 // part of η that the intercept's steps have
	Ridge           float64 // κh
	Optimism        float64 // what is added to the mean gradient of a line
	Share           float64 // of μ², for the gradients
	Line            bool    // whether it is the last one, along one direction
	Clips           float64 // and for the histograms
	Choose          []int   // the steps before which the clip is chosen
	Allowed         float64 // rows that the clip may shorten
	NormBound       float64 // what a clip that is read is at most; 0 for any
	Effective       float64
}

// Iterate is a point, [scored], and the clip that it goes on with, 0 before the first.
type Iterate struct {
	At    [][]float64
	Clip  float64
	Noise []float64 // of each step's mean gradient
	Size  float64   // of the last step
	Slope []float64 // of one column the mean gradient over the averaged steps
}

// point is one column's.
func point(u []float64, b float64) [][]float64 { return [][]float64{append(slices.Clone(u), b)} }

// One is a point of one column.
func (x Iterate) One() (u []float64, b float64) {
	d := len(x.At[0]) - 1
	return x.At[0][:d], x.At[0][d]
}

// Descent is noisy clipped gradient descent in a frame.
type Descent struct {
	Run    *Run
	Labels Labels
	Frame  *Frame
	still  bool // whether the intercept stays
	of     *curator.ClassFramed
	origin [][]float64 // where it begins, and what it is held to; nil for the constant model and 0
}

// Walk runs a stage.
func (x *Descent) Walk(s Stage, at Iterate) (Iterate, error) {
	u, width := at.At, len(at.At[0])
	tail, v := like(u), like(u)
	at.Noise = make([]float64, s.Steps)
	moves := x.Run.Problem.Facts.Intercept && !x.interceptStays()
	at.Slope = make([]float64, width-1)
	at.At = tail
	origin := x.origin
	if origin == nil {
		origin = like(u)
	}
	var seen steepness
	for t := range s.Steps {
		if k := slices.Index(s.Choose, t); k >= 0 {
			if err := x.ChooseClip(s, &at, u, k == 0); err != nil {
				return at, err
			}
		}
		g, apart, err := x.gradient(s, &at, u, t)
		if err != nil {
			return at, err
		}
		g[0][0] += s.Optimism
		if h := seen.curvature(g, v, at.Noise[t], apart, s, x.contrasts()); s.Size*h > 1 {
			s.Size = 1 / h
			v = like(u)
		}
		averaged := t >= s.Steps-s.Averaged
		for c, column := range u {
			if averaged {
				floats.AddScaled(at.Slope, 1/float64(s.Averaged), g[c][:width-1])
			}
			for j, was := range column {
				if j < width-1 {
					next, velocity := s.step(was-origin[c][j], v[c][j], float64(s.Size*g[c][j]))
					column[j], v[c][j] = origin[c][j]+next, velocity
				} else if moves {
					v[c][j] = float64(s.Momentum*v[c][j]) - float64(s.Intercept*float64(s.Size*g[c][j]))
					column[j] += v[c][j]
				}
				if averaged {
					tail[c][j] += column[j] / float64(s.Averaged)
				}
			}
		}
		x.Run.Task.Progress(t+1, s.Steps)
	}
	at.Size = s.Size
	return at, nil
}

// contrasts are what scores of one column, or of several classes, differ by.
func (x *Descent) contrasts() float64 { return float64(max(1, x.Run.Problem.Classes-1)) }

// like is a point of zeros.
func like(at [][]float64) [][]float64 {
	zeros := make([][]float64, len(at))
	for c := range at {
		zeros[c] = make([]float64, len(at[c]))
	}
	return zeros
}

// steepness is the loss's curvature along the last step, as the gradients before and after it tell. It
// takes no release of its own.
type steepness struct {
	gradient [][]float64 // the last mean one
	noise    float64
}

// curvature is that along the last step, less two standard deviations of the noise: no step is longer
// than 1 over it. Where scores vary by more along some direction than noise has let moments tell, steps
// would grow along it, and are seen there.
//
// The last step went against the noise of its own gradient, so many times: what the noise's square makes of
// the difference is no curvature, and varies. It has so many independent columns, and the intercepts'
// noise is apart times the other coordinates', of which their steps take a part.
func (c *steepness) curvature(g, step [][]float64, noise, apart float64, s Stage, columns float64) float64 {
	last := *c
	c.gradient, c.noise = g, noise
	if last.gradient == nil {
		return 0
	}
	var square, beside, change float64
	for k, v := range step {
		square += floats.Dot(v, v)
		beside += (apart*apart - 1) * v[len(v)-1] * v[len(v)-1]
		change += floats.Dot(g[k], v) - floats.Dot(last.gradient[k], v)
	}
	moved := float64(len(g[0]) - 1)
	squares := moved // of the noises' variances
	if step[0][len(step[0])-1] != 0 {
		own := s.Intercept * apart * apart
		moved += own
		squares += own * own
	}
	driven := s.Size * last.noise * last.noise // for each coordinate
	variance := (noise*noise+last.noise*last.noise)*(square+beside) + columns*squares*driven*driven
	return (change - columns*moved*driven - 2*math.Sqrt(variance)) / square
}

// gradient releases the t-th step's mean gradient, whose intercept's noise is apart times the others'.
func (x *Descent) gradient(s Stage, at *Iterate, u [][]float64, t int) (g [][]float64, apart float64, err error) {
	slope := x.slope(at.Clip)
	answer, by, err := s.In.gradient(x.Run.Task.Ctx, u, slope)
	flat, err := x.Run.Pool.Draw(s.Share/float64(s.Steps), answer, err)
	if err != nil {
		return nil, 0, err
	}
	at.Noise[t], apart = s.noise(slope, x.Labels.moves(slope.Constant, x.Run.Problem.Facts), x.Run.NMu())
	g = like(u)
	each := len(flat) / len(u)
	for c := range g {
		copy(g[c], flat[c*each:(c+1)*each])
		floats.Scale(by/x.Run.N, g[c])
		g[c][len(g[c])-1] *= apart
		if slope.Means > 0 {
			g[c][len(g[c])-1] -= x.Labels.Mean
		}
	}
	balance(g)
	return g, apart, nil
}

// noise is the standard deviation of that of a step's mean gradient under a slope, whose part that is apart moves by so much, and what the intercept's is over it.
func (s Stage) noise(slope curator.Slope, beside, nmu float64) (sd, apart float64) {
	moves, apart := 2*slope.Clip, 1.0
	if slope.Apart > 0 {
		moves, apart = math.Hypot(moves, beside), slope.ApartBound()/slope.Constant
	}
	return moves / (nmu * math.Sqrt(s.Share/float64(s.Steps))), apart
}

// balance takes the mean over several classes away from a gradient: that of the
// rows' is 0, what there is is noise.
func balance(g [][]float64) {
	if len(g) == 1 {
		return
	}
	for j := range g[0] {
		mean := 0.0
		for _, of := range g {
			mean += of[j] / float64(len(g))
		}
		for _, of := range g {
			of[j] -= mean
		}
	}
}

// slope is how gradients are held to a clip.
func (x *Descent) slope(clip float64) curator.Slope {
	switch {
	case !x.Run.Problem.Facts.Intercept, x.interceptStays():
		return curator.Slope{Clip: clip}
	case x.Labels.Apart > 0:
		return x.Labels.slope(clip, x.Frame.Effective, x.Run.Problem.Facts)
	}
	return curator.Slope{Clip: clip, Constant: 1}
}

// ChooseClip reads a histogram of the gradients' norms at u: a wide one at first, later
// one around the last clip.
func (x *Descent) ChooseClip(s Stage, at *Iterate, u [][]float64, first bool) error {
	d, f := len(u[0])-1, x.Labels
	edges := around(at.Clip, tuning.LaterEdges)
	if first {
		top := 2 * x.Run.Problem.LargestSlope() * math.Sqrt(float64(d+1))
		edges = histogram.Geometric(top, 2, tuning.FirstEdges)
	}
	share := s.Clips / float64(len(s.Choose))
	answer, err := s.In.norms(x.Run.Task.Ctx, edges, u, x.slope(1))
	h, err := x.Run.Read(share, edges, answer, err)
	if err != nil {
		return err
	}
	h.Wide = first
	middle := h.SD(len(edges) / 2)
	typical := f.Typical * math.Sqrt(1+s.Effective)
	at.Clip = s.readClip(h, at.Clip, typical)
	if x.Run.Problem.heldByFew() {
		at.Clip = math.Max(at.Clip, typical)
	}
	if s.NormBound > 0 {
		at.Clip = math.Min(at.Clip, s.NormBound)
	}
	if !x.Run.Pilot { // while noise costs more than bias
		known := x.Run.NMu()
		if s.Line {
			known *= math.Sqrt(s.Share)
		}
		at.Clip = math.Min(at.Clip, typical*math.Max(1, known/(float64(tuning.ClipFrom*x.Run.D)*x.contrasts())))
	}
	if f.Minority < 1 && x.Labels.most()*x.Run.N < 2*middle { // too few to be seen
		at.Clip = math.Max(at.Clip, tuning.ClipRare*(1-f.Minority)*math.Sqrt(1+s.Effective))
	}
	at.Clip = max(at.Clip, math.Min((x.Run.loose()-1)*typical, h.Covering()))
	return nil
}

// readClip is the clip that a histogram of gradient norms allows; where its noise hides too
// much, the last one, or at first a typical one.
func (s Stage) readClip(h histogram.Tails, last, typical float64) float64 {
	switch {
	case h.Readable():
		return h.Smallest(s.Allowed, tuning.Surely)
	case last == 0:
		return typical
	}
	return last
}

// interceptStays reports whether the intercept stays where the labels' mean puts it, as noise would
// move it further than the features do: that of counts whose range is far above their mean.
func (x *Descent) interceptStays() bool {
	return x.still || x.Run.Problem.Facts.Intercept && x.Run.interceptHidden(x.Labels)
}

// variance is that of the average of a linear recursion with curvature h, driven by
// noise of the given standard deviations.
func (s Stage) variance(noise []float64, h float64) float64 {
	var total float64
	for t, effect := range s.effects(h) {
		total += float64(effect * noise[t] * effect * noise[t])
	}
	return total
}

// spread is the variance of scores that noise makes along directions of these signals, whose curvatures are so many times h.
func (s Stage) spread(signals []float64, h float64, noise []float64) (sum float64) {
	for _, signal := range signals {
		sum += float64(signal * s.variance(noise, signal*h))
	}
	return sum
}

// effects are by how much the average falls for each unit of each step's noise.
func (s Stage) effects(h float64) []float64 {
	response := make([]float64, s.Steps)
	var at, v float64
	for t := range response {
		force := h * at
		if t == 0 {
			force++
		}
		at, v = s.step(at, v, float64(s.Size*force))
		response[t] = at
	}
	sums := make([]float64, s.Steps+1) // of the responses before each step
	floats.CumSum(sums[1:], response)
	effects := make([]float64, s.Steps)
	for t := range effects {
		effects[t] = (sums[max(s.Steps-s.Averaged-t, 0)] - sums[s.Steps-t]) / float64(s.Averaged)
	}
	return effects
}

// step is one of heavy-ball descent in one coordinate, pushed so far, the ridge proximal.
func (s Stage) step(at, v, push float64) (next, velocity float64) {
	next = (at + float64(s.Momentum*v) - push) / (1 + float64(s.Size*s.Ridge))
	return next, next - at
}
