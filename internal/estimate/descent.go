package estimate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// descend runs the stages and maps the result back.
func (x *Descent) descend() ([]float64, error) {
	s, told := x.firstStage(), x.Run.Task.Progress
	if !x.Frame.hessian {
		x.Run.Task.Progress = func(done, total int) { told(done, total+tuning.LineSteps) }
	}
	at, err := x.Walk(s, Iterate{U: make([]float64, x.Run.D), B: x.Labels.Bias})
	if err != nil {
		return nil, err
	}
	x.Run.Task.Progress = func(done, _ int) { told(s.Steps+done, s.Steps+tuning.LineSteps) }
	if x.Frame.hessian {
		x.Run.Task.Progress = told
		return x.rewhitened(s, at)
	}
	if at, err = x.along(s, at); err != nil {
		return nil, err
	}
	return x.Frame.Weights(at.U, at.B), nil
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
	s.Steps = int(math.Round(math.Min(math.Max(tuning.LeastSteps+tuning.StepsMore*math.Log(nmu/(tuning.StepsFrom*x.Frame.Effective))/math.Log(tuning.StepsFrom), tuning.LeastSteps), tuning.MostSteps)))
	if x.Frame.hessian {
		s.Steps = min(s.Steps, tuning.FirstStageSteps)
	}
	s.Averaged = s.Steps - s.Steps/2
	s.Ridge = tuning.Ridge * math.Pow(x.Frame.Effective/nmu, 2) * curvature
	later := 0.0
	if x.Frame.hessian {
		later = x.Run.Pool.Left * tuning.StageShare
	}
	if !x.Frame.hessian && !x.Run.Pilot {
		later = x.Run.lineShare()
	}
	s.Share = x.Run.Pool.Left - later - s.Clips
	if most := x.bearable() / math.Sqrt(x.noiseOfScores(s)); most < 1 {
		s.Size *= most
	}
	s.Choose = slices.Compact([]int{0, s.Steps / tuning.ClipEarly, s.Steps / tuning.ClipLater, s.Steps / 2})
	if x.Run.N <= tuning.ClipOnceRows {
		s.Choose = slices.Compact([]int{0, s.Steps / tuning.ClipLater})
	}
	s.Allowed = x.Run.N * math.Min(tuning.ClippedRows*math.Sqrt(x.Frame.Effective)/nmu, x.Labels.most())
	return s
}

// bearable is the standard deviation that noise may bring into scores.
func (x *Descent) bearable() float64 {
	if x.Run.Problem.Loss.Labels() == losses.Count {
		return math.Inf(1)
	}
	return tuning.BearableNoise * x.Labels.Typical * math.Sqrt(math.Min(1, x.Labels.Curvature/logisticSmoothness))
}

// noiseOfScores is about the variance that the noise of a stage brings into scores.
func (x *Descent) noiseOfScores(s Stage) float64 {
	noise := 2 * x.Labels.Typical * math.Sqrt(1+s.Effective) / (x.Run.NMu() * math.Sqrt(s.Share/float64(s.Steps)))
	return x.forecast(s, Iterate{Noise: slices.Repeat([]float64{noise}, s.Steps)})
}

// settle lengthens the result of a pilot where it stopped short, and shortens it for its noise.
func (x *Descent) settle(s Stage, at *Iterate) {
	x.lengthen(s, at)
	k := JamesStein(x.forecast(s, *at), x.Frame.scores(at.U))
	floats.Scale(k, at.U)
	weight := x.interceptWeight(s, *at)
	if x.Run.Problem.Loss.Labels() != losses.Real { // whose intercept is independent of the scores
		weight = math.Min(k, weight)
	}
	at.B = x.Labels.Bias + weight*(at.B-x.Labels.Bias)
}

// interceptWeight is the weight of the descent's intercept against the start's. Real labels' is
// independent of the other coordinates, and has the weight that its noise and the start's give it.
func (x *Descent) interceptWeight(s Stage, at Iterate) float64 {
	if x.Run.Problem.Loss.Labels() != losses.Real || x.Run.Problem.kinked() {
		return 1
	}
	start := x.Labels.Noise * x.Labels.Noise
	return start / (start + s.variance(at.Noise, x.Labels.Curvature))
}
