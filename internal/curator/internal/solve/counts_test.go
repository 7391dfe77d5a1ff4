package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// far is Σ √(1 + (wⱼ − cⱼ)²) + (λ/2)‖w‖², of which Newton's steps from 0 lead far beyond the minimiser.
func far(lambda, radius float64) *Problem {
	c := []float64{5, -3, 0.5}
	p := &Problem{Dim: len(c), Radius: radius, Convexity: lambda, Smoothness: 1 + lambda, Error: 1e-14}
	p.Gradient = func(g, w []float64) error {
		for j, v := range w {
			g[j] = (v-c[j])/math.Hypot(1, v-c[j]) + lambda*v
		}
		return nil
	}
	p.Value = func(w []float64) (sum float64, err error) {
		for j, v := range w {
			sum += math.Hypot(1, v-c[j]) + lambda/2*v*v
		}
		return sum, nil
	}
	p.Hessian = func(w []float64) (*mat.SymDense, error) {
		h := mat.NewSymDense(len(c), nil)
		for j, v := range w {
			h.SetSym(j, j, math.Pow(math.Hypot(1, v-c[j]), -3)+lambda)
		}
		return h, nil
	}
	return p
}

// Each method takes as many passes over the rows as it took when it was measured: what makes a step worse, or forgets one, is found by
// the certificate in the end, at more passes.
func TestPassesStay(t *testing.T) {
	plain := func(radius float64, newton bool) *Problem {
		return logSum(rand.New(rand.NewPCG(11, 12)), 5, 0.01, radius, newton)
	}
	for _, c := range []struct {
		name                                  string
		of                                    *Problem
		free                                  bool
		gradients, values, hessians, products int
	}{
		{"first order", plain(0.5, false), false, 282, 0, 0, 0}, {"first order, on the sphere", plain(0.05, false), false, 152, 0, 0, 0},
		{"within a ball", plain(0.5, true), false, 8, 6, 3, 0}, {"on the sphere", plain(0.05, true), false, 8, 6, 3, 0}, {"whole space", plain(1e3, true), false, 8, 6, 3, 0},
		{"known to lie within", plain(1e3, true), true, 11, 0, 1, 18}, {"far, within a ball", far(1e-3, 50), false, 12, 13, 5, 0}, {"far, on the sphere", far(1e-3, 2), false, 10, 8, 4, 0},
		{"far, known to lie within", far(1e-3, 100), true, 24, 0, 3, 19}, {"far, within", far(0.05, 8), true, 13, 0, 3, 14},
	} {
		p := *c.of
		var gradients, values, hessians, products int
		gradient, value, hessian := p.Gradient, p.Value, p.Hessian
		p.Gradient = func(g, w []float64) error { gradients++; return gradient(g, w) }
		p.Value = func(w []float64) (float64, error) { values++; return value(w) }
		if hessian != nil {
			p.Hessian = func(w []float64) (*mat.SymDense, error) { hessians++; return hessian(w) }
		}
		if c.free {
			p.Newton = func(w []float64) (func(g []float64) ([]float64, error), error) {
				h, err := p.Hessian(w)
				return Conjugate(func(dst, v []float64) error {
					products++
					mat.NewVecDense(len(dst), dst).MulVec(h, mat.NewVecDense(len(v), v))
					return nil
				}), err
			}
		}
		if _, err := p.Minimize(t.Context(), 1e-9); err != nil {
			t.Fatal(c.name, err)
		}
		if got, want := [4]int{gradients, values, hessians, products}, [4]int{c.gradients, c.values, c.hessians, c.products}; got != want {
			t.Errorf("%s: %v gradients, values, Hessians and products, want %v", c.name, got, want)
		}
	}
}
