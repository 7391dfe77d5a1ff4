package dpglm

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// The scores of binary losses that default radii reach at the feature bound:
// nearScore where noise or a certificate grows with the ball, farScore elsewhere, as
// rows are often much shorter than their bound.
const (
	nearScore = 10
	farScore  = 100
)

// everywhere is a score beyond all that are ever computed.
const everywhere = check.Everywhere

// smoothed returns the loss to train with for scores up to z on the ball and the
// given label bound: the loss itself, extended linearly unless its smoothness
// holds at every score, or a Moreau envelope of a loss with kinks. Objective
// perturbation has no ball, so that its guarantee rests on the smoothness there.
func smoothed(l losses.Loss, z, labelBound float64) losses.Loss {
	if e, ok := losses.Envelope(l, z/tuning.EnvelopeWidth); ok {
		return e
	}
	if !(l.Constants(everywhere, labelBound).Smoothness <= l.Constants(z, labelBound).Smoothness) {
		return losses.Extended{Inner: l, Limit: z}
	}
	return l
}

// everywhereSmooth is smoothed for learners whose scores have no bound: the Poisson loss is
// continued linearly where the mean exceeds the largest label, and not below any score,
// so that means far from 1 are still estimated. The gamma loss is where the label exceeds
// the mean 30 times, which of those that have a gamma law's variance or less hardly any does.
func everywhereSmooth(l losses.Loss, z, labelBound float64) losses.Loss {
	switch l := l.(type) {
	case losses.Poisson:
		return losses.CappedPoisson{Cap: math.Max(1, labelBound)}
	case losses.Gamma:
		if l.Ratio == 0 {
			l.Ratio = tuning.GammaRatio
		}
		return l
	case losses.Probit: // as smooth everywhere as it can be on any ball
		return l
	}
	return smoothed(l, z, labelBound)
}

// estimated is the loss to descend along. Kinks are smoothed over a width that is small
// beside what labels vary by.
func estimated(l losses.Loss, s Shape) losses.Loss {
	width := tuning.KinkWidth
	if l.Labels() == losses.Real {
		width = s.LabelBound / tuning.KinkWidthReal
	}
	if e, ok := losses.Envelope(l, width); ok {
		return e
	}
	if g, ok := l.(losses.Gamma); ok && g.Ratio == 0 { // no mean lies below the least label
		g.Ratio = math.Max(2, s.LabelBound/g.Least)
		return g
	}
	return everywhereSmooth(l, farScore, s.LabelBound)
}

// leastLambda is the least λ over a loss's smoothness and the square of rows' bound: a billionth.
const leastLambda = 1e-9

// solvable refuses a loss whose smoothness is not known, and a λ so small (0 is
// the default's) that a solver would not end in good time.
func solvable(trained losses.Loss, s Shape, p Problem, lambda float64) error {
	k := trained.Constants(s.FeatureBound*p.Radius, s.LabelBound)
	if !(k.Smoothness > 0) || math.IsInf(k.Smoothness, 1) {
		return check.Fail(ErrConfig, "loss", trained.Name(), "must have a known smoothness above zero, or be one that losses.Envelope can smooth")
	}
	if least := leastLambda * k.Smoothness * s.FeatureBound * s.FeatureBound; lambda != 0 && lambda < least {
		return check.Fail(ErrConfig, "Lambda", lambda, fmt.Sprintf("must be at least %.3g here, a billionth of the loss's smoothness", least))
	}
	return nil
}

// regularisation returns the λ with the lowest predicted risk; noise is the
// standard deviation per unit of sensitivity, and rows'
// gradients are held to the clip.
func regularisation(s Shape, l losses.Loss, radius, noise, clip float64) float64 {
	x, n := s.FeatureBound, float64(s.Rows)
	k := l.Constants(x*radius, s.LabelBound)
	perLambda := math.Min(x*l.Diameter(x*radius, s.LabelBound), 2*clip) * noise / n // σ·λ
	smooth := math.Cbrt(2*k.Smoothness*x*x*perLambda*perLambda) / math.Cbrt(radius*radius)
	risk := smooth*radius*radius/2 + k.Smoothness*x*x*perLambda*perLambda/(2*smooth*smooth)
	lipschitz := math.Sqrt(2*math.Sqrt(2/math.Pi)*x*k.Lipschitz*perLambda) / radius
	if lipschitz*radius*radius < risk { // its two terms are equal at the optimum
		return lipschitz
	}
	return smooth
}

// typical is what accuracy, and nothing else, hopes of the rows.
type typical struct {
	row      float64 // norm
	label    float64 // magnitude
	variance float64 // of the scores under the best weights
}

// What rows and labels are taken to measure, over their bounds, until better is
// known. Where the numbers are from isn't recorded.
const (
	typicalRow   = 0.75
	typicalLabel = 0.25
)

func typicalOf(l losses.Loss, row, label float64) typical {
	labels := l.Labels()
	switch {
	case labels == losses.Real, labels == losses.Amount && losses.LinkOf(l) == losses.Identity:
		return typical{row, label, label * label}
	case labels == losses.Count:
		return typical{row, math.Max(label, 1), 1}
	default:
		return typical{row, 0, 2}
	}
}

// lettingGo grows with data and budget, and is 1 where a default clip may begin to.
func lettingGo(s Shape, mu float64) float64 {
	return math.Sqrt(float64(s.Rows) * mu / (tuning.LettingGo * math.Sqrt(float64(s.Dim))))
}
