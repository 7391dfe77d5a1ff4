package solve

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/vector"
)

// bowl is ½Σ hⱼ(wⱼ−cⱼ)² with constants that are true for it.
func bowl(h, c []float64, radius float64) *Problem {
	p := &Problem{Dim: len(h), Radius: radius, Convexity: floats.Min(h), Smoothness: floats.Max(h), Error: 1e-14}
	p.Gradient = func(g, w []float64) error {
		for j := range g {
			g[j] = h[j] * (w[j] - c[j])
		}
		return nil
	}
	p.Value = func(w []float64) (v float64, _ error) {
		for j := range w {
			v += h[j] / 2 * (w[j] - c[j]) * (w[j] - c[j])
		}
		return v, nil
	}
	return p
}

// secondOrder are the ways in which a problem can be solved.
var secondOrder = map[string]func(p *Problem){
	"first order": func(*Problem) {},
	"Hessian": func(p *Problem) {
		p.Hessian = func([]float64) (*mat.SymDense, error) {
			h := mat.NewSymDense(p.Dim, nil)
			for j := range p.Dim {
				h.SetSym(j, j, 1)
			}
			return h, nil
		}
	},
	"Newton": func(p *Problem) {
		p.Newton = func([]float64) (func([]float64) ([]float64, error), error) {
			return func(g []float64) ([]float64, error) { return append([]float64(nil), g...), nil }, nil
		}
	},
}

// With true constants the steps that the rate promises suffice, whatever the
// condition, the ball and the start, by half.
func TestStepsSuffice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, condition := range []float64{1, 3, 1e2, 1e4, 1e6} {
		for _, radius := range []float64{0.1, 1, 30, math.Inf(1)} {
			const d = 20
			h, c := make([]float64, d), make([]float64, d)
			for j := range h {
				h[j], c[j] = math.Pow(condition, -float64(j)/(d-1)), 3*r.NormFloat64()
			}
			p := bowl(h, c, radius)
			calls, g := 0, make([]float64, d)
			plain := p.Gradient
			p.Gradient = func(g, w []float64) error { calls++; return plain(g, w) }
			tolerance := math.Max(1e-9, p.Floor())
			w, err := p.Minimize(context.Background(), tolerance)
			if err != nil {
				t.Errorf("condition %g, radius %g: %v", condition, radius, err)
				continue
			}
			if err := plain(g, make([]float64, d)); err != nil {
				t.Fatal(err)
			}
			s := solver{Problem: p, tolerance: tolerance}
			taken, most := float64(calls)*8/10, s.steps(vector.Norm(g)) // 2 more for each 8
			t.Logf("condition %g, radius %g: %.0f of %.0f steps", condition, radius, taken, most)
			if taken > most/2+100 {
				t.Errorf("condition %g, radius %g: %.0f steps, half of %.0f should be enough", condition, radius, taken, most)
			}
			if math.IsInf(radius, 1) && floats.Distance(w, c, 2) > tolerance {
				t.Errorf("condition %g: off by %g", condition, floats.Distance(w, c, 2))
			}
		}
	}
}

// A function that contradicts its constants ends with an error, and not with an
// answer: steeper than stated, with a jump, or another one at each call. A second-order
// method may get by without the constants, and its answer is certified.
func TestFalseConstantsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(p *Problem)
		all   bool // the methods fail
		says  string
	}{
		"steeper": {func(p *Problem) { p.Smoothness = 0.012 }, false, "can't be true"},
		"endless": {func(p *Problem) { p.Smoothness = math.Inf(1) }, false, "must be finite"},
		"NaN":     {func(p *Problem) { p.Smoothness = math.NaN() }, true, "can't be true"},
		"flatter": {func(p *Problem) { p.Smoothness = p.Convexity / 2 }, true, "can't be true"},
		"jump":    {func(p *Problem) { spoilGradient(p, func(g, w []float64) { g[2] = math.Copysign(1, w[2]-0.3) }) }, true, "can't be true"},
		"fickle": {func(p *Problem) {
			r := rand.New(rand.NewPCG(3, 4))
			spoilGradient(p, func(g, _ []float64) { g[0] += r.NormFloat64() })
		}, true, "can't be true"},
	} {
		for method, add := range secondOrder {
			for _, radius := range []float64{1, 100} {
				p := bowl([]float64{1, 0.1, 0.01}, []float64{1, -2, 3}, radius)
				add(p)
				c.spoil(p)
				w, err := p.Minimize(context.Background(), 1e-9)
				if err == nil {
					if c.all || method == "first order" {
						t.Errorf("%s, %s, radius %g: no error, %v", name, method, radius, w)
					}
				} else if !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), c.says) || w != nil {
					t.Errorf("%s, %s, radius %g: %v, %v", name, method, radius, w, err)
				}
			}
		}
	}
}

func spoilGradient(p *Problem, spoil func(g, w []float64)) {
	plain := p.Gradient
	p.Gradient = func(g, w []float64) error {
		err := plain(g, w)
		spoil(g, w)
		return err
	}
}

// A gradient that isn't finite, at once or after a few passes, ends with an error.
func TestGradientsMustBeFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for method, add := range secondOrder {
			for _, after := range []int{0, 1, 2, 7} {
				p, calls := bowl([]float64{1, 0.1, 0.01}, []float64{1, -2, 3}, 2), 0
				add(p)
				spoilGradient(p, func(g, _ []float64) {
					if calls++; calls > after {
						g[1] = bad
					}
				})
				w, err := p.Minimize(context.Background(), 1e-9)
				if !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), "must be finite") || w != nil {
					t.Errorf("%g after %d gradients, %s: %v, %v", bad, after, method, w, err)
				}
			}
		}
	}
}

// Steps are twice what the rate of convergence asks for and 100 more, of any numbers; and 100 where the start is close enough.
func TestStepsByTheirRate(t *testing.T) {
	for _, c := range []struct{ convexity, smoothness, gradient, tolerance, ratio float64 }{
		{1, 1, 1, 1e-3, 1}, {1, 4, 3, 1e-6, 2}, {0.01, 25, 7, 1e-9, 50}, {2, 8, 1e-12, 1, 2},
	} {
		const room = 0.25 // of the gradient
		s := &solver{Problem: &Problem{Convexity: c.convexity, Smoothness: c.smoothness, Error: room * c.gradient}, tolerance: c.tolerance}
		want := 100.0
		if fall := 8 * math.Sqrt2 * c.smoothness * c.gradient * (1 + room) / (c.convexity * c.convexity * c.tolerance); fall > 1 {
			want += 4 * c.ratio * math.Log(fall)
		}
		if got := s.steps(c.gradient); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%+v: %.12g steps, want %.12g", c, got, want)
		}
	}
}
