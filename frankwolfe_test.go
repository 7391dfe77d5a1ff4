package dpglm

import (
	"errors"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// Sums of more rows would be too large for whole numbers.
func TestFrankWolfeOfTooManyRows(t *testing.T) {
	for n, taken := range map[int]bool{1 << 29: true, 1<<29 + 1: false} {
		_, err := FrankWolfeConfig{Steps: 3}.Plan(Shape{Rows: n, Dim: 4, FeatureBound: 1}, Problem{Loss: losses.Logistic{}}, GDP(1))
		if (err == nil) != taken || err != nil && !errors.Is(err, ErrShape) {
			t.Errorf("%d rows: %v", n, err)
		}
	}
}
