package accounting

import (
	"math"
	"testing"
)

// [KOV17, Theorem 3.3] for k copies of ε-DP: the loss is (2i − k)ε with binomial
// probabilities.
func TestPureCompositionClosedForm(t *testing.T) {
	for _, c := range []struct {
		eps float64
		k   int
	}{{0.1, 2}, {0.5, 10}, {0.01, 500}, {2, 7}, {0.3, 100}, {8, 2}} {
		l := Pure(c.eps, c.k)
		p := 1 / (1 + math.Exp(-c.eps))
		exact := func(x float64) float64 {
			var d float64
			for i := range c.k + 1 {
				loss := float64(2*i-c.k) * c.eps
				if loss <= x {
					continue
				}
				n, _ := math.Lgamma(float64(c.k + 1))
				a, _ := math.Lgamma(float64(i + 1))
				b, _ := math.Lgamma(float64(c.k - i + 1))
				d += math.Exp(n-a-b+float64(i)*math.Log(p)+float64(c.k-i)*math.Log1p(-p)) * -math.Expm1(x-loss)
			}
			return d
		}
		for _, delta := range []float64{0.1, 1e-3, 1e-6, 1e-12} {
			want := smallestEpsilon(exact, delta)
			if got := l.Epsilon(delta); got < want*(1-1e-10) || got > want*(1+1e-4) {
				t.Errorf("%d × %g: ε(%g) = %.10g, want %.10g", c.k, c.eps, delta, got, want)
			}
		}
	}
}

// One ε-DP release beside a Gaussian one: a mixture of two shifted profiles.
func TestPureWithGaussianClosedForm(t *testing.T) {
	for _, mu := range []float64{0.003, 0.1, 4} {
		for _, eps := range []float64{0.05, 1, 6} {
			l := Compose(Gaussian(mu, 1, 10), Pure(eps, 1))
			p := 1 / (1 + math.Exp(-eps))
			g := gaussian{mu: mu}
			exact := func(x float64) float64 { return p*g.delta(x-eps) + (1-p)*g.delta(x+eps) }
			for _, x := range []float64{0, eps / 2, eps, eps + mu, 2*eps + 3*mu} {
				if got, want := l.Delta(x), exact(x); got < want*(1-1e-9) {
					t.Errorf("%s: δ(%g) = %g, want %g", l.key(), x, got, want)
				}
			}
			for _, delta := range []float64{1e-2, 1e-6, 1e-20} {
				if want := smallestEpsilon(exact, delta); want > 0.01 {
					fromAbove(t, l.key(), l.Epsilon(delta), want)
				}
			}
		}
	}
}

