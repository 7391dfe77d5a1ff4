package accounting

import (
	"fmt"

	"github.com/dpglm/dpglm/internal/check"
)

// Limits of the numbers, so that none of the sums here overflows or vanishes.
const (
	minObjective = 1e-12
	maxObjective = 1e6
)

// Validate asks for numbers that the profile is proved and computed for.
func (o Objective) Validate() error {
	for _, c := range []struct {
		param      string
		value, min float64
	}{{"ratio", o.Ratio, minObjective}, {"log det", o.LogDet, 0}, {"output mu", o.OutputMu, minObjective}} {
		if !(c.value >= c.min && c.value <= maxObjective) {
			return check.Fail(check.ErrBudget, c.param, c.value, fmt.Sprintf("must lie between %g and %g", c.min, maxObjective))
		}
	}
	return check.Releases(o.Releases, o.Dim)
}
