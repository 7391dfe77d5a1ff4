package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

const (
	clipsShare = 0.03 // histograms of gradient norms
	refitShare = 0.05 // an intercept's last step
	stageShare = 0.45 // of what is left, for the second stage
)

// within is train with a fraction of all μ².
func (o *standardised) within(r *run, whole float64) ([]float64, error) {
	x, err := o.begin(r, whole)
	if err != nil {
		return nil, err
	}
	if err := x.start(); err != nil {
		return nil, err
	}
	if x.constant {
		return x.model(make([]float64, x.d), x.bias), nil
	}
	if x.d > standardisedDim {
		return x.byColumns()
	}
	if x.loss.Labels() == losses.Binary { // there is less to learn of a rare class
		x.clear = max(x.clear, min(x.clear*math.Sqrt(0.5/x.facts.minority), 30*float64(x.d), 2400))
	}
	few, err := x.standardise()
	if err != nil {
		return nil, err
	}
	if few {
		return x.byColumns()
	}
	if x.shortens() {
		if _, err := x.shorten(x.longestLevel(1.2)); err != nil {
			return nil, err
		}
	}
	return x.descend()
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

// refitted reports whether an intercept that stayed is moved at the end.
func (x *standardising) refitted() bool { return x.still() && !x.hidden() }

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
