package estimate

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// lengthen scales a point up where the gradients that were released on the way say that
// the descent has stopped short of the minimum: where scores must become large, the
// logistic loss is so flat that a few steps don't get there.
//
// In whitened coordinates scores are about b + rZ for a normal Z and r² = Σ known·u².
// With ψ(r) = E[Z/(1 + e^{−b−rZ})] the derivative of the mean loss in r is ψ(r) − ψ*,
// where ψ* depends on the labels only, so that the minimum is at the r* with
// ψ(r*) = ψ(r) − s, s being the gradient at u along u/r. The mean of the released
// gradients estimates s; its noise has driven u, against itself, by a known amount. What
// counts is what exceeds three times that amount and a standard deviation. A
// point is at most doubled, and keeps its mean prediction.
func (x *Descent) lengthen(s Stage, at *Iterate) {
	if !x.logistic() {
		return
	}
	u, b := at.One()
	here := logistic{b + x.Labels.Shifted, math.Sqrt(x.Frame.scores(at.At))}
	if !(here.r > 0) {
		return
	}
	var variance, driven float64
	first, m := s.Steps-s.Averaged, float64(s.Averaged)
	h := here.curvature()
	for _, sd := range at.Noise[first:] {
		variance += float64(sd*sd) / float64(m*m)
	}
	for _, known := range x.Frame.Signal {
		for t, effect := range s.effects(known * h) {
			if t >= first {
				driven += float64(effect*at.Noise[t]*at.Noise[t]) / m
			}
		}
	}
	sd := math.Sqrt(variance) * floats.Norm(u, 2)
	slope := (floats.Dot(at.Slope, u) + float64(tuning.Surely*driven) + sd) / here.r
	if slope >= 0 {
		return
	}
	goal := here.projection() - slope
	longer := crossing(here.r, 2*here.r, func(r float64) bool { return logistic{here.b, r}.projection() < goal })
	floats.Scale(longer/here.r, u)
	at.At[0][len(u)] = here.withMean(here.mean(), longer).b - x.Labels.Shifted
}

// logistic reports whether scores are about b + rZ, and classes as likely as logistic.at says.
func (x *Descent) logistic() bool {
	return x.Frame.Signal != nil && losses.LinkOf(x.Run.Problem.Loss) == losses.Logit
}
