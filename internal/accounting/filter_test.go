package accounting

import (
	"math/big"
	"testing"
)

// Two μ together, and one less another, are the roots of sums and differences of squares, on the safe side of the exact ones and within some roundings.
func TestSumsOfSquaresAreExactUpToRounding(t *testing.T) {
	exact := func(a, b, sign float64) float64 {
		x, y := new(big.Float).SetPrec(300).SetFloat64(a), new(big.Float).SetPrec(300).SetFloat64(b)
		x.Mul(x, x)
		y.Mul(y.Mul(y, y), big.NewFloat(sign))
		v, _ := x.Sqrt(x.Add(x, y)).Float64()
		return v
	}
	for _, a := range []float64{1e-9, 0.3, 1, 7, 1e6} {
		for _, part := range []float64{1e-9, 1e-3, 0.3, 0.7, 1 - 1e-9} {
			b := a * part
			if got, want := SumOfSquares(a, b), exact(a, b, 1); got < want || got > want*(1+1e-14) {
				t.Errorf("%g and %g: %.17g, want %.17g", a, b, got, want)
			}
			if got, want := LessOfSquares(a, b), exact(a, b, -1); got > want || got < want*(1-1e-14) {
				t.Errorf("%g less %g: %.17g, want %.17g", a, b, got, want)
			}
		}
		if SumOfSquares(a, 0) != a || SumOfSquares(0, a) != a || LessOfSquares(a, 0) > a || LessOfSquares(a, a) != 0 || LessOfSquares(a, 2*a) != 0 {
			t.Errorf("%g, and nothing: %g, %g, %g", a, SumOfSquares(a, 0), SumOfSquares(0, a), LessOfSquares(a, 0))
		}
	}
}
