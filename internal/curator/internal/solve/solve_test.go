package solve

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/vector"
)

func randomPD(r *rand.Rand, d int, least float64) (*mat.SymDense, []float64) {
	h := mat.NewSymDense(d, nil)
	for range 2 * d {
		v := mat.NewVecDense(d, nil)
		for j := range d {
			v.SetVec(j, r.NormFloat64())
		}
		h.SymRankOne(h, 1/float64(d), v)
	}
	b := make([]float64, d)
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+least)
		b[j] = 3 * r.NormFloat64()
	}
	return h, b
}

// The minimiser over the ball satisfies (H+νI)u = b with ν ≥ 0, and ν > 0 only on
// the sphere.
func TestBallQuadratic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		d := 1 + r.IntN(12)
		h, b := randomPD(r, d, 1e-3)
		radius := math.Exp(6*r.Float64() - 4)
		u := append([]float64(nil), b...)
		if !BallQuadratic(u, h, radius) {
			t.Fatal("refused a positive definite matrix")
		}
		res := mat.NewVecDense(d, nil)
		res.MulVec(h, mat.NewVecDense(d, u))
		rest := make([]float64, d) // b − Hu = νu
		floats.SubTo(rest, b, res.RawVector().Data)
		nu := floats.Dot(rest, u) / floats.Dot(u, u)
		if inside := vector.Norm(u) < radius*(1-1e-9); inside && math.Abs(nu) > 1e-8 || nu < -1e-8 {
			t.Errorf("multiplier %g at norm %g of %g", nu, vector.Norm(u), radius)
		}
		floats.AddScaled(rest, -nu, u)
		if vector.Norm(rest) > 1e-8*vector.Norm(b) || vector.Norm(u) > radius*(1+1e-12) {
			t.Errorf("residual %g, norm %g of %g", vector.Norm(rest), vector.Norm(u), radius)
		}
	}
	if BallQuadratic([]float64{1, 1}, mat.NewSymDense(2, []float64{1, 2, 2, 1}), 1) {
		t.Error("accepted an indefinite matrix")
	}
}

// logSum is a strongly convex function that is far from quadratic.
func logSum(r *rand.Rand, d int, lambda, radius float64, newton bool) *Problem {
	const n = 60
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			x[i][j] = 3 * r.NormFloat64()
		}
	}
	var l float64
	for _, v := range x {
		l += floats.Dot(v, v) / 4 / n
	}
	p := &Problem{Dim: d, Radius: radius, Convexity: lambda, Smoothness: l + lambda, Error: 1e-13}
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	p.Gradient = func(g, w []float64) error {
		copy(g, w)
		floats.Scale(lambda, g)
		for i, v := range x {
			floats.AddScaled(g, (sigmoid(floats.Dot(w, v))-float64(i%2))/n, v)
		}
		return nil
	}
	p.Value = func(w []float64) (float64, error) {
		s := lambda / 2 * floats.Dot(w, w)
		for i, v := range x {
			z := floats.Dot(w, v)
			s += (math.Max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) - float64(i%2)*z) / n
		}
		return s, nil
	}
	if newton {
		p.Hessian = func(w []float64) (*mat.SymDense, error) {
			h := mat.NewSymDense(d, nil)
			for _, v := range x {
				s := sigmoid(floats.Dot(w, v))
				h.SymRankOne(h, s*(1-s)/n, mat.NewVecDense(d, v))
			}
			for j := range d {
				h.SetSym(j, j, h.At(j, j)+lambda)
			}
			return h, nil
		}
	}
	return p
}

// Both solvers keep their promise: two answers with tolerance τ are within 2τ.
func TestMinimize(t *testing.T) {
	for _, radius := range []float64{0.05, 1, math.Inf(1)} {
		for _, lambda := range []float64{1e-3, 0.3} {
			first := logSum(rand.New(rand.NewPCG(3, 4)), 5, lambda, radius, false)
			second := logSum(rand.New(rand.NewPCG(3, 4)), 5, lambda, radius, true)
			const tolerance = 1e-7
			if tolerance < first.Floor() {
				t.Fatalf("tolerance below the floor %g", first.Floor())
			}
			a, errA := first.Minimize(context.Background(), tolerance)
			b, errB := second.Minimize(context.Background(), tolerance)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if d := floats.Distance(a, b, 2); d > 2*tolerance {
				t.Errorf("radius %g, λ %g: gradient and Newton answers are %g apart", radius, lambda, d)
			}
			if vector.Norm(a) > radius*(1+1e-12) {
				t.Errorf("norm %g of %g", vector.Norm(a), radius)
			}
		}
	}
}

