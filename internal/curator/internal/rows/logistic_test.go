package rows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/losses"
)

// Narrow rows in place, of which many tiles are added at once, have the gradient of the same
// rows tile by tile, to the last bit: with one block and several, with an end of any length,
// with rows beyond the bound or none, and with rows of a wider matrix.
func TestLogisticAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, n := range []int{5, 96, 104, 2000, 9001, 20_000} {
		for _, d := range []int{1, 3, 10, 12, 16} {
			wide := randomMatrix(r, n, d+1, 1)
			x := wide.Slice(0, n, 0, d).(*mat.Dense)
			y := make([]float64, n)
			for i := range y {
				y[i] = float64(r.IntN(2))
			}
			bounds := []Encoding{NewIdentity(d, 100, false), NewIdentity(d, math.Sqrt(float64(d)), true), affine(t, d, true)}
			for k, enc := range bounds {
				for _, clip := range []float64{0.4, math.Inf(1)} {
					at, one := sumsOf(t, x, y, 0, enc, losses.Logistic{}), sumsOf(t, opaque{x}, y, 0, enc, losses.Logistic{})
					w := randomVector(r, enc.Dim(), 1.5)
					got, want := make([]float64, enc.Dim()), make([]float64, enc.Dim())
					if err := at.Gradient(ctx, got, w, clip); err != nil {
						t.Fatal(err)
					}
					if err := one.Gradient(ctx, want, w, clip); err != nil {
						t.Fatal(err)
					}
					if what := fmt.Sprintf("%d × %d, encoding %d, clip %g", n, d, k, clip); fmt.Sprint(got) != fmt.Sprint(want) {
						t.Fatalf("%s: %v at once, %v tile by tile", what, got, want)
					}
				}
			}
		}
	}
}
