package estimate

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// descend runs a stage, goes on along a line, and maps the result back.
func (x *Descent) descend() ([][]float64, error) {
	told := x.Run.Task.Progress
	before, err := x.begin(tuning.MostSteps + tuning.LineSteps)
	if err != nil {
		return nil, err
	}
	s := x.firstStage()
	x.Run.Task.Progress = func(done, total int) { told(before+done, before+total+tuning.LineSteps) }
	at, err := x.Walk(s, Iterate{At: x.start()})
	if err != nil {
		return nil, err
	}
	s.Size = at.Size
	x.Run.Task.Progress = func(done, _ int) { told(before+s.Steps+done, before+s.Steps+tuning.LineSteps) }
	if at, err = x.along(s, at); err != nil {
		return nil, err
	}
	return x.Frame.Weights(at.At), nil
}

// Begun are the weights of encoded rows that a descent of one column began at: a prior's, as far as rows agreed, or those of the constant model.
func Begun(x *Descent) []float64 { return x.Frame.Weights(x.start())[0] }

// start is where a descent begins.
func (x *Descent) start() [][]float64 {
	if x.origin == nil {
		return x.constant()
	}
	return between(x.origin, x.origin, 0)
}

// constant is the constant model.
func (x *Descent) constant() [][]float64 {
	at := make([][]float64, len(x.Labels.Biases))
	for c, b := range x.Labels.Biases {
		at[c] = append(make([]float64, x.Run.D), b)
	}
	return at
}

// scored are the rows in the frame.
func (x *Descent) scored() scored {
	if x.of != nil {
		return ofClasses{x.of}
	}
	return oneColumn{x.Frame.In}
}

// Pilot is the point that a first stage leads to, for others to go on from, after so many steps.
func (x *Descent) Pilot() (at Iterate, steps int, err error) {
	told := x.Run.Task.Progress
	before, err := x.begin(tuning.MostSteps)
	if err != nil {
		return at, 0, err
	}
	s := x.firstStage()
	x.Run.Task.Progress = func(done, total int) { told(before+done, before+total) }
	if at, err = x.Walk(s, Iterate{At: x.start()}); err != nil {
		return at, 0, err
	}
	s.Size = at.Size
	x.settle(s, &at)
	return at, before + s.Steps, nil
}

// dimension is how many numbers a fit has, as far as moments tell.
func (x *Descent) dimension() float64 { return 1 + (x.Frame.Effective-1)*x.contrasts() }

// firstStage is planned by what was released so far.
func (x *Descent) firstStage() Stage {
	f, nmu := x.Labels, x.Run.NMu()
	curvature := math.Min(f.Steepest, tuning.StepCurvature*f.Curvature)
	if x.Run.Problem.Loss.Labels() == losses.Count && losses.LinkOf(x.Run.Problem.Loss) == losses.Log {
		curvature = math.Min(f.Steepest, tuning.StepCurvatureCount*f.Curvature)
	}
	s := Stage{In: x.scored(), Momentum: tuning.Momentum, Effective: x.Frame.Effective}
	s.Size = 1 / (curvature * (1 + math.Min(1, x.Frame.Spread*x.Frame.frobenius())))
	s.Steps = int(math.Round(math.Min(math.Max(tuning.StepsMore*math.Log2(nmu/x.dimension()), tuning.LeastSteps), tuning.MostSteps)))
	s.Ridge = tuning.Ridge * math.Pow(x.Frame.Effective/nmu, 2) * curvature
	if x.Frame.wide {
		s.Steps = tuning.ColumnSteps
		s.Ridge += x.Labels.Curvature * x.Frame.Effective / (tuning.ColumnSpread * x.Run.N)
	}
	s.Averaged = s.Steps - s.Steps/2
	s.Choose = []int{0, s.Steps / 2 / 2, s.Steps / 2}
	s.Clips = float64(len(s.Choose)) * tuning.CountsShare
	s.Share = x.Run.Pool.Left - s.Clips
	if !x.Run.Pilot {
		s.Share -= tuning.LineShare
	}
	signals, most := typical(x.Frame.Signal), f.bearable(x.Run.Problem, x.Frame.wide)*x.contrasts()
	bearable := func() bool { return x.noiseOfScores(s, signals) < most }
	if !bearable() {
		s.Size = crossing(0, s.Size, func(size float64) bool {
			s.Size = size
			return bearable()
		})
	} else if x.Frame.wide { // noise leaves room for columns that few rows have
		s.Momentum = crossing(s.Momentum, tuning.ColumnMostMomentum, func(m float64) bool {
			s.Momentum = m
			return bearable()
		})
	}
	s.Intercept = x.interceptStep(s, tuning.BearableIntercept*most)
	s.Allowed = x.Run.N * math.Min(tuning.ClippedRows*math.Sqrt(x.dimension())/nmu, x.Labels.most())
	return s
}

