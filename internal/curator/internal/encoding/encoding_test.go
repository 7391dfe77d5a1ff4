package encoding

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func TestEncodeRefuses(t *testing.T) {
	enc := NewIdentity(2, 1, true)
	for _, c := range []struct {
		x    []float64
		want error
	}{
		{nil, check.ErrShape},
		{[]float64{1}, check.ErrShape},
		{[]float64{1, 2, 1}, check.ErrShape},
		{[]float64{1, math.NaN()}, check.ErrValue},
		{[]float64{math.Inf(-1), 0}, check.ErrValue},
		{[]float64{1e101, 0}, check.ErrValue},
	} {
		if _, err := enc.Encode(c.x); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.x, err)
		}
	}
}

// Squares that overflow, vanish or lose digits don't show in a norm.
func TestNormOfAnyScale(t *testing.T) {
	Unit := []float64{0.5, -0.25, 0.75, 1, 0.125, -0.375, 0.625}
	want := math.Sqrt(2.421875)
	for _, enc := range []Encoding{
		NewIdentity(7, 1, false),
		NewAffine(1, false, []float64{1, 1, 1, 1, 1, 1, 1}, make([]float64, 7), make([]float64, 7), make([]float64, 7)),
	} {
		for exponent := -1015; exponent <= 1000; exponent += 5 {
			x := make([]float64, len(Unit))
			for j, v := range Unit {
				x[j] = math.Ldexp(v, exponent)
			}
			if got := math.Ldexp(enc.Norm(x), -exponent); math.Abs(got/want-1) > 23*0x1p-53 {
				t.Fatalf("norm of a row scaled by 2^%d is off by %g", exponent, got/want-1)
			}
		}
		if got := enc.Norm(make([]float64, 7)); got != 0 {
			t.Errorf("norm of the zero row = %g", got)
		}
	}
}