// One release, and a maximum of such, have their exact profiles.
func TestSingleReleasesAreExact(t *testing.T) {
	p := Pure(0.4, 1)
	b := BoundedRange(0.9, 1)
	g := Gaussian(0.1, 1, 10)
	par := Compose(Parallel(p, b, g, g))
	for _, x := range []float64{0, 0.1, 0.3, 0.5, 2} {
		want := math.Max(pure{0.4}.delta(x), math.Max(boundedRange{eps: 0.9}.delta(x), g.Delta(x)))
		if got := par.Delta(x); got != want {
			t.Errorf("δ(%g) = %g, want %g", x, got, want)
		}
	}
	// Not converted to μ: the selection beside a Gaussian stage costs nothing.
	mu, err := GaussianMu(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	stage := Gaussian(mu*(1-1e-11), 1, 10)
	both := Parallel(stage, Pure(1, 1))
	if e := both.Epsilon(1e-6); e > 1 {
		t.Errorf("(1, 1e-6) in parallel with 1-DP spends ε = %.12g", e)
	}
	if d := Pure(1, 2).Delta(2); d != 0 {
		t.Errorf("two 1-DP releases: δ(2) = %g", d)
	}
}

// Extreme numbers give upper bounds that are still numbers.
func TestExtremeLedgers(t *testing.T) {
	const many = math.MaxInt >> 23
	for _, l := range []*Sequence{
		Pure(1e-100, 1), Pure(1e100, many), Pure(1e-3, many),
		BoundedRange(1e100, 3), BoundedRange(1e-100, many),
		Compose(Pure(700, 3), Gaussian(1e-6, 1, 10)),
		Compose(Pure(1e-9, 3), Gaussian(300, 1, 10)),
		Compose(Pure(1e50, 3), Gaussian(1e-50, 1, 10)),
		Compose(Pure(1e-50, 3), Gaussian(1e50, 1, 10)),
	} {
		for _, x := range []float64{0, 1e-300, 1, 1e300} {
			if d := l.Delta(x); !(d >= 0 && d <= 1) {
				t.Errorf("%v: δ(%g) = %g", l, x, d)
			}
		}
		for _, delta := range []float64{1e-300, 1e-40, 1e-6, 0.99} {
			e := l.Epsilon(delta)
			if !(e >= 0) {
				t.Errorf("%v: ε(%g) = %g", l, delta, e)
			}
			if loss := l.Loss(); e > loss {
				t.Errorf("%v: ε(%g) = %g exceeds the largest loss %g", l, delta, e, loss)
			}
		}
	}
}

func BenchmarkMixedSequence(b *testing.B) {
	for b.Loop() {
		s := newSequence(gaussian{mu: 0.8}, part{pure{0.3}, 1}, part{pure{0.7}, 1}, part{pure{0.05}, 20}, part{boundedRange{eps: 0.2}, 5},
			part{boundedRange{eps: 1.1}, 1}, part{boundedRange{eps: 0.013}, 300}, part{pure{0.11}, 3}, part{pure{0.017}, 1})
		s.Epsilon(1e-6)
	}
}

func BenchmarkStepsAndSelection(b *testing.B) {
	for b.Loop() {
		newSequence(gaussian{mu: 0.01 * math.Sqrt(500)}, part{pure{0.1}, 1}).Epsilon(1e-6)
	}
}

// Branches on disjoint rows cost what the dearest of them costs, at each ε and in any
// order: none is forgotten beside another.
func TestParallelIsTheLargest(t *testing.T) {
	for _, branches := range [][]*Sequence{
		{Gaussian(1, 1, 1), Gaussian(2, 1, 1), Gaussian(0.5, 1, 1)}, {Gaussian(1, 1, 1), Pure(0.9, 1)}, {Gaussian(1, 1, 1), BoundedRange(1.75, 1)},
		{Gaussian(1, 1, 1), Pure(0.7, 1), Gaussian(0.7, 1, 1)}, {Pure(1, 1), BoundedRange(1.5, 1), Pure(0.5, 1)},
		{Objective{0.1, 0.05, 0.01, 10, 1}.Profile(), Gaussian(0.4, 1, 1), Pure(0.3, 1)},
	} {
		for range branches {
			branches = append(branches[1:], branches[0])
			all := Parallel(branches...)
			for _, b := range branches {
				for _, x := range []float64{0, 0.2, 0.6, 1, 3} {
					if got, want := all.Delta(x), b.Delta(x); got < want*(1-1e-9) {
						t.Errorf("δ(%g) = %g of %s, but its branch %s has %g", x, got, all.key(), b.key(), want)
					}
					if got, want := all.logDelta(x), b.logDelta(x); got < want-1e-9 {
						t.Errorf("log δ(%g) = %g of %s, but its branch %s has %g", x, got, all.key(), b.key(), want)
					}
					if got, want := all.curve(-9)(x), b.Delta(x); got < want*(1-1e-9) {
						t.Errorf("δ(%g) = %g of %s where it is composed, but its branch %s has %g", x, got, all.key(), b.key(), want)
					}
				}
				if got, want := all.Loss(), b.Loss(); got < want {
					t.Errorf("loss %g of %s, but its branch %s has %g", got, all.key(), b.key(), want)
				}
				if got, want := all.Mu(), b.Mu(); got < want {
					t.Errorf("%g-GDP of %s, but its branch %s is %g-GDP", got, all.key(), b.key(), want)
				}
			}
		}
	}
}
