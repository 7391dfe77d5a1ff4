package estimate

import (
	"errors"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// rewhitened goes on from a first stage in coordinates in which the loss's Hessian is
// round, centred where the intercept is independent of the other coordinates; in the first
// stage's where the Hessian is nothing but noise.
func (x *Descent) rewhitened(first Stage, at Iterate) ([][]float64, error) {
	f := x.Labels
	turned, ok, err := x.turn(at)
	if err != nil {
		return nil, err
	}
	if !ok {
		return x.moreSteps(first, at)
	}
	at.At = point(turned.U, turned.B)
	s := Stage{In: oneColumn{x.Frame.In}, Steps: tuning.HessianSteps, Averaged: tuning.HessianSteps / 2, Size: 1 / turned.Curvature, Clips: tuning.HessianClipsShare, Choose: []int{0, 2}, Curvature: turned.Curvature, Effective: turned.Effective}
	if x.Run.Problem.Loss.Labels() == losses.Real {
		s.Curvature = f.Residual
	}
	s.Share = x.Run.Pool.Left - s.Clips
	s.Allowed = x.Run.N * math.Min(tuning.ClippedRows*math.Sqrt(turned.Effective)/x.Run.NMu(), x.Labels.most())
	if at, err = x.Walk(s, at); err != nil {
		return nil, err
	}
	return x.Frame.Weights(at.At), nil
}

// NoIntercept stands for the coordinate of an intercept that isn't there: a question must have one.
const NoIntercept = 1e-6

// turn releases the Hessian and moves to the coordinates in which it is round, unless noise hides
// it.
func (x *Descent) turn(at Iterate) (t Turned, ok bool, err error) {
	d, nmu, f := float64(x.Run.D), x.Run.NMu(), x.Labels
	u, b := at.One()
	constant := 0.0
	if x.Run.Problem.Facts.Intercept {
		constant = 1
	}
	most := math.Min(f.Steepest, tuning.CurvatureSteepest*f.Curvature)
	edges := histogram.Geometric(tuning.CurvatureTop*math.Sqrt(most*(d+1)), math.Sqrt2, tuning.NormEdges)
	answer, err := x.Frame.In.CurvatureNorms(x.Run.Task.Ctx, edges, u, b, math.Max(constant, NoIntercept), f.Steepest)
	h, err := x.Run.Read(tuning.LengthsShare, edges, answer, err)
	if err != nil {
		return t, false, err
	}
	normBound := h.Smallest(math.Min(x.Run.N/2, tuning.ClippedRows*math.Sqrt(d)/x.Run.Problem.Mu), tuning.EdgeSurely)
	normBound = math.Max(normBound, math.Sqrt(tuning.FreeMoments*nmu*math.Sqrt(tuning.HessianShare)*f.Curvature/(2*math.Sqrt(d+1))))
	rho := math.Sqrt(2*(d+1)) * math.Sqrt2 * normBound * normBound / (nmu * math.Sqrt(tuning.HessianShare))
	if rho/f.Curvature > tuning.TurnNoise || !x.Run.Problem.Facts.Intercept {
		return t, false, nil
	}
	answer, err = x.Frame.In.Hessian(x.Run.Task.Ctx, u, b, constant, f.Steepest, normBound)
	packed, err := x.Run.Pool.Draw(tuning.HessianShare, answer, err)
	if err != nil {
		return t, false, err
	}
	was := *x.Frame
	if t, err = x.Frame.Recentre(packed, rho, u, b); errors.Is(err, check.ErrBound) {
		*x.Frame = was
		return t, false, nil
	}
	return t, true, err
}

// moreSteps spends what is left on more steps of the first stage.
func (x *Descent) moreSteps(s Stage, at Iterate) ([][]float64, error) {
	s.Steps /= 2
	s.Averaged = s.Steps - s.Steps/2
	s.Choose, s.Clips = []int{0, 2}, tuning.HessianClipsShare
	s.Share = x.Run.Pool.Left - s.Clips
	at, err := x.Walk(s, at)
	if err != nil {
		return nil, err
	}
	return x.Frame.Weights(at.At), nil
}
