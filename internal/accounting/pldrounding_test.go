package accounting

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

func exactly(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

// exactExp is e^x with some 60 digits.
func exactExp(x float64) *big.Float {
	sum, term := exactly(1), exactly(1)
	part := exactly(x / 1024) // exact
	for k := 1.0; k < 30; k++ {
		term.Quo(term.Mul(term, part), exactly(k))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum
}

// exactDelta is the profile that p's masses have.
func exactDelta(p *pld, x float64) *big.Float {
	sum := exactly(p.top)
	for i, m := range p.mass {
		if z := math.Ldexp(float64(p.low+i), p.exponent); z > x {
			part := exactly(1)
			sum.Add(sum, part.Sub(part, exactExp(x-z)).Mul(part, exactly(m)))
		}
	}
	return sum
}

// manySmall is a 1 among n masses that its last digit doesn't show.
func manySmall(n int) []float64 {
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = 0x1p-54
	}
	mass[0] = 1
	return mass
}

// What is summed in floating point is never less than the exact sum: a profile of many
// masses, their total, and the sums that convolve them.
func TestSumsOfMassesAreRoundedUp(t *testing.T) {
	const n = 3000
	mass, truth := manySmall(n), 1+float64(n-1)*0x1p-54
	if got := total(mass); got < truth {
		t.Errorf("total %.17g, exactly %.17g", got, truth)
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	for i, v := range direct(ones, mass)[:n] {
		if want := exactly(float64(i) * 0x1p-54); exactly(v).Cmp(want.Add(want, exactly(1))) < 0 {
			t.Fatalf("convolved mass %d is %.17g, below the exact sum", i, v)
		}
	}
	for _, exponent := range []int{-12, -4} {
		p := &pld{exponent: exponent, low: -50, mass: make([]float64, 150), top: 1e-9}
		for i := range p.mass {
			p.mass[i] = math.Abs(math.Sin(float64(i*i))) / 150
		}
		p.tabulate()
		for i := -60; i < 100; i += 16 {
			for _, part := range []float64{0, 0.3} {
				x := math.Ldexp(float64(i)+part, exponent)
				if got, want := p.delta(x), exactDelta(p, x); exactly(got).Cmp(want) < 0 && got < 1 {
					t.Errorf("step 2^%d: δ(%g) = %.17g, exactly %.17g", exponent, x, got, want)
				}
			}
		}
	}
}

// Mass that moves to a coarser grid keeps its profile or raises it, at every x, and
// what is at infinity in either of two parts is at infinity in their sum.
func TestMassIsMovedUp(t *testing.T) {
	fine := &pld{exponent: -3, low: -7, mass: []float64{0.2, 0.1, 0, 0.3, 0.15, 0, 0.1, 0.05}, top: 0.1}
	coarse := fine.coarsen(-1)
	coarse.tabulate()
	for i := -20; i < 20; i++ {
		x := float64(i) / 10
		if got, want := coarse.delta(x), exactDelta(fine, x); exactly(got).Cmp(want) < 0 {
			t.Errorf("coarser by 4: δ(%g) = %.17g, was %.17g", x, got, want)
		}
	}
	a, b := &pld{mass: manySmall(3000), top: 0x1p-60}, &pld{mass: []float64{0.25, 0.25}, top: 0.5}
	want := exactly(0x1p-60) // a.top·1 + total(a.mass)·b.top
	want.Add(want, exactly(0.5))
	want.Add(want, exactly(2999*0x1p-55))
	if c := convolve(a, b); exactly(c.top).Cmp(want) < 0 {
		t.Errorf("%.17g is at infinity, exactly %.17g", c.top, want)
	}
}

// Each mass that moves to two points of a coarser grid is no less at either, to the last digit, than m·e/(1+e) and
// m/(1+e), and more by a few digits at most.
func TestCoarserMassesAreNoLess(t *testing.T) {
	e, sum := exactExp(-0.125), exactly(1)
	sum.Add(sum, e)
	r := rand.New(rand.NewPCG(41, 42))
	for range 200 {
		m := r.Float64()
		coarse := (&pld{exponent: -3, low: 1, mass: []float64{m}}).coarsen(-2)
		if coarse.low != 0 || len(coarse.mass) != 2 {
			t.Fatalf("%d masses from %d on", len(coarse.mass), coarse.low)
		}
		down, above := exactly(m), exactly(m)
		down.Quo(down.Mul(down, e), sum)
		above.Quo(above, sum)
		for k, want := range []*big.Float{down, above} {
			near, _ := want.Float64()
			if exactly(coarse.mass[k]).Cmp(want) < 0 || coarse.mass[k] > near*(1+4e-15) {
				t.Errorf("of %g, %.17g is at point %d, exactly %.20g", m, coarse.mass[k], k, want)
			}
		}
	}
}

// On its grid a discretised profile isn't below the curve, in exact arithmetic.
func TestDiscretisedMassesCoverTheCurve(t *testing.T) {
	for _, c := range testCurves {
		for _, exponent := range []int{0, -3} {
			p := discretise(c.curve, exponent)
			for i := 0; i < len(p.mass); i += 1 + len(p.mass)/20 {
				x := math.Ldexp(float64(p.low+i), exponent)
				if got, want := exactDelta(p, x), c.curve(x); got.Cmp(exactly(want)) < 0 {
					t.Errorf("%s, step 2^%d: δ(%g) = %.17g, below %.17g", c.name, exponent, x, got, want)
				}
			}
		}
	}
}

// The transform's error, in the norm of its parts, is added to each mass, where there
// is none as well.
func TestTransformAddsItsError(t *testing.T) {
	one := []float64{1, 0, 0, 0, 0}
	f := fourier.NewFFT(16)
	part := transform(f, one, logs(one), 0)
	c := make([]float64, 9)
	for i := range c {
		c[i] = math.Inf(1)
	}
	lowerTo(c, f, part, part, 0)
	eta := 64 * 4 * 0x1p-53 // 64u·log2 16
	for i, v := range c {
		if least := 2*eta + 4*0x1p-53; v < least {
			t.Errorf("mass %d is %g, but the transforms are off by %g", i, v, least)
		}
	}
}

// Sums and products of pure ε are not below the exact ones, and exact where those are
// floating-point numbers.
func TestPureSumsAreRoundedUp(t *testing.T) {
	for _, a := range []float64{0.1, 1, 1.0 / 3, 7e-5, 123.456} {
		for _, b := range []float64{0.2, 3, 0x1p-60, 1e-9, 17.7} {
			if got, want := addUp(a, b), new(big.Float).Add(exactly(a), exactly(b)); exactly(got).Cmp(want) < 0 {
				t.Errorf("%g + %g = %.17g, below the exact sum", a, b, got)
			}
			if got, want := multiplyUp(a, b), new(big.Float).Mul(exactly(a), exactly(b)); exactly(got).Cmp(want) < 0 {
				t.Errorf("%g · %g = %.17g, below the exact product", a, b, got)
			}
		}
	}
	if addUp(0.25, 0.5) != 0.75 || multiplyUp(3, 0.25) != 0.75 {
		t.Error("an exact sum or product was rounded")
	}
}
