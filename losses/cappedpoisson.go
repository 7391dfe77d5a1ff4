package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/kernel"
)

// CappedPoisson is the Poisson loss, continued linearly where the mean e^z exceeds Cap,
// which should be no less than the label bound. It is smooth and, for bounded labels,
// Lipschitz on the whole line.
type CappedPoisson struct {
	Cap float64 // at least 1
}

// Name is "poisson capped at …".
func (l CappedPoisson) Name() string { return fmt.Sprintf("poisson capped at %g", l.Cap) }

// Labels is Count.
func (CappedPoisson) Labels() Labels { return Count }

// Link is Log.
func (CappedPoisson) Link() Link { return Log }

// Validate checks the cap.
func (l CappedPoisson) Validate() error {
	if !(l.Cap >= 1 && l.Cap <= check.MaxScale) {
		return check.Fail(check.ErrConfig, "CappedPoisson.Cap", l.Cap, fmt.Sprintf("must lie in [1, %g]", check.MaxScale))
	}
	return nil
}

// Hold is the score, or the one at which the mean is Cap if that is less.
func (l CappedPoisson) Hold(z float64) float64 { return math.Min(z, math.Log(l.Cap)) }

// Value is the continued loss.
func (l CappedPoisson) Value(z, y float64) float64 {
	t := l.Hold(z)
	v := Poisson{}.Value(t, y)
	if t < z {
		v += float64(math.Max(0, l.Cap-y) * (z - t))
	}
	return v
}

// Deriv is min(e^z, Cap) − y.
func (l CappedPoisson) Deriv(z, y float64) float64 { return kernel.Exp(l.Hold(z)) - y }

// Curvature is e^z, and 0 beyond the cap.
func (l CappedPoisson) Curvature(z, _ float64) float64 {
	if z > l.Hold(z) {
		return 0
	}
	return math.Exp(z)
}

// Constants are attained at z = ±Z and y ∈ {0, Y}, as Poisson's are; the derivative lies
// in [−Y, Cap].
func (l CappedPoisson) Constants(z, y float64) Constants {
	top := math.Exp(l.Hold(z)) * (1 + 1e-15)
	return Constants{
		AtZero:     math.Max(1, 1+entropy(y)),
		Value:      max(l.Value(z, 0), l.Value(z, y), l.Value(-z, y), l.Value(-z, 0)),
		Slope:      math.Max(top, y-math.Exp(-z)),
		Smoothness: top,
		Lipschitz:  math.Max(l.Cap*(1+1e-15), y),
	}
}

// Diameter is Poisson's below the cap, and twice the largest slope beyond.
func (l CappedPoisson) Diameter(z, y float64) float64 {
	twice := 2 * l.Constants(z, y).Slope
	if z > l.Hold(z) {
		return twice
	}
	return math.Min(twice, Poisson{}.Diameter(z, y))
}
