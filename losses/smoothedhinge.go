package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// SmoothedHinge is the hinge loss with its kink rounded off over a width h: with
// the margin m = yz, y = ±1, it is 0 for m ≥ 1, (1−m)²/(2h) for 1−h < m < 1 and
// 1−m−h/2 below. It lies at most h/2 under the hinge loss.
type SmoothedHinge struct {
	// Width is h, in (0, 1].
	Width float64
}

// Name is "smoothed hinge(h)".
func (l SmoothedHinge) Name() string { return fmt.Sprintf("smoothed hinge(%g)", l.Width) }

// Labels is Binary.
func (SmoothedHinge) Labels() Labels { return Binary }

// Validate checks the width. The error names its rule.
func (l SmoothedHinge) Validate() error {
	if !(l.Width >= check.MinScale && l.Width <= 1) {
		return check.Fail(check.ErrConfig, "SmoothedHinge.Width", l.Width, fmt.Sprintf("must lie in [%g, 1]", check.MinScale))
	}
	return nil
}

// Value is the loss at the margin yz.
func (l SmoothedHinge) Value(z, y float64) float64 {
	switch short := 1 - float64(y*z); {
	case short <= 0:
		return 0
	case short < l.Width:
		return short * (short / l.Width) / 2
	default:
		return short - float64(l.Width/2)
	}
}

// Deriv is −y·(1−yz)/h, the factor of −y held in [0, 1].
func (l SmoothedHinge) Deriv(z, y float64) float64 {
	return -y * math.Min(1, math.Max(0, 1-float64(y*z))/l.Width)
}

// Curvature is 1/h where 1−h < yz < 1 and 0 elsewhere.
func (l SmoothedHinge) Curvature(z, y float64) float64 {
	if short := 1 - float64(y*z); short > 0 && short < l.Width {
		return 1 / l.Width
	}
	return 0
}

// Constants are attained at yz = −Z; the curvature only where Z > 1−h, since
// the loss is linear on smaller balls.
func (l SmoothedHinge) Constants(z, _ float64) Constants {
	h := l.Width
	return Constants{AtZero: 1 - float64(h/2), Value: 1 + z - float64(h/2), Slope: 1, Smoothness: 1 / h, Lipschitz: 1}
}

// Diameter is 2, twice the largest slope: since h ≤ 1, the slope is already 1
// at z = 0, that is for rows across w, and two opposite ones attain it.
func (SmoothedHinge) Diameter(_, _ float64) float64 { return 2 }
