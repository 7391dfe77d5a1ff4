package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
)

// NegativeBinomial is the negative log-likelihood, less its smallest value, of a count y
// with the mean μ = e^z and the variance μ + αμ², α being a given dispersion:
//
//	(y + 1/α)·log(1 + αe^z) − yz + y·log y − (y + 1/α)·log(1 + αy)
//
// With s = αe^z/(1 + αe^z), the derivative is (y + 1/α)s − y = (e^z − y)/(1 + αe^z), between
// −y and 1/α, and the second one (y + 1/α)·s(1 − s), at most (y + 1/α)/4: the loss is convex,
// smooth and, for bounded labels, Lipschitz on the whole line. For small α it is the Poisson
// loss but for means beyond 1/α, and the largest slope grows as 1/α.
type NegativeBinomial struct {
	Dispersion float64 // α > 0
}

// Name is "negative binomial(α)".
func (l NegativeBinomial) Name() string { return fmt.Sprintf("negative binomial(%g)", l.Dispersion) }

// Labels is Count.
func (NegativeBinomial) Labels() Labels { return Count }

// Link is Log.
func (NegativeBinomial) Link() Link { return Log }

// Validate checks the dispersion. The error names its rule.
func (l NegativeBinomial) Validate() error {
	return check.Scale(check.ErrConfig, "NegativeBinomial.Dispersion", l.Dispersion)
}

// Value is the loss, which rounding may not take below 0.
func (l NegativeBinomial) Value(z, y float64) float64 { return l.at(z, y) }

// at adds terms each of which is of the order of the loss of 0 or of y, also for small α.
func (l NegativeBinomial) at(z, y float64) float64 {
	u := z + math.Log(l.Dispersion)
	rise := float64(softplus(u)/l.Dispersion) - float64(math.Log1p(l.Dispersion*y)/l.Dispersion)
	if y == 0 {
		return rise
	}
	// y·(log(1 + αe^z) − z − log(1 + αy) + log y) is y·log(s'/s) in either form.
	return math.Max(0, rise+float64(y*(softplus(-u)-math.Log1p(1/(l.Dispersion*y)))))
}

// Deriv is (e^z − y)/(1 + αe^z), written so that it doesn't overflow.
func (l NegativeBinomial) Deriv(z, y float64) float64 {
	if z > 0 {
		e := kernel.Exp(-z)
		return (1 - float64(y*e)) / (e + l.Dispersion)
	}
	e := kernel.Exp(z)
	return (e - y) / (1 + float64(l.Dispersion*e))
}

// Curvature is (1 + αy)·e^z/(1 + αe^z)², or (y + 1/α)·s(1 − s).
func (l NegativeBinomial) Curvature(z, y float64) float64 {
	s := sigmoid(-math.Abs(z + math.Log(l.Dispersion)))
	return (y + 1/l.Dispersion) * s * (1 - s)
}

// dispersionError bounds the relative error of e^(z + log α) as computed, as logCapError
// does, and those of the operations that follow.
const dispersionError = 1e-12

// Constants are attained at z = ±Z and y ∈ {0, Y}, the loss being convex in z, and in y,
// since its second derivative there is 1/(y(1 + αy)) > 0; the curvature at the score
// nearest to −log α.
func (l NegativeBinomial) Constants(z, y float64) Constants {
	up := 1 + dispersionError
	s := sigmoid(math.Min(0, z-math.Abs(math.Log(l.Dispersion))))
	return Constants{
		AtZero:     up * math.Max(l.at(0, 0), l.at(0, y)),
		Value:      up * max(l.at(z, 0), l.at(z, y), l.at(-z, 0), l.at(-z, y)),
		Slope:      up * max(l.Deriv(z, 0), -l.Deriv(-z, y)),
		Smoothness: up * (y + 1/l.Dispersion) * s * (1 - s),
		Lipschitz:  up * math.Max(y, 1/l.Dispersion),
	}
}

var negativeBinomialDiameters diameters

// Diameter is what spread finds for slopes from those of Y to those of 0, which rise with
// the score: within 1 % of the diameter, for scores up to 30 at least.
func (l NegativeBinomial) Diameter(z, y float64) float64 {
	return negativeBinomialDiameters.within(2*l.Constants(z, y).Slope, z, [3]float64{y, l.Dispersion},
		func(t float64) float64 { return l.Deriv(t, y) }, func(t float64) float64 { return l.Deriv(t, 0) })
}
