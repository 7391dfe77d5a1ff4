package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/linalg"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// stage is a number of steps in one frame.
type stage struct {
	framed          *curator.Framed
	steps, averaged int     // all, and the last ones, which are averaged
	size, momentum  float64 // η
	ridge           float64 // κh
	share           float64 // of μ², for the gradients
	clips           float64 // and for the histograms
	choose          []int   // the steps before which the clip is chosen
	allowed         float64 // rows that the clip may shorten
	curvature       float64 // for the clip that costs nothing
	effective       float64
	short           *linalg.Change // from coordinates in which the Hessian is round; nil from none
	straight        *mat.SymDense  // what gradients are multiplied by
}

// iterate is a point and the clip that it goes on with, 0 before the first.
type iterate struct {
	u     []float64
	b     float64
	clip  float64
	cut   float64   // fraction of gradients that the clip shortens, as last read
	noise []float64 // of each step's mean gradient
	first []float64 // the first mean gradient, as released
	slope []float64 // the mean over the averaged steps
}

// walk runs a stage.
func (x *standardising) walk(s stage, at iterate) (iterate, error) {
	d := len(at.u)
	u := append(slices.Clone(at.u), at.b)
	v, tail := make([]float64, d+1), make([]float64, d+1)
	at.noise, at.slope = make([]float64, s.steps), make([]float64, d)
	fresh := true
	for t := range s.steps {
		if slices.Contains(s.choose, t) {
			if err := x.chooseClip(s, &at, u, fresh); err != nil {
				return at, err
			}
			fresh = false
		}
		slope := x.slope(at.clip)
		answer, err := s.framed.Gradient(x.ctx, u[:d], u[d], slope)
		g, err := x.pool.draw(s.share/float64(s.steps), answer, err)
		if err != nil {
			return at, err
		}
		if t == 0 {
			at.first = slices.Clone(g[:d])
			floats.Scale(1/x.n, at.first)
		}
		reach := slope.Clip
		if slope.Apart > 0 {
			reach = math.Hypot(slope.Clip, slope.Constant)
			g[d] *= slope.Apart / slope.Constant
		}
		at.noise[t] = 2 * reach / (x.nmu() * math.Sqrt(s.share/float64(s.steps)))
		for j := range v {
			if j < d && t >= s.steps-s.averaged {
				at.slope[j] += g[j] / (x.n * float64(s.averaged))
			}
		}
		if s.short != nil {
			if err := x.straighten(&s, at.noise[0], g[:d]); err != nil {
				return at, err
			}
		}
		for j := range v {
			if j == d && (!x.shape.Intercept || x.still()) { // it stays
				continue
			}
			next := s.momentum*v[j] - s.size*g[j]/x.n
			moved := u[j] + next
			if j < d {
				moved /= 1 + s.size*s.ridge
			}
			v[j], u[j] = moved-u[j], moved
			if t >= s.steps-s.averaged {
				tail[j] += moved / float64(s.averaged)
			}
		}
		x.progress(t+1, s.steps)
	}
	if at.u = tail[:d]; x.shape.Intercept && !x.still() {
		at.b = tail[d]
	}
	return at, nil
}

// slope is how gradients are held to a clip.
func (x *standardising) slope(clip float64) curator.Slope {
	switch {
	case !x.shape.Intercept, x.still():
		return curator.Slope{Clip: clip}
	case x.facts.apart > 0:
		part := 0.4
		if x.loss.Labels() == losses.Count { // whose range may be far above their mean
			part = math.Max(part, 0.6*math.Sqrt(x.facts.apart/(clip*math.Sqrt(1+x.effective))))
		}
		return curator.Slope{Clip: clip, Constant: part * clip, Apart: x.facts.apart}
	}
	return curator.Slope{Clip: clip, Constant: 1}
}

// chooseClip reads a histogram of the gradients' norms at u: a wide one at first, later
// one around the last clip.
func (x *standardising) chooseClip(s stage, at *iterate, u []float64, first bool) error {
	d, f := len(u)-1, x.facts
	edges := histogram.Geometric(4*at.clip, math.Sqrt2, 8)
	if first {
		top := 2 * x.longestSlope() * math.Sqrt(float64(d+1))
		if at.clip > 0 {
			top *= 4
		}
		edges = histogram.Geometric(top, 2, 15)
	}
	share := s.clips / float64(len(s.choose))
	answer, err := s.framed.GradientNorms(x.ctx, edges, u[:d], u[d], x.slope(1))
	h, err := x.read(share, edges, answer, err)
	if err != nil {
		return err
	}
	h.Wide = first
	middle, effective := h.SD(len(edges)/2), s.effective
	if x.known == nil {
		effective = 1
	}
	typical := f.typical * math.Sqrt(1+effective)
	at.clip = s.readClip(h, at.clip, typical)
	switch { // while noise costs more than bias
	case x.known == nil:
		at.clip = math.Min(at.clip, typical)
	case !x.pilot:
		at.clip = math.Min(at.clip, typical*math.Max(1, x.nmu()/float64(50*d)))
	}
	if f.minority < 1 && x.most()*x.n < 2*middle { // too few to be seen
		at.clip = math.Max(at.clip, 0.8*(1-f.minority)*math.Sqrt(1+effective))
	}
	at.clip = math.Max(at.clip, x.freeClip(s))
	at.cut = math.Max(0, math.Min(h.Over(at.clip)/h.Rows, 0.9))
	return nil
}

