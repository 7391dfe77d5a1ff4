package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Gamma is the negative log-likelihood of an amount y with a gamma law of the mean e^z, per
// unit of its shape and less its smallest value:
//
//	ye^(−z) + z − 1 − log y
//
// Errors count in proportion to the mean, so that it suits costs, durations and sizes; that
// the law is a gamma's needn't be true for e^z to be the mean. Amounts below Least count as
// Least: no gamma law has zeros, and log y has no bound there.
//
// The derivative is 1 − ye^(−z), and the second one ye^(−z), which grow without bounds where
// the mean is far too small. From where the amount is more than Ratio times the mean on, the
// loss is continued linearly, with the slope 1 − Ratio; it stays convex and non-negative, and
// is smooth and Lipschitz on the whole line. Ratio also makes a fit robust: means tend to be
// too small by what amounts have beyond that many times their mean.
type Gamma struct {
	Least float64 // positive, and given: such as 0.01 of money
	Ratio float64 // above 1; 0 stands for none
}

// Name is "gamma above …", with the ratio where there is one.
func (l Gamma) Name() string {
	if l.Ratio == 0 {
		return fmt.Sprintf("gamma above %g", l.Least)
	}
	return fmt.Sprintf("gamma above %g, linear beyond %g means", l.Least, l.Ratio)
}

// Labels is Amount.
func (Gamma) Labels() Labels { return Amount }

// Link is Log.
func (Gamma) Link() Link { return Log }

// Validate checks the least amount and the ratio. The error names which of them, its value and
// its rule.
func (l Gamma) Validate() error {
	if l.Ratio != 0 && !(l.Ratio > 1 && l.Ratio <= largestRatio) {
		return check.Fail(check.ErrConfig, "Gamma.Ratio", l.Ratio, fmt.Sprintf("must be above 1 and at most %g, or 0 for none", largestRatio))
	}
	return check.Scale(check.ErrConfig, "Gamma.Least", l.Least)
}

// largestRatio is that of two numbers of a sane magnitude.
const largestRatio = check.MaxScale * check.MaxScale

// most is the largest ye^(−z) up to which the loss isn't linear.
func (l Gamma) most() float64 {
	if l.Ratio == 0 {
		return math.Inf(1)
	}
	return l.Ratio
}

// Value is the loss, which rounding may not take below 0.
func (l Gamma) Value(z, y float64) float64 { return l.at(z, y) }

// at is e^u − 1 − u of u = log y − z, and the tangent from u = log Ratio on.
func (l Gamma) at(z, y float64) float64 {
	u := math.Log(math.Max(y, l.Least)) - z
	t := math.Min(u, math.Log(l.most()))
	v := math.Max(0, math.Expm1(t)-t)
	if t < u {
		v += float64((l.Ratio - 1) * (u - t))
	}
	return v
}

// Deriv is 1 − min(ye^(−z), Ratio).
func (l Gamma) Deriv(z, y float64) float64 {
	return 1 - math.Min(float64(math.Max(y, l.Least)*kernel.Exp(-z)), l.most())
}

// Curvature is ye^(−z), and 0 where the loss is linear.
func (l Gamma) Curvature(z, y float64) float64 {
	e := math.Max(y, l.Least) * math.Exp(-z)
	if e > l.most() {
		return 0
	}
	return e
}

// gammaError bounds the relative error of ye^(−z) and of e^u as computed: |u| and |z| are
// below 745 where these don't overflow.
const gammaError = 1e-12

// Constants are attained at z = ±Z and y ∈ {Least, Y}, the loss being convex in u.
func (l Gamma) Constants(z, y float64) Constants {
	up := 1 + gammaError
	top := float64(up * math.Min(math.Max(y, l.Least)*math.Exp(z), l.most()))
	k := Constants{
		AtZero:     up * math.Max(l.at(0, l.Least), l.at(0, y)),
		Value:      up * max(l.at(z, l.Least), l.at(-z, l.Least), l.at(z, y), l.at(-z, y)),
		Slope:      math.Max(top-1, 1-float64(l.Least*math.Exp(-z))/up),
		Smoothness: top,
		Lipschitz:  math.Inf(1),
	}
	if l.Ratio != 0 {
		k.Lipschitz = math.Max(1, l.Ratio-1)
	}
	return k
}

var gammaDiameters diameters

// Diameter is what spread finds for slopes from those of Y to those of Least, which rise with
// the score by less than a hundredth of what exceeds 1 over a leaf.
func (l Gamma) Diameter(z, y float64) float64 {
	return gammaDiameters.within(2*l.Constants(z, y).Slope, z, [3]float64{y, l.Least, l.Ratio},
		func(t float64) float64 { return l.Deriv(t, y) }, func(t float64) float64 { return l.Deriv(t, l.Least) })
}
