package accounting

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
)

// odd returns sequences of any numbers that a ledger may hold.
func odd() map[string]*Sequence {
	random := rand.New(rand.NewPCG(1, 2))
	between := func(lo, hi float64) float64 { return lo * math.Exp(random.Float64()*math.Log(hi/lo)) }
	count := func(most float64) int { return int(between(1, most)) }
	kinds := []func() *Sequence{
		func() *Sequence { return Gaussian(between(1e-6, 1e6), count(1e9), count(1e9)) },
		func() *Sequence { return Pure(between(1e-9, 1e9), count(1<<40)) },
		func() *Sequence { return BoundedRange(between(1e-9, 1e9), count(1<<40)) },
		func() *Sequence {
			return Objective{between(1e-12, 1e6), between(1e-12, 1e6), between(1e-12, 1e6), count(1e9), 1}.Profile()
		},
	}
	kind := func() *Sequence { return kinds[random.IntN(len(kinds))]() }
	mixed := func() *Sequence {
		return Parallel(Compose(BoundedRange(between(1e-4, 10), count(1e6)), Pure(between(1e-9, 1e3), 1)), Compose(kind(), Gaussian(between(1e-6, 1e3), 1, 1)), kind())
	}
	of := func(n int, f func() *Sequence) []*Sequence {
		s := make([]*Sequence, n)
		for i := range s {
			s[i] = f()
		}
		return s
	}
	const many = min(1<<40, math.MaxInt)
	cases := map[string]*Sequence{
		"many small": Pure(1e-6, many), "many large": Pure(7*(1+1e-15), many), "many ranges": BoundedRange(1e-7, many-1),
		"wide beside narrow": Compose(Pure(1e-9, 3), Gaussian(300, 1, 1)), "1000 minimisers": Objective{0.1, 0.05, 0.01, 10, 1000}.Profile(),
	}
	for _, n := range []int{1, 3, 30, 100} {
		cases[fmt.Sprint(n, " in sequence")] = Compose(of(n, kind)...)
		cases[fmt.Sprint(n, " in parallel")] = Parallel(of(n, mixed)...)
		cases[fmt.Sprint(n, " both")] = Compose(of(n, mixed)...)
	}
	return cases
}

// work counts the cells that were composed for a sequence, and for what is in it.
func (s *Sequence) work() int {
	n := 0
	for _, p := range s.numeric.grids {
		n += len(p.mass) * s.numeric.weight()
	}
	for _, p := range s.parts {
		if of, ok := p.profile.(parallel); ok {
			for _, b := range of.branches {
				n += b.work()
			}
		}
	}
	return n
}

// The work of a query is bounded, whatever the ledger: refining ends at 2^maxWork
// cells, and the coarser grids before add as much again.
func TestWorkIsBounded(t *testing.T) {
	for name, s := range odd() {
		for _, k := range []float64{1, 7, 1e6} {
			if !sample.One(2, name, k) {
				continue
			}
			g := s.Group(k)
			if e := g.Epsilon(1e-6); !(e >= 0) {
				t.Errorf("%s, %g rows: ε = %g", name, k, e)
			}
			if d := g.Delta(1); !(d >= 0 && d <= 1) {
				t.Errorf("%s, %g rows: δ = %g", name, k, d)
			}
			if n := g.work(); n > 2*maxExact<<(maxWork+1) {
				t.Errorf("%s, %g rows: %d cells composed", name, k, n)
			}
		}
	}
}

func BenchmarkOddArguments(b *testing.B) {
	for name := range odd() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				odd()[name].Epsilon(1e-6)
			}
		})
	}
}

// δ is a probability, and 0 only where that is certain.
func TestDeltaIsAProbability(t *testing.T) {
	for name, s := range map[string]*Sequence{
		"pure": Pure(0.3, 1), "range": BoundedRange(0.3, 1), "gaussian": Gaussian(0.1, 3, 4),
		"objective": Objective{0.1, 0.05, 0.01, 10, 1}.Profile(), "group": Objective{0.1, 0.05, 0.01, 10, 1}.Profile().Group(3),
		"mixed": Compose(Pure(0.3, 2), Gaussian(0.1, 1, 1)), "parallel": Parallel(Pure(0.3, 1), Gaussian(0.1, 1, 1)),
	} {
		for i := -2000; i <= 2000; i++ {
			x := float64(i) * math.Abs(float64(i)) / 100
			d := s.Delta(x)
			if !(d >= 0 && d <= 1) {
				t.Fatalf("%s: δ(%g) = %.17g", name, x, d)
			}
			if (d == 0) != (x >= s.Loss()) {
				t.Fatalf("%s: δ(%g) = %g, but the largest loss is %g", name, x, d, s.Loss())
			}
		}
		if s.Within(1e9, 0) != !math.IsInf(s.Loss(), 1) {
			t.Errorf("%s: within (1e9, 0)-DP", name)
		}
	}
}

// The rounded continuous law and the discrete one differ by no more than the slack,
// at both centres: the sum over the outputs within c scales of the one, in exact
// arithmetic for scales at which a float64 still shows the difference.
func TestSlackAtBothCentres(t *testing.T) {
	for _, s := range []float64{200, 1000} {
		for _, mu := range []float64{0, 1, 20, 400} {
			const near = 64
			perSquare := (178 + 1.4*mu*mu) / (s * s) // what slack says for a scale of 2^40, at s
			for _, at := range []float64{0, near / 2, near} {
				// The cell's mean over its middle's value, at a distance t from the second centre.
				for _, distance := range []float64{at, at + mu} {
					a := distance / (2 * s) // t/(2s²) with t = distance·s
					upper := math.Log(math.Sinh(a)/a + 1e-300)
					if a == 0 {
						upper = 0
					}
					if both := upper + 1/(24*s*s); both > perSquare {
						t.Errorf("s = %g, μ = %g: %g at %g scales, more than %g", s, mu, both, distance, perSquare)
					}
				}
			}
		}
	}
	one := noise(3, 1, 1).slack()
	if want := (178 + 1.4*9) * 0x1p-80; one < want || one > want*(1+1e-14) {
		t.Errorf("κ = %g for one coordinate at μ = 3, want %g", one, want)
	}
	if k := noise(3, 7, 5).slack() / one; k < 35*(1-1e-14) || k > 35.001 {
		t.Errorf("35 coordinates have %g times the slack of one", k)
	}
}
