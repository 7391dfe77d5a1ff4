package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Extend continues l linearly where |score| > limit: φ' is held at its values at
// ±limit. The result is convex, as smooth as l is on |score| ≤ limit, and
// Lipschitz; it serves arguments that leave the ball (noise added to weights,
// extrapolation) for a loss whose constants hold only on the ball.
//
// A tangent of a non-negative loss may cross zero: continued from score 3, the
// logistic loss of the label 1 falls for ever. Value is that continuation, so
// that it stays convex with the derivative Deriv, and may therefore be negative
// where |score| > limit. Whoever needs a bounded score clips it to [0, cap].
func Extend(l Loss, limit float64) Loss { return extended{l, limit} }

type extended struct {
	inner Loss
	limit float64
}

func (l extended) Name() string { return fmt.Sprintf("%s extended at %g", l.inner.Name(), l.limit) }

func (l extended) Labels() Labels { return l.inner.Labels() }

func (l extended) Link() Link { return LinkOf(l.inner) }

func (l extended) Validate() error {
	if err := Check(l.inner); err != nil {
		return err
	}
	return check.Positive(check.ErrConfig, "limit of Extend", l.limit)
}

func (l extended) hold(z float64) float64 { return math.Max(-l.limit, math.Min(z, l.limit)) }

func (l extended) Value(z, y float64) float64 {
	t := l.hold(z)
	v := l.inner.Value(t, y)
	if t != z {
		v += float64(l.inner.Deriv(t, y) * (z - t))
	}
	return v
}

func (l extended) Deriv(z, y float64) float64 { return l.inner.Deriv(l.hold(z), y) }

// Constants are the inner loss's at min(Z, limit), the value raised by the
// largest slope times the distance beyond.
func (l extended) Constants(z, y float64) Constants {
	c := l.inner.Constants(math.Min(z, l.limit), y)
	if z > l.limit {
		c.Value += float64(c.Slope * (z - l.limit))
	}
	c.Lipschitz = l.inner.Constants(l.limit, y).Slope
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
func (l extended) Diameter(z, y float64) float64 {
	slope := l.inner.Constants(math.Min(z, l.limit), y).Slope
	return math.Min(l.inner.Diameter(z, y), 2*slope)
}

// Descent returns a D with φ_y(z) ≥ −D·|z| for all scores and for labels within the
// bound y: 0, unless l comes from Extend.
//
// Proof. A continued loss falls at most as fast as the inner one does at the limit,
// outwards. Where φ'(−limit) = D > 0, φ ≥ 0 rises at least as fast from there on, so
// that φ(0) ≥ D·limit and φ'(0) ≥ D; likewise on the other side.
func Descent(l Loss, y float64) float64 {
	e, ok := l.(extended)
	if !ok {
		return 0
	}
	c := e.inner.Constants(0, y)
	d := math.Min(c.AtZero/e.limit, c.Slope)
	if _, ok := e.inner.(Poisson); ok { // φ' falls in y
		d = math.Min(d, math.Max(math.Exp(-e.limit), y-math.Exp(e.limit)))
	}
	return d * (1 + 1e-15)
}
