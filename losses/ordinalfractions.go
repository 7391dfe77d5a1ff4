package losses

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
)

// OrdinalFromFractions returns the loss for K levels of which publicly expected
// fractions of the rows have each, in proportion to these, in any unit: 70, 20, 10 as well as 7, 2, 1. Its thresholds are
// such that a score of 0 gives each level its fraction,
//
//	θ_k = log((s_0 + … + s_k)/(s_{k+1} + … + s_{K−1}))
//
// so that coefficients say what moves a row away from that. Fractions are a guess that must not
// come from the rows: an intercept corrects what it gets wrong of all levels together, and
// nothing what it gets wrong of the distances between them. Equal ones are right where
// nothing is known. It fails for fewer than two, for one that isn't positive and finite, and for
// one so small that two thresholds fall together.
func OrdinalFromFractions(fractions ...float64) (Ordinal, error) {
	all := floats.Sum(fractions)
	if len(fractions) < 2 || !(floats.Min(fractions) > 0) || math.IsInf(all, 1) {
		return Ordinal{}, check.Fail(check.ErrConfig, "fractions", fractions, "must be those of two levels or more, positive and finite")
	}
	l := Ordinal{Thresholds: make([]float64, len(fractions)-1)}
	for k := range l.Thresholds {
		l.Thresholds[k] = math.Log(floats.Sum(fractions[:k+1])) - math.Log(floats.Sum(fractions[k+1:]))
	}
	if l.Validate() != nil {
		return Ordinal{}, check.Fail(check.ErrConfig, "fractions", fractions, fmt.Sprintf("must not be so small that thresholds, %g, differ by less than %g", l.Thresholds, leastGap))
	}
	return l, nil
}
