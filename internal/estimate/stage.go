package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Stage is a number of steps in one frame.
type Stage struct {
	In              *curator.Framed
	Steps, Averaged int     // all, and the last ones, which are averaged
	Size, Momentum  float64 // η
	Ridge           float64 // κh
	Share           float64 // of μ², for the gradients
	Line            bool    // whether it is the last one, along one direction
	Clips           float64 // and for the histograms
	Choose          []int   // the steps before which the clip is chosen
	Allowed         float64 // rows that the clip may shorten
	Curvature       float64 // for the clip that costs nothing
	Effective       float64
	Short           *linalg.Change // from coordinates in which the Hessian is round; nil from none
	inverse         *mat.SymDense  // what gradients are multiplied by
}

// Iterate is a point and the clip that it goes on with, 0 before the first.
type Iterate struct {
	U     []float64
	B     float64
	Clip  float64
	Noise []float64 // of each step's mean gradient
	Slope []float64 // the mean over the averaged steps
}

// Descent is noisy clipped gradient descent in a frame.
type Descent struct {
	Run    *Run
	Labels Labels
	Frame  *Frame
	still  bool // whether the intercept stays
}

// Walk runs a stage.
func (x *Descent) Walk(s Stage, at Iterate) (Iterate, error) {
	d := len(at.U)
	u := append(slices.Clone(at.U), at.B)
	v, tail := make([]float64, d+1), make([]float64, d+1)
	at.Noise, at.Slope = make([]float64, s.Steps), make([]float64, d)
	for t := range s.Steps {
		if k := slices.Index(s.Choose, t); k >= 0 {
			if err := x.ChooseClip(s, &at, u, k == 0); err != nil {
				return at, err
			}
		}
		g, err := x.gradient(s, &at, u, t)
		if err != nil {
			return at, err
		}
		averaged := t >= s.Steps-s.Averaged
		if averaged {
			for j := range d {
				at.Slope[j] += g[j] / (x.Run.N * float64(s.Averaged))
			}
		}
		if s.Short != nil {
			if err := s.precondition(x.Run.LevelNormBound(tuning.LevelRoom), at.Noise[0], g[:d]); err != nil {
				return at, err
			}
		}
		for j := range v {
			if j == d && (!x.Run.Problem.Facts.Intercept || x.interceptStays()) { // it stays
				continue
			}
			next := s.Momentum*v[j] - s.Size*g[j]/x.Run.N
			moved := u[j] + next
			if j < d {
				moved /= 1 + s.Size*s.Ridge
			}
			v[j], u[j] = moved-u[j], moved
			if averaged {
				tail[j] += moved / float64(s.Averaged)
			}
		}
		x.Run.Task.Progress(t+1, s.Steps)
	}
	if at.U = tail[:d]; x.Run.Problem.Facts.Intercept && !x.interceptStays() {
		at.B = tail[d]
	}
	return at, nil
}

// gradient releases the t-th step's.
func (x *Descent) gradient(s Stage, at *Iterate, u []float64, t int) ([]float64, error) {
	d, slope := len(u)-1, x.slope(at.Clip)
	answer, err := s.In.Gradient(x.Run.Task.Ctx, u[:d], u[d], slope)
	g, err := x.Run.Pool.Draw(s.Share/float64(s.Steps), answer, err)
	if err != nil {
		return nil, err
	}
	bound := slope.Clip
	if slope.Apart > 0 {
		bound = math.Hypot(slope.Clip, slope.Constant)
		g[d] *= slope.Apart / slope.Constant
	}
	at.Noise[t] = 2 * bound / (x.Run.NMu() * math.Sqrt(s.Share/float64(s.Steps)))
	return g, nil
}

// slope is how gradients are held to a clip.
func (x *Descent) slope(clip float64) curator.Slope {
	switch {
	case !x.Run.Problem.Facts.Intercept, x.interceptStays():
		return curator.Slope{Clip: clip}
	case x.Labels.Apart > 0:
		part := tuning.ApartPart
		if x.Run.Problem.Loss.Labels() == losses.Count { // whose range may be far above their mean
			part = math.Max(part, tuning.ApartPartCount*math.Sqrt(x.Labels.Apart/(clip*math.Sqrt(1+x.Frame.Effective))))
		}
		return curator.Slope{Clip: clip, Constant: part * clip, Apart: x.Labels.Apart}
	}
	return curator.Slope{Clip: clip, Constant: 1}
}

