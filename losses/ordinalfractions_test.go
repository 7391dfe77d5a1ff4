package losses

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// At a score of 0 each level has the share that was expected of it, whatever the unit; above
// it higher levels have more.
func TestOrdinalFromFractions(t *testing.T) {
	for _, unit := range []float64{1e-300, 1, 100, 1e300} {
		fractions := []float64{0.5, 0.3, 0.15, 0.05}
		given := make([]float64, len(fractions))
		for k, v := range fractions {
			given[k] = v * unit
		}
		l, err := OrdinalFromFractions(given...)
		if err != nil {
			t.Fatal(err)
		}
		at, above := l.Probabilities(0), l.Probabilities(1)
		for k, p := range at {
			if !(math.Abs(p-fractions[k]) < 1e-12) {
				t.Errorf("level %d has %g, expected %g", k, p, fractions[k])
			}
		}
		if above[0] >= at[0] || above[3] <= at[3] {
			t.Errorf("%g at 1, %g at 0", above, at)
		}
	}
	if l, err := OrdinalFromFractions(1, 1, 1, 1); err != nil || l.Thresholds[1] != 0 || l.Thresholds[0] != -l.Thresholds[2] {
		t.Errorf("%v (%v)", l, err)
	}
	for _, bad := range [][]float64{nil, {1}, {1, 0}, {1, -1, 3}, {1, math.NaN()}, {1, math.Inf(1)}, {1e308, 1e308}, {1, 1e-20, 1}} {
		if _, err := OrdinalFromFractions(bad...); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%g: %v", bad, err)
		}
	}
}
