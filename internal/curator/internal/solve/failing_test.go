package solve

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A pass that fails, even one alone of all of them, is what Minimize returns: whichever it is, and whatever it was
// asked for. What was left of a sum that failed is no sum.
func TestMinimizeFailsWhereAPassDoes(t *testing.T) {
	failed := errors.New("a pass failed")
	for name, c := range map[string]struct {
		radius float64
		newton bool
		free   bool // whether the minimiser is known to lie within
	}{"first order": {0.5, false, false}, "within a ball": {0.5, true, false}, "whole space": {1e3, true, false}, "known to lie within": {1e3, true, true}} {
		left, asked := 0, 0
		fails := func() bool { asked++; left--; return left == 0 }
		run := func(at int) error {
			p := *logSum(rand.New(rand.NewPCG(11, 12)), 3, 0.1, c.radius, c.newton)
			left, asked = at, 0
			gradient, value, hessian := p.Gradient, p.Value, p.Hessian
			p.Gradient = func(g, w []float64) error {
				if fails() {
					return failed
				}
				return gradient(g, w)
			}
			p.Value = func(w []float64) (float64, error) {
				if fails() {
					return 0, failed
				}
				return value(w)
			}
			if hessian != nil {
				p.Hessian = func(w []float64) (*mat.SymDense, error) {
					if fails() {
						return nil, failed
					}
					return hessian(w)
				}
			}
			if c.free {
				p.Newton = func(w []float64) (func(g []float64) ([]float64, error), error) {
					h, err := p.Hessian(w)
					if err != nil {
						return nil, err
					}
					return Conjugate(func(dst, v []float64) error {
						if fails() {
							return failed
						}
						mat.NewVecDense(len(dst), dst).MulVec(h, mat.NewVecDense(len(v), v))
						return nil
					}), nil
				}
			}
			_, err := p.Minimize(t.Context(), 1e-8)
			return err
		}
		if err := run(-1); err != nil {
			t.Fatal(name, err)
		}
		total := min(asked, 100)
		for at := 1; at <= total; at++ {
			if err := run(at); !errors.Is(err, failed) {
				t.Errorf("%s, pass %d of %d: %v", name, at, total, err)
			}
		}
		if total < 3 {
			t.Errorf("%s: only %d passes", name, total)
		}
	}
}