// Without a constraint, Newton's method with a factor, with conjugate gradients
// and with a poor estimate of the Hessian agree with the gradient method.
func TestMinimizeFree(t *testing.T) {
	const lambda, tolerance = 1e-3, 1e-7
	reference, err := logSum(rand.New(rand.NewPCG(9, 10)), 6, lambda, math.Inf(1), false).Minimize(context.Background(), tolerance)
	if err != nil {
		t.Fatal(err)
	}
	for name, newton := range map[string]func(p *Problem, w []float64) (func(g []float64) ([]float64, error), error){
		"factor": func(p *Problem, w []float64) (func(g []float64) ([]float64, error), error) {
			h, err := p.Hessian(w)
			f, _ := Factored(h)
			return f, err
		},
		"estimate": func(p *Problem, w []float64) (func(g []float64) ([]float64, error), error) {
			h, err := p.Hessian(w)
			h.ScaleSym(2, h)
			f, _ := Factored(h)
			return f, err
		},
		"useless": func(p *Problem, w []float64) (func(g []float64) ([]float64, error), error) {
			return func(g []float64) ([]float64, error) { return make([]float64, len(g)), nil }, nil
		},
		"conjugate": func(p *Problem, w []float64) (func(g []float64) ([]float64, error), error) {
			h, err := p.Hessian(w)
			return Conjugate(func(dst, v []float64) error {
				mat.NewVecDense(len(v), dst).MulVec(h, mat.NewVecDense(len(v), v))
				return nil
			}), err
		},
	} {
		p := logSum(rand.New(rand.NewPCG(9, 10)), 6, lambda, math.Inf(1), true)
		p.Newton = func(w []float64) (func(g []float64) ([]float64, error), error) { return newton(p, w) }
		w, err := p.Minimize(context.Background(), tolerance)
		if err != nil {
			t.Fatal(err)
		}
		if d := floats.Distance(w, reference, 2); d > 2*tolerance {
			t.Errorf("%s: answers are %g apart", name, d)
		}
	}
}

// The certificate is honest: at any stage it never claims a smaller distance than
// the true one.
func TestCertificate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := logSum(r, 4, 0.05, 0.4, true)
	best, err := p.Minimize(context.Background(), 1e-10)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		s := &solver{Problem: p, w: append([]float64(nil), best...), g: make([]float64, 4), plus: make([]float64, 4), gPlus: make([]float64, 4)}
		scale := math.Exp(-12 * r.Float64())
		for j := range s.w {
			s.w[j] += scale * r.NormFloat64()
		}
		vector.Project(s.w, p.Radius)
		claim, err := s.distance()
		if err != nil {
			t.Fatal(err)
		}
		if d := floats.Distance(s.plus, best, 2); d > claim+1e-10 {
			t.Errorf("certified %g, true distance %g", claim, d)
		}
		if claim > 3*p.Smoothness/p.Convexity*floats.Distance(s.w, best, 2)+1e-8 {
			t.Errorf("certificate %g is useless at distance %g", claim, floats.Distance(s.w, best, 2))
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, newton := range []bool{true, false} {
		p := logSum(rand.New(rand.NewPCG(7, 8)), 4, 0.05, 1, newton)
		if _, err := p.Minimize(ctx, 1e-9); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

// Outside the ball a gradient's error is unbounded, so that what looks like a
// minimiser there is none.
func TestNoCertificateOutsideTheBall(t *testing.T) {
	p := &Problem{Dim: 1, Radius: 1, Convexity: 1, Smoothness: 1, Error: 1e-12}
	p.Gradient = func(g, w []float64) error {
		if g[0] = w[0] - 0.5; math.Abs(w[0]) > 3 {
			g[0] = 0
		}
		return nil
	}
	p.Newton = func([]float64) (func([]float64) ([]float64, error), error) {
		return func(g []float64) ([]float64, error) { return []float64{20 * g[0]}, nil }, nil
	}
	w, err := p.Minimize(context.Background(), 1e-9)
	if err != nil || math.Abs(w[0]-0.5) > 1e-9 {
		t.Errorf("%g, %v", w, err)
	}
}

// What is accepted has a gradient that was computed there: one that was small by mistake,
// when a method asked, isn't believed.
func TestAcceptedPointsHaveTheirOwnGradient(t *testing.T) {
	p, calls := bowl([]float64{1, 1}, []float64{1, -2}, 10), 0
	plain := p.Gradient
	p.Gradient = func(g, w []float64) error {
		if calls++; calls == 1 {
			clear(g)
			return nil
		}
		return plain(g, w)
	}
	secondOrder["Newton"](p)
	w, err := p.Minimize(context.Background(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if far := floats.Distance(w, []float64{1, -2}, 2); far > 1e-6 {
		t.Errorf("accepted a point %g from the minimiser", far)
	}
}
