package losses

import (
	"fmt"
	"math"

	"github.com/dpglm/dpglm/internal/check"
)

// Validate refuses a loss that can't be used for scores |z| ≤ z and labels within
// the bound y: nil, one whose own parameters are out of range, one that needs a label
// bound and has none, one whose link doesn't suit its labels, and bounds at which its constants are
// not numbers that one can compute with. The Poisson loss's, for instance, grow like e^z and overflow. Of a loss
// that isn't this package's own it also refuses what [CheckConstants] finds, where z is
// above 0.
func Validate(l Loss, z, y float64) error {
	if err := usable(l, z, y); err != nil {
		return err
	}
	if z == 0 || proved(l) {
		return nil
	}
	return stated(l, z, y)
}

// usable is Validate without a look at the loss's values.
func usable(l Loss, z, y float64) error {
	if err := check.Valid("loss", l); err != nil {
		return err
	}
	if l.Labels() != Binary {
		if err := check.Bound("label bound", y); err != nil {
			return err
		}
	}
	if k := LinkOf(l); !k.Suits(l.Labels()) {
		return check.Fail(check.ErrConfig, "link of "+l.Name(), fmt.Sprintf("%q", k), fmt.Sprintf("must be known, and one for %s labels", l.Labels()))
	}
	return computable(l, z, y)
}

// proved reports whether a loss is this package's own, whose constants are proved and tested.
func proved(l Loss) bool {
	switch l := l.(type) {
	case Squared, Huber, Absolute, Quantile, Logistic, Probit, Hinge, SmoothedHinge, SquaredHinge,
		Poisson, CappedPoisson, NegativeBinomial, Ordinal, Gamma, envelope:
		return true
	case Extended:
		return proved(l.Inner)
	case check.Misstated:
		return true
	}
	return false
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
