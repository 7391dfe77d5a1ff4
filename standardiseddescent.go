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

const (
	clipsShare   = 0.03 // histograms of gradient norms
	hessianShare = 0.06
	refitShare   = 0.05 // an intercept's last step
	stageShare   = 0.45 // of what is left, for the second stage
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

// descend runs the stages and maps the result back.
func (x *standardising) descend() ([]float64, error) {
	s := x.firstStage()
	at, err := x.walk(s, iterate{u: make([]float64, x.d), b: x.bias})
	if err != nil {
		return nil, err
	}
	if x.hessian {
		return x.rewhitened(s, at)
	}
	x.settle(s, &at)
	if x.refitted() {
		err = x.refit(s, &at)
	}
	return x.back(at), err
}

// firstStage is planned by what was released so far.
func (x *standardising) firstStage() stage {
	f, nmu := x.facts, x.nmu()
	curvature := math.Min(f.steepest, 4*f.curvature)
	if x.loss.Labels() == losses.Count && losses.LinkOf(x.loss) == losses.Log {
		curvature = math.Min(f.steepest, 8*f.curvature)
	}
	s := stage{framed: x.framed, momentum: 0.5, clips: clipsShare, effective: x.effective, curvature: f.residual}
	s.size = 1 / (curvature * (1 + math.Min(1, x.spread*x.frobenius())))
	longest := 16.0
	if x.loss.Labels() == losses.Real { // whose curvature doesn't fade on the way
		longest = 48
	}
	s.steps = int(math.Min(math.Max(nmu/8, 8), longest))
	least, ridge := 12.0, 32.0
	if x.round { // a few steps reach everywhere
		least, ridge, s.momentum = 4, 4, 0
	}
	if x.known != nil {
		s.steps = int(math.Round(math.Min(math.Max(least+18*math.Log(nmu/(30*x.effective))/math.Log(30), least), 29)))
	}
	if x.hessian {
		s.steps = min(s.steps, 18)
	}
	s.averaged = s.steps - s.steps/2
	s.ridge = ridge * math.Pow(x.effective/nmu, 2) * curvature
	later := 0.0
	if x.hessian {
		later = x.pool.left * stageShare
	}
	if x.refitted() {
		later = refitShare
	}
	s.share = x.pool.left - later - s.clips
	s.choose = slices.Compact([]int{0, s.steps / 8, s.steps / 4, s.steps / 2})
	if x.n <= 2000 {
		s.choose = slices.Compact([]int{0, s.steps / 4})
	}
	s.allowed = x.n * math.Min(40*math.Sqrt(x.effective)/nmu, x.most())
	return s
}

// settle shortens the result of a stage for noise and for what a clip does to classes, and
// lengthens it where it stopped short.
func (x *standardising) settle(s stage, at *iterate) {
	k := x.shrinkage(s, *at)
	if x.known == nil {
		k = math.Max(k, x.along(s, *at))
	}
	x.lengthen(s, at)
	k *= x.unclipped(*at, k)
	for j := range at.u {
		at.u[j] *= k
	}
	if x.logistic() {
		x.settleMean(s, at, k)
		return
	}
	at.b = x.bias + x.trusted(s, *at, k)*(at.b-x.bias)
	if x.hidden() {
		at.b -= x.spreadOfScores(at.u) / 2 // which keeps the mean of predictions
	}
}

// settleMean moves the intercept, after all scores were multiplied by k, to where predictions have
// the mean that the descent's point had, moved towards the labels' released mean: as the noise of
// both says, but by the less the larger k is, as spread scores tell the mean only as well as their
// law is known. The noise in other coordinates says nothing of it.
func (x *standardising) settleMean(s stage, at *iterate, k float64) {
	here := x.predictions(*at)
	before := logistic{here.b, 0}
	if k > 0 {
		before.r = here.r / k
	}
	slope, each := x.slope(at.clip), 1.0
	if slope.Apart > 0 {
		each = slope.Apart / slope.Constant
	}
	start, moved := x.facts.noise, each*x.facts.curvature*math.Sqrt(s.variance(at.noise, x.facts.curvature))
	mean := before.mean()
	mean += (1 - k) * moved * moved / (start*start + moved*moved) * (x.facts.mean - mean)
	at.b = here.withMean(mean, here.r).b - x.shifted
}

// spreadOfScores is their variance, as far as it is known.
func (x *standardising) spreadOfScores(u []float64) (sum float64) {
	for j, known := range x.known {
		sum += float64(known * u[j] * u[j])
	}
	return sum
}

// refit moves an intercept that has stayed so that predictions have the labels' mean, as far
// as its slope, released alone, can be trusted.
func (x *standardising) refit(s stage, at *iterate) error {
	slope := curator.Slope{Clip: 1e-3, Constant: 1, Apart: x.facts.apart}
	answer, err := s.framed.Gradient(x.ctx, at.u, at.b, slope)
	share := x.pool.left
	g, err := x.pool.draw(share, answer, err)
	if err != nil {
		return err
	}
	const usual = 0.3 // standard deviation of what is left to move
	noise := 2 * slope.Apart * math.Hypot(1, slope.Clip) / (x.nmu() * math.Sqrt(share) * x.facts.curvature)
	trust := usual * usual / (usual*usual + float64(noise*noise))
	at.b -= math.Max(-2, math.Min(trust*slope.Apart*g[x.d]/(x.n*x.facts.curvature), 2))
	return nil
}

// still reports whether the intercept stays where the labels' mean puts it, as noise would
// move it further than the features do: of two classes where moments drown, and of counts whose
// range is far above their mean.
func (x *standardising) still() bool {
	return x.shape.Intercept && (x.hidden() || x.known == nil && losses.LinkOf(x.loss) == losses.Logit)
}

// refitted reports whether an intercept that stayed is moved at the end.
func (x *standardising) refitted() bool { return x.still() && !x.hidden() }

// hidden reports whether the slope of counts' intercept can't be seen in its noise.
func (x *standardising) hidden() bool {
	return losses.LinkOf(x.loss) == losses.Log && !x.pilot && x.facts.apart > 0.037*x.nmu()*x.facts.curvature
}

// trusted is the weight of the descent's intercept against the start's, which is k, that
// of the other coordinates, with which it goes. Real labels' intercept is independent of
// these, and has the weight that its noise and the start's give it.
func (x *standardising) trusted(s stage, at iterate, k float64) float64 {
	if x.loss.Labels() != losses.Real {
		return k
	}
	if x.kinked() {
		return 1
	}
	start := x.facts.noise * x.facts.noise
	return start / (start + s.variance(at.noise, x.facts.curvature))
}

// most is the largest fraction of gradients that a clip may shorten.
func (x *standardising) most() float64 { return 0.5 * x.facts.minority }

// frobenius is ‖A‖.
func (x *standardising) frobenius() float64 {
	if x.frame.Matrix != nil {
		return mat.Norm(x.frame.Matrix, 2)
	}
	return vector.Norm(x.frame.Scale)
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

// shrinkage is James and Stein's factor in the norm of scores: the noise in the average, of
// privacy and of sampling, is that of the linear recursion.
func (x *standardising) shrinkage(s stage, at iterate) float64 {
	h, sampling := x.bend(at), x.residual(at)/x.n
	noise := func(bent, moment float64) float64 {
		pull := floats.Sum(s.effects(bent * h)) // of a force that stays
		return s.variance(at.noise, bent*h) + float64(sampling*moment*pull*pull)
	}
	if x.known == nil { // rows are no longer than 2, most of them
		return shrunk(at.u, noise(flat, math.Min(flat, 4/float64(x.d))))
	}
	var all float64
	for _, known := range x.known {
		all += float64(known * noise(known, known))
	}
	return math.Max(0, 1-all/math.Max(x.spreadOfScores(at.u), 1e-300))
}

// bend is the curvature that a descent feels. A gradient that is shortened stays as long when
// the point moves, and these are of the longest rows, of which the Hessian has most.
func (x *standardising) bend(at iterate) float64 {
	return math.Min(x.facts.curvature, x.facts.steepest) * (1 - at.cut) * (1 - at.cut)
}

// residual is the variance of φ', but for what a clip that most gradients pass takes of it: rows of
// the rarer class have longer ones.
func (x *standardising) residual(at iterate) float64 {
	f, most := x.facts, at.clip/math.Sqrt(1+x.effective)
	switch x.loss.Labels() {
	case losses.Real:
		return math.Min(f.residual, most*most/2)
	case losses.Binary:
		q := f.minority
		rare, usual := math.Min(1-q, most), math.Min(q, most)
		return f.residual * (q*rare*rare + (1-q)*usual*usual) / (q * (1 - q))
	}
	return math.Min(f.residual, most*most)
}

// flat is how curved the loss is along a typical coordinate, beside its φ”, where features
// are scaled alike.
const flat = 0.1

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
