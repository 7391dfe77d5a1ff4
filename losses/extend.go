package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Extended continues Inner linearly where |score| > Limit: φ' is held at its values
// at ±Limit. It is convex, as smooth as Inner is on |score| ≤ Limit, and
// Lipschitz; it serves arguments that leave the ball (noise added to weights,
// extrapolation) for a loss whose constants hold only on the ball.
//
// A tangent of a non-negative loss may cross zero: continued from score 3, the
// logistic loss of the label 1 falls for ever. Value is that continuation, so
// that it stays convex with the derivative Deriv, and may therefore be negative
// where |score| > limit. Whoever needs a bounded score clips it to [0, cap].
type Extended struct {
	Inner Loss    // must be given
	Limit float64 // of scores, positive and finite
}

// Name is the inner loss's, with the limit.
func (l Extended) Name() string { return fmt.Sprintf("%s extended at %g", l.Inner.Name(), l.Limit) }

// Labels are the inner loss's.
func (l Extended) Labels() Labels { return l.Inner.Labels() }

// Link is the inner loss's.
func (l Extended) Link() Link { return LinkOf(l.Inner) }

// Validate checks the inner loss and the limit. The error names which of them, its value and
// its rule.
func (l Extended) Validate() error {
	if err := check.Valid("Extended.Inner", l.Inner); err != nil {
		return err
	}
	return check.Positive(check.ErrConfig, "Extended.Limit", l.Limit)
}

// Hold is the nearest score within the limit.
func (l Extended) Hold(z float64) float64 { return math.Max(-l.Limit, math.Min(z, l.Limit)) }

// Value is the continued loss.
func (l Extended) Value(z, y float64) float64 {
	t := l.Hold(z)
	v := l.Inner.Value(t, y)
	if t != z {
		v += float64(l.Inner.Deriv(t, y) * (z - t))
	}
	return v
}

// Deriv is the inner loss's at the nearest score within the limit.
func (l Extended) Deriv(z, y float64) float64 { return l.Inner.Deriv(l.Hold(z), y) }

// Constants are the inner loss's at min(Z, Limit), the value raised by the
// largest slope times the distance beyond.
func (l Extended) Constants(z, y float64) Constants {
	c := l.Inner.Constants(math.Min(z, l.Limit), y)
	if z > l.Limit {
		c.Value += float64(c.Slope * (z - l.Limit))
	}
	c.Lipschitz = l.Inner.Constants(l.Limit, y).Slope
	return c
}

// Diameter is the inner loss's, and at most twice the largest slope.
//
// Proof. Take two rows in the notation of spread. Where |score| > limit the slope
// is that of limit: moving such rows across w until the score is ±limit, both
// at once if there are two, keeps the slopes and shrinks |α + sβ|, since the
// larger angle never becomes the smaller. So some pair with both |score| ≤ limit
// is farthest apart, and there the two losses are the same. For z just above the
// limit the bound is loose where the inner loss grows fast.
func (l Extended) Diameter(z, y float64) float64 {
	slope := l.Inner.Constants(math.Min(z, l.Limit), y).Slope
	return math.Min(l.Inner.Diameter(z, y), 2*slope)
}
