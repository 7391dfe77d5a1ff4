package solve

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
)

// wrongBowl is λ/2·‖w − target‖², whose gradient is answered with the given error added. The
// minimiser over the ball is the target, or where it is outside its projection.
func wrongBowl(target, wrong []float64, radius, lambda, smoothness float64) *Problem {
	return &Problem{
		Dim: len(target), Radius: radius, Convexity: lambda, Smoothness: smoothness, Error: vector.Norm(wrong),
		Gradient: func(g, w []float64) error {
			floats.SubTo(g, w, target)
			floats.Scale(lambda, g)
			floats.Add(g, wrong)
			return nil
		},
		Value: func(w []float64) (float64, error) {
			d := make([]float64, len(w))
			floats.SubTo(d, w, target)
			return lambda/2*floats.Dot(d, d) + floats.Dot(wrong, w), nil
		},
	}
}

// The certificate is the norm of a subgradient, and the errors of the two gradients
// that it is made of, over λ: each of the three terms is there, at points inside the
// ball and on it. So is the floor, the errors of two certificates.
func TestTermsOfTheCertificate(t *testing.T) {
	for _, c := range []struct {
		name               string
		radius, error      float64
		lambda, smoothness float64
		w                  []float64
	}{
		{"the first gradient counts", 10, 0, 2, 5, []float64{1, -2}},
		{"the ball cuts the step", 1, 0, 2, 3, []float64{0.6, 0.3}},
		{"errors count most", 10, 3, 0.5, 40, []float64{2.9, 1}},
		{"all count, the ball cuts", 2, 0.7, 3, 8, []float64{1.9, 0.1}},
	} {
		target := []float64{3, 1}
		p := wrongBowl(target, []float64{0, 0}, c.radius, c.lambda, c.smoothness)
		p.Error = c.error
		s := &solver{Problem: p, w: c.w, g: make([]float64, 2), plus: make([]float64, 2), gPlus: make([]float64, 2)}
		got, err := s.distance()
		if err != nil {
			t.Fatal(err)
		}
		gradient := func(w []float64) (g [2]float64) {
			for j := range g {
				g[j] = c.lambda * (w[j] - target[j])
			}
			return g
		}
		at, plus := gradient(c.w), make([]float64, 2)
		for j := range plus {
			plus[j] = c.w[j] - at[j]/c.smoothness
		}
		if r := math.Hypot(plus[0], plus[1]); r > c.radius {
			plus[0], plus[1] = plus[0]*c.radius/r, plus[1]*c.radius/r
		}
		after := gradient(plus)
		var subgradient [2]float64
		for j := range subgradient {
			subgradient[j] = after[j] - at[j] + c.smoothness*(c.w[j]-plus[j])
		}
		size := math.Hypot(subgradient[0], subgradient[1])
		if want := size/c.lambda + c.error/c.lambda + c.error/c.lambda; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: the certificate is %g, want %g: a subgradient of %g and two errors of %g, over λ = %g", c.name, got, want, size, c.error, c.lambda)
		}
		if d := math.Hypot(s.plus[0]-plus[0], s.plus[1]-plus[1]); d > 1e-12 {
			t.Errorf("%s: the certificate is for %v, want %v", c.name, s.plus, plus)
		}
		if floor := p.Floor(); math.Abs(floor-4*c.error/c.lambda) > 1e-12*floor {
			t.Errorf("%s: the floor is %g, want four errors over λ, %g", c.name, floor, 4*c.error/c.lambda)
		}
	}
}

// A gradient that is wrong by as much as Error allows, towards zero at the start, where
// a solver that leaves the error out of its certificate would stop: nearer to the
// computed minimiser than the tolerance, farther from the true one.
func TestSolversCountTheErrorOfGradients(t *testing.T) {
	const lambda, far, wrong = 2.0, 1.0, 0.3
	target, bias := []float64{far, 0, 0}, []float64{wrong, 0, 0} // the computed minimiser is nearer to zero
	identity := mat.NewDiagDense(3, []float64{lambda, lambda, lambda})
	slow := func([]float64) (func([]float64) ([]float64, error), error) { // an estimate of the Hessian, too large
		return func(g []float64) ([]float64, error) {
			d := make([]float64, len(g))
			floats.AddScaled(d, 1/(50*lambda), g)
			return d, nil
		}, nil
	}
	for _, c := range []struct {
		name   string
		change func(p *Problem)
	}{
		{"first order", func(*Problem) {}},
		{"Newton", func(p *Problem) {
			p.Hessian = func([]float64) (*mat.SymDense, error) {
				h := mat.NewSymDense(3, nil)
				h.CopySym(identity)
				return h, nil
			}
		}},
		{"free Newton", func(p *Problem) { p.Newton = slow }},
	} {
		for _, smoothness := range []float64{lambda, 50 * lambda} {
			for _, tolerance := range []float64{2 * wrong / lambda, 4 * wrong / lambda, far - 0.25*wrong/lambda, far} {
				p := wrongBowl(target, bias, 5, lambda, smoothness)
				c.change(p)
				what := fmt.Sprintf("%s, L = %g, tolerance %g", c.name, smoothness, tolerance)
				w, err := p.Minimize(context.Background(), max(tolerance, p.Floor()))
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if d := floats.Distance(w, target, 2); d > max(tolerance, p.Floor()) {
					t.Errorf("%s: %g from the minimiser", what, d)
				}
			}
		}
	}
}

// The free solver stops at the first point whose gradient, with its error, is small
// enough, and not before: at zero the certificate is (‖g‖ + Error)/λ.
func TestTermsOfTheFreeCertificate(t *testing.T) {
	const lambda, size, wrong = 2.0, 3.0, 0.5
	for _, c := range []struct {
		name      string
		tolerance float64
		stops     bool
	}{
		{"room for the gradient and its error", (size + wrong) / lambda * (1 + 1e-9), true},
		{"no room for the error", (size + wrong) / lambda * (1 - 1e-9), false},
		{"room for half of the error", (size + wrong/2) / lambda, false},
	} {
		steps := 0
		p := wrongBowl([]float64{size / lambda, 0}, []float64{0, 0}, 5, lambda, lambda)
		p.Error = wrong
		p.Newton = func([]float64) (func([]float64) ([]float64, error), error) {
			steps++
			return func(g []float64) ([]float64, error) { return []float64{g[0] / lambda, g[1] / lambda}, nil }, nil
		}
		if _, err := p.Minimize(context.Background(), c.tolerance); err != nil {
			t.Fatal(err)
		}
		if stops := steps == 0; stops != c.stops {
			t.Errorf("%s: stops at zero: %v, want %v", c.name, stops, c.stops)
		}
	}
}

// A first-order certificate passes where the distance is within the tolerance, and not
// beyond.
func TestCertifiedComparesWithTheTolerance(t *testing.T) {
	p := wrongBowl([]float64{3, 1}, []float64{0, 0}, 10, 2, 5)
	s := &solver{Problem: p, w: []float64{1, -2}, g: make([]float64, 2), plus: make([]float64, 2), gPlus: make([]float64, 2)}
	d, err := s.distance()
	if err != nil {
		t.Fatal(err)
	}
	for _, factor := range []float64{0.5, 1 - 1e-9, 1 + 1e-9, 2} {
		s.tolerance = factor * d
		if ok, err := s.certified(); err != nil || ok != (factor >= 1) {
			t.Errorf("a distance of %g is certified for a tolerance of %g: %v, %v", d, s.tolerance, ok, err)
		}
	}
}
