package smooth

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// FarScore is the largest score of binary losses that balls of no given radius allow, where noise
// doesn't grow with the ball: rows are often much shorter than their bound.
const FarScore = 100

// Kinks returns the loss to train with for scores up to z on the ball and the
// given label bound: the loss itself, extended linearly unless its smoothness
// holds at every score, or a Moreau envelope of a loss with kinks. Objective
// perturbation has no ball, so that its guarantee rests on the smoothness there.
func Kinks(l losses.Loss, z, labelBound float64) losses.Loss {
	if e, ok := losses.Envelope(l, z/tuning.EnvelopeWidth); ok {
		return e
	}
	if !(l.Constants(check.Everywhere, labelBound).Smoothness <= l.Constants(z, labelBound).Smoothness) {
		return losses.Extended{Inner: l, Limit: z}
	}
	return l
}

// MostMean is the largest mean of counts up to a label bound: the bound, or 1, but of counts to 1 over exposures, which are
// events that end what is at risk. What is expected of them, over a time at risk that they end, is at most 1 on average and
// has the exponential law wherever hazards are right (Cox and Snell 1968), of which e⁻⁸, 3 in 10,000, is beyond 8.
func MostMean(labelBound float64, exposed bool) float64 {
	if labelBound <= 1 && exposed {
		return mostHazard
	}
	return math.Max(1, labelBound)
}

const mostHazard = 8

// Everywhere is Kinks for learners whose scores have no bound: the Poisson loss is
// continued linearly where the mean exceeds the largest, and not below any score,
// so that means far from 1 are still estimated. The gamma loss is where the label exceeds
// the mean 30 times, which of those that have a gamma law's variance or less hardly any does.
func Everywhere(l losses.Loss, z, labelBound float64, exposed bool) losses.Loss {
	switch l := l.(type) {
	case losses.Poisson:
		return losses.CappedPoisson{Cap: MostMean(labelBound, exposed)}
	case losses.Gamma:
		if l.Ratio == 0 {
			l.Ratio = tuning.GammaRatio
		}
		return l
	case losses.Probit: // as smooth everywhere as it can be on any ball
		return l
	}
	return Kinks(l, z, labelBound)
}

// Descended is the loss to descend along. Kinks are smoothed over a width that is small
// beside what labels vary by.
func Descended(l losses.Loss, labelBound float64, exposed bool) losses.Loss {
	width := tuning.KinkWidth
	if l.Labels() == losses.Real {
		width = labelBound / tuning.KinkWidthReal
	}
	if e, ok := losses.Envelope(l, width); ok {
		return e
	}
	if g, ok := l.(losses.Gamma); ok && g.Ratio == 0 { // no mean lies below the least label
		g.Ratio = math.Max(2, labelBound/g.Least)
		return g
	}
	return Everywhere(l, FarScore, labelBound, exposed)
}
