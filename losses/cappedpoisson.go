package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
)

// CappedPoisson is the Poisson loss, continued linearly where the mean e^z exceeds Cap,
// or the label if that is larger: so its slope never falls below 0 there, and the loss
// is nowhere negative. It is smooth and, for bounded labels, Lipschitz on the whole line.
type CappedPoisson struct {
	Cap float64 // at least 1
}

// Name is "poisson capped at …".
func (l CappedPoisson) Name() string { return fmt.Sprintf("poisson capped at %g", l.Cap) }

// Labels is Count.
func (CappedPoisson) Labels() Labels { return Count }

// Link is Log.
func (CappedPoisson) Link() Link { return Log }

// Validate checks the cap. The error wraps dpglm.ErrConfig.
func (l CappedPoisson) Validate() error {
	if !(l.Cap >= 1 && l.Cap <= check.MaxScale) {
		return check.Fail(check.ErrConfig, "CappedPoisson.Cap", l.Cap, fmt.Sprintf("must lie in [1, %g]", check.MaxScale))
	}
	return nil
}

// Hold is the score, or the one at which the mean is Cap, or the label y if that is more.
func (l CappedPoisson) Hold(z, y float64) float64 { return math.Min(z, math.Log(math.Max(l.Cap, y))) }

// Value is the continued loss.
func (l CappedPoisson) Value(z, y float64) float64 { return l.at(z, y) }

func (l CappedPoisson) at(z, y float64) float64 {
	t := l.Hold(z, y)
	v := Poisson{}.at(t, y)
	if t < z {
		v += float64(math.Max(0, l.Cap-y) * (z - t))
	}
	return v
}

// Deriv is min(e^z, max(Cap, y)) − y.
func (l CappedPoisson) Deriv(z, y float64) float64 { return kernel.Exp(l.Hold(z, y)) - y }

// Curvature is e^z, and 0 beyond the cap.
func (l CappedPoisson) Curvature(z, y float64) float64 {
	if z > l.Hold(z, y) {
		return 0
	}
	return math.Exp(z)
}

// logCapError bounds the relative error of e^(log Cap) as computed, |log Cap| ≤ 139 times
// the unit roundoff and the roundings of both functions, four times.
const logCapError = 1e-13

// Constants are attained at z = ±Z and y ∈ {0, Y}, as Poisson's are, the value being convex
// in y too; the derivative lies in [−Y, Cap], and the mean up to where it is held is at most
// max(Cap, Y).
func (l CappedPoisson) Constants(z, y float64) Constants {
	top := math.Exp(l.Hold(z, y)) * (1 + logCapError)
	steepest := math.Min(top, l.Cap*(1+logCapError))
	return Constants{
		AtZero:     math.Max(1, 1+entropy(y)),
		Value:      max(l.at(z, 0), l.at(z, y), l.at(-z, y), l.at(-z, 0)),
		Slope:      math.Max(steepest, y-math.Exp(-z)),
		Smoothness: top,
		Lipschitz:  math.Max(l.Cap*(1+logCapError), y),
	}
}

// Diameter is Poisson's below the cap, and twice the largest slope beyond.
func (l CappedPoisson) Diameter(z, y float64) float64 {
	twice := 2 * l.Constants(z, y).Slope
	if z > l.Hold(z, 0) {
		return twice
	}
	return math.Min(twice, Poisson{}.Diameter(z, y))
}