// ChooseClip reads a histogram of the gradients' norms at u: a wide one at first, later
// one around the last clip.
func (x *Descent) ChooseClip(s Stage, at *Iterate, u []float64, first bool) error {
	d, f := len(u)-1, x.Labels
	edges := histogram.Geometric(tuning.LaterTop*at.Clip, math.Sqrt2, tuning.LaterEdges)
	if first {
		top := 2 * x.Run.Problem.LargestSlope() * math.Sqrt(float64(d+1))
		if at.Clip > 0 {
			top *= tuning.FirstTopAgain
		}
		edges = histogram.Geometric(top, 2, tuning.FirstEdges)
	}
	share := s.Clips / float64(len(s.Choose))
	answer, err := s.In.GradientNorms(x.Run.Task.Ctx, edges, u[:d], u[d], x.slope(1))
	h, err := x.Run.Read(share, edges, answer, err)
	if err != nil {
		return err
	}
	h.Wide = first
	middle := h.SD(len(edges) / 2)
	typical := f.Typical * math.Sqrt(1+s.Effective)
	at.Clip = s.readClip(h, at.Clip, typical)
	if !x.Run.Pilot { // while noise costs more than bias
		known := x.Run.NMu()
		if s.Line {
			known *= math.Sqrt(s.Share)
		}
		at.Clip = math.Min(at.Clip, typical*math.Max(1, known/float64(tuning.ClipFrom*x.Run.D)))
	}
	if f.Minority < 1 && x.Labels.most()*x.Run.N < 2*middle { // too few to be seen
		at.Clip = math.Max(at.Clip, tuning.ClipRare*(1-f.Minority)*math.Sqrt(1+s.Effective))
	}
	at.Clip = max(at.Clip, math.Min(x.Run.freeClip(s, h), unseen(h)))
	return nil
}

// unseen is an edge that no gradient is longer than, where the noise is so small that a single one
// would be seen; else +Inf.
func unseen(h histogram.Tails) float64 {
	best := math.Inf(1)
	for j, edge := range h.Edges {
		if tuning.EdgeSurely*h.SD(j) >= 1 || h.Above[j] > 0.5 {
			break
		}
		best = edge
	}
	return best
}

// readClip is the clip that a histogram of gradient norms allows; where its noise hides too
// much, the last one, or at first a typical one.
func (s Stage) readClip(h histogram.Tails, last, typical float64) float64 {
	switch {
	case h.Readable():
		return h.Smallest(s.Allowed, tuning.EdgeSurely)
	case last == 0:
		return typical
	}
	return last
}

// freeClip is one whose noise is small beside a standard error, and costs nothing: as the loss has
// it, or by the median of gradients' norms if that says less.
func (x *Run) freeClip(s Stage, h histogram.Tails) float64 {
	deviation := math.Sqrt(s.Curvature)
	if h.Readable() {
		median := h.Edges[h.First(func(int) float64 { return h.Rows / 2 })]
		deviation = math.Min(deviation, median/math.Sqrt(s.Effective+1))
	}
	free := tuning.FreeClip * math.Sqrt(x.N)
	if s.Line {
		free = math.Max(free, tuning.LineFree*x.N/2)
	}
	return free * deviation * x.Problem.Mu * math.Sqrt(s.Share)
}

// interceptStays reports whether the intercept stays where the labels' mean puts it, as noise would
// move it further than the features do: that of counts whose range is far above their mean.
func (x *Descent) interceptStays() bool {
	return x.still || x.Run.Problem.Facts.Intercept && x.Run.interceptHidden(x.Labels)
}

// precondition multiplies a gradient in shorter coordinates by S⁻², which makes a step as long as
// where the Hessian is round. One along a rare level, whose rows may be the longest, is shorter, the
// more the noise of such steps hides an effect of 1 on its scores.
func (s *Stage) precondition(normBound, noise float64, g []float64) error {
	if s.inverse == nil {
		spectrum, ok := linalg.Decompose(s.Short.Noise(len(g)))
		if !ok {
			return errEigen
		}
		hides := normBound * s.Size * noise / math.Sqrt(float64(s.Averaged))
		s.inverse = spectrum.Map(func(l float64) float64 { return l / (1 + math.Pow(hides*l, 2)) })
	}
	mat.NewVecDense(len(g), g).MulVec(s.inverse, mat.NewVecDense(len(g), slices.Clone(g)))
	return nil
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
	effects := make([]float64, s.Steps)
	first := s.Steps - s.Averaged
	for t := range effects {
		for k := max(first-t, 0); k < s.Steps-t; k++ {
			effects[t] -= response[k] / float64(s.Averaged)
		}
	}
	return effects
}

// step is one of heavy-ball descent in one coordinate, pushed so far, the ridge proximal.
func (s Stage) step(at, v, push float64) (next, velocity float64) {
	next = (at + float64(s.Momentum*v) - push) / (1 + float64(s.Size*s.Ridge))
	return next, next - at
}
