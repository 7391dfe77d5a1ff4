package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Norm is the Euclidean norm, of numbers whose squares overflow or vanish too.
func TestNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		for _, exponent := range []int{0, 900, -900, -1070} {
			w := make([]float64, n)
			for j := range w {
				w[j] = math.Ldexp(r.NormFloat64(), exponent)
			}
			if got, want := Norm(w), floats.Norm(w, 2); math.Abs(got-want) > 1e-14*want+5e-324 {
				t.Errorf("norm of %v is %g, want %g", w, got, want)
			}
		}
	}
	for _, c := range []struct{ v, want float64 }{{math.Inf(-1), math.Inf(1)}, {math.NaN(), math.NaN()}} {
		if got := Norm([]float64{1, c.v, 2}); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("norm with a %g is %g", c.v, got)
		}
	}
}

// AddScaled rounds each product and each sum, as gonum does on some processors.
func TestAddScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 40 {
		w, v, want := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range w {
			w[j], v[j] = r.NormFloat64(), r.NormFloat64()
			want[j] = w[j] + float64(0.3*v[j])
		}
		if AddScaled(w, 0.3, v); !floats.Equal(w, want) {
			t.Errorf("%d numbers: %v, want %v", n, w, want)
		}
	}
}

// Project keeps what is within the radius, bit for bit, and brings to it what is beyond,
// be it by little; only the last digits may exceed it.
func TestProject(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 40; n++ {
		for _, factor := range []float64{0.5, 1 - 1e-9, 1 + 1e-9, 1 + 1e-5, 3, 1e200} {
			w := make([]float64, n)
			for j := range w {
				w[j] = r.NormFloat64()
			}
			floats.Scale(factor*0.7/floats.Norm(w, 2), w)
			p := append([]float64(nil), w...)
			Project(p, 0.7)
			switch norm := floats.Norm(p, 2); {
			case factor < 1 && !floats.Equal(p, w):
				t.Errorf("%g times the radius: moved", factor)
			case norm > 0.7*(1+float64(n+16)*0x1p-52):
				t.Errorf("%g times the radius: norm %.17g of 0.7 at most", factor, norm)
			case factor > 1 && floats.Distance(p, w, 2) > floats.Norm(w, 2)-0.7+1e-12*floats.Norm(w, 2):
				t.Errorf("%g times the radius: not the nearest point of the ball", factor)
			}
		}
	}
}
