package losses

import (
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Validate refuses a loss that can't be used for scores |z| ≤ z and labels within
// the bound y: nil, one whose own parameters are out of range, one that needs a label
// bound and has none, and bounds at which its constants are not numbers that one
// can compute with. The Poisson loss's, for instance, grow like e^z and overflow.
func Validate(l Loss, z, y float64) error {
	if err := check.Valid("loss", l); err != nil {
		return err
	}
	if l.Labels() != Binary {
		if err := check.Bound("label bound", y); err != nil {
			return err
		}
	}
	return computable(l, z, y)
}

// computable refuses bounds at which a constant overflows.
func computable(l Loss, z, y float64) error {
	c := l.Constants(z, y)
	for _, k := range []struct {
		name  string
		value float64
		limit float64
	}{
		{"AtZero", c.AtZero, math.MaxFloat64},
		{"Value", c.Value, math.MaxFloat64},
		{"Slope", c.Slope, maxSlope},
		{"Smoothness", c.Smoothness, math.Inf(1)},
		{"Lipschitz", c.Lipschitz, math.Inf(1)},
		{"Diameter", l.Diameter(z, y), 2 * maxSlope},
	} {
		if !(k.value >= 0 && k.value <= k.limit) {
			return check.Fail(check.ErrBound, l.Name()+": "+k.name, k.value,
				"must be a number that doesn't overflow; lower the radius or the label bound")
		}
	}
	return nil
}

// maxSlope leaves room for products with the feature bound and the number of
// rows, and for the square of the slope.
const maxSlope = 1e150
