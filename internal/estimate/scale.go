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
// counts is what exceeds one and a half times that amount and a standard deviation. A
// point is at most doubled, and keeps its mean prediction.
func (x *Descent) lengthen(s Stage, at *Iterate) {
	if !x.logistic() {
		return
	}
	here := x.predictions(*at)
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
	sd := math.Sqrt(variance) * floats.Norm(at.U, 2)
	slope := (floats.Dot(at.Slope, at.U) + float64(tuning.LengthenDriven*driven) + sd) / here.r
	if slope >= 0 {
		return
	}
	goal := here.projection() - slope
	longer := Crossing(here.r, 2*here.r, func(r float64) bool { return logistic{here.b, r}.projection() < goal })
	floats.Scale(longer/here.r, at.U)
	at.B = here.withMean(here.mean(), longer).b - x.Labels.Shifted
}

// logistic reports whether scores are about b + rZ, and classes as likely as logistic.at says.
func (x *Descent) logistic() bool {
	return x.Frame.Signal != nil && losses.LinkOf(x.Run.Problem.Loss) == losses.Logit
}

// predictions are those at a point, in the mean of the offsets.
func (x *Descent) predictions(at Iterate) logistic {
	return logistic{at.B + x.Labels.Shifted, math.Sqrt(x.Frame.scores(at.U))}
}

// unclipped returns by how much scores are too long because a clip holds the gradients of rows on
// the wrong side most: they then pull scores back by less. In the terms of lengthen, gradients
// whose φ' is held to ±c are 0 on average at b + rZ where classes are as likely as at b* + r*Z, with
// the same mean; r*/r is wanted, where r is without its noise, which is 1 − k of its square. At
// c = ½, which is that of typical gradients, r is up to 2r*. Less is made of it where the clip
// holds less than two thirds of the rows that it should by that, and the farther scores are from
// 0, as they may be of classes that features tell apart, whose minimum is far out.
func (x *Descent) unclipped(at Iterate, k float64) float64 {
	noisy := x.predictions(at)
	signal := noisy.r * math.Sqrt(k)
	if !x.logistic() || x.Run.Pilot || !(signal > 0) { // steps that follow a pilot mend it
		return 1
	}
	mean := noisy.mean()
	here, held := noisy.withMean(mean, signal), at.Clip/math.Sqrt(1+x.Frame.Effective)
	c := math.Max(tuning.UnclippedHeld*held, 0.5)
	hold := func(slope float64) float64 { return math.Max(-c, math.Min(slope, c)) }
	truth := noisy.withMean(mean, Crossing(0, tuning.UnclippedMost*signal, func(r float64) bool {
		there := noisy.withMean(mean, r)
		return normalMean(func(z float64) float64 {
			p, q := there.at(z), here.at(z)
			return z * (p*hold(q-1) + (1-p)*hold(q))
		}) > 0
	}))
	cut := normalMean(func(z float64) (sum float64) { // what the model says of it
		p, q := truth.at(z), here.at(z)
		if 1-q > held {
			sum += p
		}
		if q > held {
			sum += 1 - p
		}
		return sum
	})
	trust := math.Min(tuning.UnclippedTrust*at.Cut/math.Max(cut, leastCut), 1) / (1 + math.Pow(noisy.r/tuning.UnclippedFar, tuning.UnclippedFade))
	return 1 - trust*(1-truth.r/signal)
}

// leastCut keeps a divisor from being 0.
const leastCut = 1e-9

// lineSearch returns the factor by which the loss would be least along the way to a point, as far
// as the gradients released at its beginning and its end tell, less a standard deviation,
// and at most 2. The mean loss's slopes along u, at 0 and at u, are those of the released
// gradients, but for the noise that has itself driven u, by a known amount. Between the two
// the slope is taken for a straight line.
func (x *Descent) lineSearch(s Stage, at Iterate) float64 {
	first, m, d := s.Steps-s.Averaged, float64(s.Averaged), float64(len(at.U))
	var driven, variance float64
	effects := s.effects(tuning.FlatCurvature * x.Labels.clippedCurvature(at.Cut))
	for t := first; t < s.Steps; t++ {
		driven += float64(d*effects[t]*at.Noise[t]*at.Noise[t]) / m
		variance += float64(at.Noise[t]*at.Noise[t]) / float64(m*m)
	}
	start := floats.Dot(at.First, at.U) + float64(d*effects[0]*at.Noise[0]*at.Noise[0])
	end := floats.Dot(at.Slope, at.U) + driven
	if !(start < 0 && end > start) {
		return 0
	}
	least := start / (start - end)
	sd := floats.Norm(at.U, 2) / (end - start) * math.Hypot(at.Noise[0]*(1-least), math.Sqrt(variance)*least)
	return math.Min(least-sd, 2)
}