// readClip is the clip that a histogram of gradient norms allows; where its noise hides too
// much, the last one, or at first a typical one.
func (s stage) readClip(h histogram.Tails, last, typical float64) float64 {
	switch {
	case h.Readable():
		return h.Smallest(s.allowed, 3)
	case last == 0:
		return typical
	}
	return last
}

// freeClip is one whose noise is small beside a standard error, and costs nothing.
func (x *standardising) freeClip(s stage) float64 {
	return 0.007 * x.mu * math.Sqrt(s.share) * math.Sqrt(x.n*s.curvature)
}

// still reports whether the intercept stays where the labels' mean puts it, as noise would
// move it further than the features do: of two classes where moments drown, and of counts whose
// range is far above their mean.
func (x *standardising) still() bool {
	return x.shape.Intercept && (x.hidden() || x.known == nil && losses.LinkOf(x.loss) == losses.Logit)
}

// most is the largest fraction of gradients that a clip may shorten.
func (x *standardising) most() float64 { return 0.5 * x.facts.minority }

// straighten multiplies a gradient in shorter coordinates by S⁻², which makes a step as long as
// where the Hessian is round. One along a rare level is shorter, the more the noise of such steps
// hides an effect of 1 on its scores.
func (x *standardising) straighten(s *stage, noise float64, g []float64) error {
	if s.straight == nil {
		spectrum, ok := linalg.Decompose(s.short.Noise(len(g)))
		if !ok {
			return errEigen
		}
		hides := x.longestLevel(1.2) * s.size * noise / math.Sqrt(float64(s.averaged))
		s.straight = spectrum.Map(func(l float64) float64 { return l / (1 + math.Pow(hides*l, 2)) })
	}
	mat.NewVecDense(len(g), g).MulVec(s.straight, mat.NewVecDense(len(g), slices.Clone(g)))
	return nil
}

// back maps coordinates to weights.
func (x *standardising) back(at iterate) []float64 {
	w := make([]float64, x.d)
	if x.frame.Matrix != nil {
		mat.NewVecDense(x.d, w).MulVec(x.frame.Matrix, mat.NewVecDense(x.d, at.u))
	} else {
		for j, a := range x.frame.Scale {
			w[j] = a * at.u[j]
		}
	}
	b := at.b
	for j, m := range x.frame.Centre {
		b -= float64(m * w[j])
	}
	return x.model(w, b)
}

// frobenius is ‖A‖.
func (x *standardising) frobenius() float64 {
	if x.frame.Matrix != nil {
		return mat.Norm(x.frame.Matrix, 2)
	}
	return vector.Norm(x.frame.Scale)
}

// variance is that of the average of a linear recursion with curvature h, driven by
// noise of the given standard deviations.
func (s stage) variance(noise []float64, h float64) float64 {
	var total float64
	for t, effect := range s.effects(h) {
		total += float64(effect * noise[t] * effect * noise[t])
	}
	return total
}

// effects are by how much the average falls for each unit of each step's noise.
func (s stage) effects(h float64) []float64 {
	response := make([]float64, s.steps)
	var at, v float64
	for t := range response {
		force := h * at
		if t == 0 {
			force++
		}
		next := (at + s.momentum*v - s.size*force) / (1 + s.size*s.ridge)
		v, at = next-at, next
		response[t] = at
	}
	effects := make([]float64, s.steps)
	first := s.steps - s.averaged
	for t := range effects {
		for k := max(first-t, 0); k < s.steps-t; k++ {
			effects[t] -= response[k] / float64(s.averaged)
		}
	}
	return effects
}

// shrunk is James and Stein's factor for v with noise of the given variance in each of
// its coordinates.
func shrunk(v []float64, variance float64) float64 {
	var sum float64
	for _, a := range v {
		sum += float64(a * a)
	}
	if sum == 0 {
		return 0
	}
	return math.Max(0, 1-float64(len(v))*variance/sum)
}

// bend is the curvature that a descent feels. A gradient that is shortened stays as long when
// the point moves, and these are of the longest rows, of which the Hessian has most.
func (x *standardising) bend(at iterate) float64 {
	return math.Min(x.facts.curvature, x.facts.steepest) * (1 - at.cut) * (1 - at.cut)
}

// spreadOfScores is their variance, as far as it is known.
func (x *standardising) spreadOfScores(u []float64) (sum float64) {
	for j, known := range x.known {
		sum += float64(known * u[j] * u[j])
	}
	return sum
}

// flat is how curved the loss is along a typical coordinate, beside its φ”, where features
// are scaled alike.
const flat = 0.1
