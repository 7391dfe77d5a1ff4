package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// descend runs the stages and maps the result back.
func (x *Descent) descend() ([]float64, error) {
	s := x.firstStage()
	at, err := x.Walk(s, Iterate{U: make([]float64, x.Run.D), B: x.Labels.Bias})
	if err != nil {
		return nil, err
	}
	if x.Frame.hessian {
		return x.rewhitened(s, at)
	}
	x.settle(s, &at)
	if x.refitted() {
		err = x.refit(s, &at)
	}
	return x.Frame.Weights(at.U, at.B), err
}

// Pilot is the point that a first stage leads to, for others to go on from, after so many steps.
func (x *Descent) Pilot() (at Iterate, steps int, err error) {
	s := x.firstStage()
	if at, err = x.Walk(s, Iterate{U: make([]float64, x.Run.D), B: x.Labels.Bias}); err != nil {
		return at, 0, err
	}
	x.settle(s, &at)
	return at, s.Steps, nil
}

// firstStage is planned by what was released so far.
func (x *Descent) firstStage() Stage {
	f, nmu := x.Labels, x.Run.NMu()
	curvature := math.Min(f.Steepest, tuning.StepCurvature*f.Curvature)
	if x.Run.Problem.Loss.Labels() == losses.Count && losses.LinkOf(x.Run.Problem.Loss) == losses.Log {
		curvature = math.Min(f.Steepest, tuning.StepCurvatureCount*f.Curvature)
	}
	s := Stage{In: x.Frame.In, Momentum: tuning.Momentum, Clips: tuning.ClipsShare, Effective: x.Frame.Effective, Curvature: f.Residual}
	s.Size = 1 / (curvature * (1 + math.Min(1, x.Frame.Spread*x.Frame.frobenius())))
	mostSteps := tuning.DrownedSteps
	if x.Run.Problem.Loss.Labels() == losses.Real { // whose curvature doesn't fade on the way
		mostSteps = tuning.DrownedStepsReal
	}
	s.Steps = int(math.Min(math.Max(nmu/tuning.DrownedPace, tuning.DrownedLeastSteps), mostSteps))
	least, ridge := tuning.LeastSteps, tuning.Ridge
	if x.Frame.Isotropic { // a few steps reach everywhere
		least, ridge, s.Momentum = tuning.RoundSteps, tuning.RoundRidge, 0
	}
	if x.Frame.Signal != nil {
		s.Steps = int(math.Round(math.Min(math.Max(least+tuning.StepsMore*math.Log(nmu/(tuning.StepsFrom*x.Frame.Effective))/math.Log(tuning.StepsFrom), least), tuning.MostSteps)))
	}
	if x.Frame.hessian {
		s.Steps = min(s.Steps, tuning.FirstStageSteps)
	}
	s.Averaged = s.Steps - s.Steps/2
	s.Ridge = ridge * math.Pow(x.Frame.Effective/nmu, 2) * curvature
	later := 0.0
	if x.Frame.hessian {
		later = x.Run.Pool.Left * tuning.StageShare
	}
	if x.refitted() {
		later = tuning.RefitShare
	}
	s.Share = x.Run.Pool.Left - later - s.Clips
	s.Choose = slices.Compact([]int{0, s.Steps / tuning.ClipEarly, s.Steps / tuning.ClipLater, s.Steps / 2})
	if x.Run.N <= tuning.ClipOnceRows {
		s.Choose = slices.Compact([]int{0, s.Steps / tuning.ClipLater})
	}
	s.Allowed = x.Run.N * math.Min(tuning.ClippedRows*math.Sqrt(x.Frame.Effective)/nmu, x.Labels.most())
	return s
}

// settle shortens the result of a stage for noise and for what a clip does to classes, and
// lengthens it where it stopped short.
func (x *Descent) settle(s Stage, at *Iterate) {
	k := x.shrinkage(s, *at)
	if x.Frame.Signal == nil {
		k = math.Max(k, x.lineSearch(s, *at))
	}
	x.lengthen(s, at)
	k *= x.unclipped(*at, k)
	for j := range at.U {
		at.U[j] *= k
	}
	if x.logistic() {
		x.settleMean(s, at, k)
		return
	}
	at.B = x.Labels.Bias + x.interceptWeight(s, *at, k)*(at.B-x.Labels.Bias)
	if x.Run.interceptHidden(x.Labels) {
		at.B -= x.Frame.scores(at.U) / 2 // which keeps the mean of predictions
	}
}

