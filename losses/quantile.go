package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Quantile is the pinball loss max(τ(y−z), (τ−1)(y−z)), whose minimiser is the
// conditional quantile of order τ.
type Quantile struct {
	// Tau is τ, at least 1e-60 and below 1.
	Tau float64
}

// Name is "quantile(τ)".
func (l Quantile) Name() string { return fmt.Sprintf("quantile(%g)", l.Tau) }

// Labels is Real.
func (Quantile) Labels() Labels { return Real }

// Validate checks τ. The error says that it must be at least 1e-60 and below 1.
func (l Quantile) Validate() error {
	if !(l.Tau >= check.MinScale && l.Tau < 1) {
		return check.Fail(check.ErrConfig, "Quantile.Tau", l.Tau, fmt.Sprintf("must be at least %g and below 1", check.MinScale))
	}
	return nil
}

// Value is max(τ(y−z), (τ−1)(y−z)).
func (l Quantile) Value(z, y float64) float64 {
	return math.Max(l.Tau*(y-z), (1-l.Tau)*(z-y))
}

// Deriv is −τ where z < y, 1−τ where z > y, and 0 at the kink.
func (l Quantile) Deriv(z, y float64) float64 {
	switch {
	case z > y:
		return 1 - l.Tau
	case z < y:
		return -l.Tau
	}
	return 0
}

// Constants are attained at z = −y = ±Z, on the steeper side.
func (l Quantile) Constants(z, y float64) Constants {
	s := math.Max(l.Tau, 1-l.Tau)
	return Constants{AtZero: s * y, Value: s * (z + y), Slope: s, Smoothness: math.Inf(1), Lipschitz: s}
}

// Diameter is 2·max(τ, 1−τ), twice the largest slope: attained by two opposite
// rows across w. A score that rounding moves over the kink can't exceed it.
func (l Quantile) Diameter(_, _ float64) float64 { return 2 * math.Max(l.Tau, 1-l.Tau) }
