package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Custom is a user's own loss. The privacy guarantee rests on what it states, for
// the library can't prove it. Every learner searches for a counterexample before anything is
// spent, by a few hundred scores and labels, as [CheckConstants] does; a statement that is false
// at other points only is not found, and to state the truth stays the user's duty. For all
// scores and all labels of the domain within a bound Y:
//
//   - Phi is finite, non-negative and convex in the score z, and DPhi is its
//     derivative (a loss with kinks must be smoothed);
//   - AtZero(Y) ≥ φ_y(0);
//   - DPhi rises by at most H per unit of z. Either Smoothness states such an H
//     for all scores, or SmoothnessWithin(Z, Y) one for |z| ≤ Z, not decreasing
//     in Z, together with SlopeAtZero;
//   - SlopeAtZero(Y) ≥ |φ'_y(0)|. Where it is nil, √(2H·AtZero) takes its place,
//     which bounds the slope of a non-negative loss that is smooth everywhere;
//   - Lipschitz ≥ |φ'_y(z)|, for all scores, where it is stated.
//
// Binary labels are ±1 and the functions are called with whatever label bound was
// given, or 0. All functions must be pure and safe for concurrent use.
type Custom struct {
	// Label names the loss; it must be given, as must Domain, Phi, DPhi and AtZero.
	Label string
	// Domain says which labels it takes.
	Domain Labels
	// Phi is φ_y(z) and DPhi its derivative in z.
	Phi, DPhi func(z, y float64) float64
	// AtZero bounds φ_y(0).
	AtZero func(labelBound float64) float64
	// SlopeAtZero bounds |φ'_y(0)|; nil takes √(2·Smoothness·AtZero).
	SlopeAtZero func(labelBound float64) float64
	// Smoothness is H for all scores; 0 means that SmoothnessWithin gives it.
	Smoothness float64
	// SmoothnessWithin is H for |score| ≤ scoreBound.
	SmoothnessWithin func(scoreBound, labelBound float64) float64
	// Lipschitz bounds |φ'| for all scores; 0 means that nothing is known.
	Lipschitz float64
}

// Name is the label.
func (l Custom) Name() string { return l.Label }

// Labels is the domain.
func (l Custom) Labels() Labels { return l.Domain }

// Value is Phi.
func (l Custom) Value(z, y float64) float64 { return l.Phi(z, y) }

// Deriv is DPhi.
func (l Custom) Deriv(z, y float64) float64 { return l.DPhi(z, y) }

// Constants follow from the statement: |φ'(z)| ≤ SlopeAtZero + H|z|, and the
// value from integrating that bound, both with Lipschitz where it is smaller.
func (l Custom) Constants(z, y float64) Constants {
	c := Constants{AtZero: l.AtZero(y), Smoothness: l.Smoothness, Lipschitz: l.Lipschitz}
	if l.SmoothnessWithin != nil {
		c.Smoothness = l.SmoothnessWithin(z, y)
	}
	if l.Lipschitz == 0 {
		c.Lipschitz = math.Inf(1)
	}
	atZero := math.Sqrt(2 * c.Smoothness * c.AtZero)
	if l.SlopeAtZero != nil {
		atZero = l.SlopeAtZero(y)
	}
	rise := 0.0
	if z > 0 {
		rise = float64(c.Smoothness * z)
	}
	c.Slope = math.Min(atZero+rise, c.Lipschitz)
	c.Value = c.AtZero + float64(z*math.Min(atZero+float64(rise/2), c.Slope))
	return c
}

// Diameter is twice the largest slope.
func (l Custom) Diameter(z, y float64) float64 { return 2 * l.Constants(z, y).Slope }

// Validate checks that the statement is complete. The error names what is missing.
func (l Custom) Validate() error {
	switch {
	case l.Label == "":
		return check.Fail(check.ErrConfig, "Custom.Label", nil, "must not be empty")
	case !l.Domain.Valid():
		return check.Fail(check.ErrConfig, "Custom.Domain", l.Domain, "must be Binary, Real, Count or Amount")
	case l.Phi == nil || l.DPhi == nil:
		return check.Fail(check.ErrConfig, "Custom.Phi, Custom.DPhi", nil, "must not be nil")
	case l.AtZero == nil:
		return check.Fail(check.ErrConfig, "Custom.AtZero", nil, "must not be nil")
	case (l.Smoothness != 0) == (l.SmoothnessWithin != nil):
		return check.Fail(check.ErrConfig, "Custom.Smoothness, Custom.SmoothnessWithin", nil, "must not be both given or both missing")
	case l.SmoothnessWithin != nil && l.SlopeAtZero == nil:
		return check.Fail(check.ErrConfig, "Custom.SlopeAtZero", nil, "must not be nil where SmoothnessWithin gives the smoothness")
	}
	if l.Smoothness != 0 {
		if err := check.Scale(check.ErrConfig, "Custom.Smoothness", l.Smoothness); err != nil {
			return err
		}
	}
	if l.Lipschitz != 0 {
		return check.Scale(check.ErrConfig, "Custom.Lipschitz", l.Lipschitz)
	}
	return nil
}