// settleMean moves the intercept, after all scores were multiplied by k, to where predictions have
// the mean that the descent's point had, moved towards the labels' released mean: as the noise of
// both says, but by the less the larger k is, as spread scores tell the mean only as well as their
// law is known. The noise in other coordinates says nothing of it.
func (x *Descent) settleMean(s Stage, at *Iterate, k float64) {
	here := x.predictions(*at)
	before := logistic{here.b, 0}
	if k > 0 {
		before.r = here.r / k
	}
	slope, each := x.slope(at.Clip), 1.0
	if slope.Apart > 0 {
		each = slope.Apart / slope.Constant
	}
	start, moved := x.Labels.Noise, each*x.Labels.Curvature*math.Sqrt(s.variance(at.Noise, x.Labels.Curvature))
	mean := before.mean()
	mean += (1 - k) * moved * moved / (start*start + moved*moved) * (x.Labels.Mean - mean)
	at.B = here.withMean(mean, here.r).b - x.Labels.Shifted
}

// refit moves an intercept that has stayed so that predictions have the labels' mean, as far
// as its slope, released alone, can be trusted.
func (x *Descent) refit(s Stage, at *Iterate) error {
	slope := curator.Slope{Clip: tuning.RefitClip, Constant: 1, Apart: x.Labels.Apart}
	answer, err := s.In.Gradient(x.Run.Task.Ctx, at.U, at.B, slope)
	share := x.Run.Pool.Left
	g, err := x.Run.Pool.Draw(share, answer, err)
	if err != nil {
		return err
	}
	noise := 2 * slope.Apart * math.Hypot(1, slope.Clip) / (x.Run.NMu() * math.Sqrt(share) * x.Labels.Curvature)
	trust := tuning.RefitUsual * tuning.RefitUsual / (tuning.RefitUsual*tuning.RefitUsual + float64(noise*noise))
	at.B -= math.Max(-2, math.Min(trust*slope.Apart*g[x.Run.D]/(x.Run.N*x.Labels.Curvature), 2))
	return nil
}

// refitted reports whether an intercept that stayed is moved at the end.
func (x *Descent) refitted() bool { return x.interceptStays() && !x.Run.interceptHidden(x.Labels) }

// interceptWeight is the weight of the descent's intercept against the start's, which is k, that
// of the other coordinates, with which it goes. Real labels' intercept is independent of
// these, and has the weight that its noise and the start's give it.
func (x *Descent) interceptWeight(s Stage, at Iterate, k float64) float64 {
	if x.Run.Problem.Loss.Labels() != losses.Real {
		return k
	}
	if x.Run.Problem.kinked() {
		return 1
	}
	start := x.Labels.Noise * x.Labels.Noise
	return start / (start + s.variance(at.Noise, x.Labels.Curvature))
}

// shrinkage is James and Stein's factor in the norm of scores: the noise in the average, of
// privacy and of sampling, is that of the linear recursion.
func (x *Descent) shrinkage(s Stage, at Iterate) float64 {
	h, sampling := x.Labels.clippedCurvature(at.Cut), x.residual(at)/x.Run.N
	noise := func(fraction, moment float64) float64 {
		pull := floats.Sum(s.effects(fraction * h)) // of a force that stays
		return s.variance(at.Noise, fraction*h) + float64(sampling*moment*pull*pull)
	}
	if x.Frame.Signal == nil { // rows are no longer than 2, most of them
		var square float64
		for _, u := range at.U {
			square += float64(u * u)
		}
		return JamesStein(float64(len(at.U))*noise(tuning.FlatCurvature, math.Min(tuning.FlatCurvature, longSquare/float64(x.Run.D))), square)
	}
	var all float64
	for _, known := range x.Frame.Signal {
		all += float64(known * noise(known, known))
	}
	return JamesStein(all, x.Frame.scores(at.U))
}

// longSquare is the square of what rows aren't longer than, most of them, where moments drown: of 2.
const longSquare = 4

// residual is the variance of φ', but for what a clip that most gradients pass takes of it: rows of
// the rarer class have longer ones.
func (x *Descent) residual(at Iterate) float64 {
	f, most := x.Labels, at.Clip/math.Sqrt(1+x.Frame.Effective)
	switch x.Run.Problem.Loss.Labels() {
	case losses.Real:
		return math.Min(f.Residual, most*most/2)
	case losses.Binary:
		q := f.Minority
		rare, usual := math.Min(1-q, most), math.Min(q, most)
		return f.Residual * (q*rare*rare + (1-q)*usual*usual) / (q * (1 - q))
	}
	return math.Min(f.Residual, most*most)
}
