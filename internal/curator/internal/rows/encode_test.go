package rows

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
)

// A query is encoded as a row of the table: its scores agree to rounding, its
// first feature to the bit, and its norm keeps the stated bound.
func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d = 200, 5
	x := randomMatrix(r, n, d, 3)
	for name, enc := range map[string]Encoding{
		"bounds": NewIdentity(d, 2, false), "intercept": NewIdentity(d, 1e-3, true),
		"affine": affine(t, d, false), "affine, intercept": affine(t, d, true),
	} {
		table, err := NewTable(x, enc)
		if err != nil {
			t.Fatal(err)
		}
		first, err := table.First(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w, z := randomVector(rand.New(rand.NewPCG(3, 4)), enc.Dim(), 1), make([]float64, n)
		table.Scores(z, w)
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

// The mean gradient's Lipschitz constant holds between points of the ball, for a
// row at the bound.
func TestGradientSmoothness(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(1, 1, []float64{5})
	for _, c := range testCases() {
		if math.IsInf(c.loss.Constants(1, 1).Smoothness, 1) {
			continue
		}
		sums := sumsOf(t, x, []float64{1}, c.label, NewIdentity(1, 2, false), c.loss)
		limit := sums.GradientSmoothness(1)
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

// Squares that overflow, vanish or lose digits don't show in a norm.
func TestNormOfAnyScale(t *testing.T) {
	unit := []float64{0.5, -0.25, 0.75, 1, 0.125, -0.375, 0.625}
	want := math.Sqrt(2.421875)
	for _, enc := range []Encoding{
		NewIdentity(7, 1, false),
		NewAffine(1, false, []float64{1, 1, 1, 1, 1, 1, 1}, make([]float64, 7), make([]float64, 7), make([]float64, 7)),
	} {
		for exponent := -1015; exponent <= 1000; exponent += 5 {
			x := make([]float64, len(unit))
			for j, v := range unit {
				x[j] = math.Ldexp(v, exponent)
			}
			if got := math.Ldexp(enc.norm(x), -exponent); math.Abs(got/want-1) > 23*0x1p-53 {
				t.Fatalf("norm of a row scaled by 2^%d is off by %g", exponent, got/want-1)
			}
		}
		if got := enc.norm(make([]float64, 7)); got != 0 {
			t.Errorf("norm of the zero row = %g", got)
		}
	}
}
