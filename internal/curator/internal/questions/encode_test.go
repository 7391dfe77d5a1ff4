package questions

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// A query is encoded as a row of the table: its scores agree to rounding, its
// first feature to the bit, and its norm keeps the stated bound.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d = 200, 5
	x := randomMatrix(r, n, d, 3)
	for name, enc := range map[string]encoding.Encoding{
		"bounds": encoding.NewIdentity(d, 2, false), "intercept": encoding.NewIdentity(d, 1e-3, true),
		"affine": affine(t, d, false), "affine, intercept": affine(t, d, true),
	} {
		table, err := rows.NewTable(x, enc)
		if err != nil {
			t.Fatal(err)
		}
		first, err := rows.First(t.Context(), table)
		if err != nil {
			t.Fatal(err)
		}
		w, z := randomVector(rand.New(rand.NewPCG(3, 4)), enc.Dim(), 1), make([]float64, n)
		rows.Scores(table, z, w)
		for i := range n {
			u, err := enc.Encode(x.RawRowView(i))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(floats.Dot(u, w)-z[i]) > 1e-13 {
				t.Fatalf("%s: row %d has score %g, as a query %g", name, i, z[i], floats.Dot(u, w))
			}
			if u[0] != first[i] {
				t.Fatalf("%s: row %d starts with %g, as a query with %g", name, i, first[i], u[0])
			}
			if norm(u) > enc.FeatureBound()*(1+(d+16)*0x1p-52) {
				t.Fatalf("%s: norm %g", name, norm(u))
			}
		}
	}
}

// The mean gradient's Lipschitz constant holds between points of the ball, for a
// row at the bound.
func TestGradientSmoothness(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(1, 1, []float64{5})
	for _, c := range testCases() {
		if math.IsInf(c.loss.Constants(1, 1).Smoothness, 1) {
			continue
		}
		sums := sumsOf(t, x, []float64{1}, c.label, encoding.NewIdentity(1, 2, false), c.loss)
		limit := sums.Bounds().GradientSmoothness(1)
		g, h := make([]float64, 1), make([]float64, 1)
		for range 100 {
			a, b := []float64{2*r.Float64() - 1}, []float64{2*r.Float64() - 1}
			if err := sums.Gradient(ctx, g, a, math.Inf(1)); err != nil {
				t.Fatal(err)
			}
			if err := sums.Gradient(ctx, h, b, math.Inf(1)); err != nil {
				t.Fatal(err)
			}
			if got := math.Abs(g[0]-h[0]) / math.Abs(a[0]-b[0]); got > limit*(1+1e-6) {
				t.Fatalf("%s: gradients move %g times as far, the constant is %g", c.name, got, limit)
			}
		}
	}
}