// interceptStep is the part of a step that the intercept takes. No ridge holds it, and far out the loss hardly pulls it back: its noise may bring
// so much variance into scores.
func (x *Descent) interceptStep(s Stage, most float64) float64 {
	slope := x.slope(x.Labels.Typical * math.Sqrt(1+s.Effective))
	sd, apart := s.noise(slope, x.Labels.moves(slope.Constant, x.Run.Problem.Facts), x.Run.NMu())
	noise, free := slices.Repeat([]float64{sd * apart}, s.Steps), s
	free.Ridge = 0
	within := func(part float64) bool {
		free.Size = part * s.Size
		return free.variance(noise, x.Labels.flattest())*x.contrasts() < most
	}
	if within(1) {
		return 1
	}
	return crossing(0, 1, within)
}

// noiseOfScores is about the variance that the noise of a stage brings into scores, by the signals of so many typical directions.
func (x *Descent) noiseOfScores(s Stage, signals []float64) float64 {
	noise := 2 * x.Labels.Typical * math.Sqrt(1+s.Effective) / (x.Run.NMu() * math.Sqrt(s.Share/float64(s.Steps)))
	each := float64(len(x.Frame.Signal)) / math.Max(1, float64(len(signals)))
	return s.spread(signals, x.Labels.flattest(), slices.Repeat([]float64{noise}, s.Steps)) * x.contrasts() * each
}

// typical are the middle ones of as many equal parts of signals as have moments, or all where there are no more.
func typical(signals []float64) []float64 {
	if len(signals) <= MostFeatures {
		return signals
	}
	sorted, some := slices.Sorted(slices.Values(signals)), make([]float64, MostFeatures)
	for k := range some {
		some[k] = sorted[(2*k+1)*len(sorted)/(2*MostFeatures)]
	}
	return some
}

// settle shortens the result of a pilot for its noise.
func (x *Descent) settle(s Stage, at *Iterate) {
	x.lengthen(s, at)
	k := JamesStein(x.forecast(s, *at), x.Frame.scores(apart(at.At, x.origin)))
	weight := x.interceptWeight(s, *at)
	if x.Run.Problem.Loss.Labels() != losses.Real { // whose intercept is independent of the scores
		weight = math.Min(k, weight)
	}
	u, b := at.One()
	from := x.origin[0][len(u)]
	at.At = between(x.origin, at.At, k)
	at.At[0][len(u)] = from + weight*(b-from)
}

// interceptWeight is the weight of the descent's intercept against the start's. Real labels' is
// independent of the other coordinates, and has the weight that its noise and the start's give it.
func (x *Descent) interceptWeight(s Stage, at Iterate) float64 {
	if x.Run.Problem.Loss.Labels() != losses.Real || x.Run.Problem.kinked() || x.Run.Problem.Facts.EachRow { // whose mean isn't the start's
		return 1
	}
	start := x.Labels.Noise * x.Labels.Noise
	s.Size, s.Ridge = s.Size*s.Intercept, 0 // as its own steps are
	return start / (start + s.variance(at.Noise, x.Labels.Curvature))
}
