package sketch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

var kinds = map[string]func(k, d int, seed uint64) Map{
	"gaussian": NewGaussian, "rademacher": NewRademacher, "sparse": NewSparse, "hadamard": NewHadamard,
}

func randomVector(r *rand.Rand, d, nonzeros int) (x []float64, indices []int, values []float64) {
	x = make([]float64, d)
	for _, j := range r.Perm(d)[:nonzeros] {
		x[j] = r.NormFloat64()
	}
	for j, v := range x {
		if v != 0 {
			indices, values = append(indices, j), append(values, v)
		}
	}
	return x, indices, values
}

// Apply, ApplySparse and Transpose are one linear map and its adjoint.
func TestMapsAreLinearWithTheirAdjoint(t *testing.T) {
	for name, make_ := range kinds {
		for _, shape := range [][2]int{{1, 1}, {3, 7}, {20, 33}, {64, 64}, {50, 10}} {
			k, d := shape[0], shape[1]
			m := make_(k, d, 5)
			r := rand.New(rand.NewPCG(1, uint64(d)))
			x, indices, values := randomVector(r, d, (d+1)/2)
			y, _, _ := randomVector(r, d, d)
			w, _, _ := randomVector(r, k, k)
			a, b, c, back := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, d)
			for i := range a { // what was in the destination before, another row's image, is gone
				a[i], b[i], c[i] = 1e9, 1e9, 1e9
			}
			m.Apply(a, x)
			m.ApplySparse(b, indices, values)
			if floats.Distance(a, b, 2) > 1e-12 {
				t.Errorf("%s %v: sparse and dense images differ", name, shape)
			}
			for j := range back {
				back[j] = 1e9
			}
			m.Transpose(back, w)
			if l, r := floats.Dot(a, w), floats.Dot(x, back); math.Abs(l-r) > 1e-11*(1+math.Abs(l)) {
				t.Errorf("%s %v: ⟨Φx, w⟩ = %g, ⟨x, Φᵀw⟩ = %g", name, shape, l, r)
			}
			m.Apply(b, y)
			sum := make([]float64, d)
			floats.AddScaledTo(sum, x, 2, y)
			m.Apply(c, sum)
			floats.AddScaled(a, 2, b)
			if floats.Distance(a, c, 2) > 1e-11 {
				t.Errorf("%s %v: not linear", name, shape)
			}
		}
	}
}

// [AB+22, Definition 1] asks that norms and inner products survive: over random
// maps E‖Φx‖² = ‖x‖², and ⟨Φx, Φy⟩ has variance at most
// (‖x‖²‖y‖² + ⟨x, y⟩²)/k, give or take a fifth. Means are checked within 5 standard errors of 4000 maps
// (false-positive rate 6e-7 each).
func TestMapsPreserveNormsAndInnerProducts(t *testing.T) {
	const k, d, maps = 24, 60, 4000
	r := rand.New(rand.NewPCG(2, 3))
	x, _, _ := randomVector(r, d, d)
	y, _, _ := randomVector(r, d, 10)
	floats.Scale(1/floats.Norm(x, 2), x)
	floats.Scale(1/floats.Norm(y, 2), y)
	inner := floats.Dot(x, y)
	for name, make_ := range kinds {
		var norm, product, spread float64
		for seed := range maps {
			m := make_(k, d, uint64(seed))
			a, b := make([]float64, k), make([]float64, k)
			m.Apply(a, x)
			m.Apply(b, y)
			norm += floats.Dot(a, a) / maps
			p := floats.Dot(a, b)
			product += p / maps
			spread += (p - inner) * (p - inner) / maps
		}
		limit := 5 * math.Sqrt(2.0/k/maps)
		if math.Abs(norm-1) > limit || math.Abs(product-inner) > limit {
			t.Errorf("%s: mean norm² %.4f, mean product %.4f of %.4f, limit %.4f", name, norm, product, inner, limit)
		}
		if want := (1 + inner*inner) / k; spread > 1.2*want {
			t.Errorf("%s: variance of products %.4f, want at most %.4f", name, spread, want)
		}
	}
}

// A seed makes a map, for ever: models in use depend on it.
func TestMapsAreFrozen(t *testing.T) {
	for name, make_ := range kinds {
		m := make_(2, 3, 9)
		a := make([]float64, 2)
		m.Apply(a, []float64{1, 2, 4})
		got := fmt.Sprintf("%.6f", a)
		want := map[string]string{
			"gaussian": "[-1.055969 4.308069]", "rademacher": "[-2.121320 0.707107]",
			"sparse": "[3.535534 4.949747]", "hadamard": "[-0.707107 -3.535534]",
		}[name]
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
