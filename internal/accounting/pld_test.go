package accounting

import (
	"math"
	"testing"
)

var testCurves = []struct {
	name  string
	curve func(float64) float64
}{
	{"gaussian 0.05", gaussian{mu: 0.05}.delta},
	{"gaussian 1", gaussian{mu: 1}.delta},
	{"gaussian 6", gaussian{mu: 6}.delta},
	{"pure 0.3", pure{0.3}.delta},
	{"pure 4", pure{4}.delta},
	{"range 0.3", boundedRange{eps: 0.3}.delta},
	{"range 4", boundedRange{eps: 4}.delta},
	{"gaussian 1 and a constant", func(x float64) float64 { return math.Min(1, gaussian{mu: 1}.delta(x)+1e-30) }},
	{"maximum", func(x float64) float64 { return math.Max(gaussian{mu: 0.5}.delta(x), pure{0.4}.delta(x)) }},
}

// Connecting points of a profile by lines in e^ε gives a profile that lies above
// it, at every real ε, and close to it [DGKKM22].
func TestDiscretisationDominates(t *testing.T) {
	for _, c := range testCurves {
		for _, exponent := range []int{0, -3, -9} {
			p := discretise(c.curve, exponent)
			var largest float64
			for i := -4000; i <= 4000; i++ {
				x := float64(i) * 0.002531
				got, want := p.delta(x), c.curve(x)
				if got < want*(1-1e-12) {
					t.Fatalf("%s, step 2^%d: δ(%g) = %g is below %g", c.name, exponent, x, got, want)
				}
				largest = math.Max(largest, got-want)
			}
			if step := math.Ldexp(1, exponent); exponent == -9 && largest > step {
				t.Errorf("%s: %g too high", c.name, largest)
			}
		}
	}
}

func TestCoarseGridsDominate(t *testing.T) {
	for _, c := range testCurves {
		fine := discretise(c.curve, -8)
		coarse := fine.coarsen(-3)
		coarse.tabulate()
		same := discretise(c.curve, -3)
		for i := -2000; i <= 2000; i++ {
			x := float64(i) * 0.0053
			d := coarse.delta(x)
			if d < fine.delta(x)*(1-1e-10) {
				t.Fatalf("%s: coarser grid lowers δ(%g) to %g", c.name, x, d)
			}
			if d > same.delta(x)+1e-9 {
				t.Fatalf("%s: δ(%g) = %g, but %g on that grid directly", c.name, x, d, same.delta(x))
			}
		}
	}
}

// The transform's error bound holds and, with tilts, leaves tails accurate:
// compared with the sums themselves.
func TestTransformDominatesDirectSums(t *testing.T) {
	for _, c := range testCurves {
		for _, exponent := range []int{-5, -9} {
			a, b := discretise(c.curve, exponent), discretise(gaussian{mu: 0.7}.delta, exponent)
			got, want := tilted(a.mass, b.mass), direct(a.mass, b.mass)
			fast := &pld{exponent: exponent, low: a.low + b.low, mass: got}
			slow := &pld{exponent: exponent, low: a.low + b.low, mass: want}
			for i := range got {
				if got[i] < want[i]*(1-1e-11) {
					t.Fatalf("%s: mass %d is %g, below %g", c.name, i, got[i], want[i])
				}
			}
			fast.tabulate()
			slow.tabulate()
			for x := 0.0; slow.delta(x) > 1e-25; x += 0.1 {
				if f, s := fast.delta(x), slow.delta(x); f > s*(1+1e-3) {
					t.Errorf("%s: δ(%g) = %g, want %g", c.name, x, f, s)
				}
			}
		}
	}
}

// Copies of Gaussian releases, composed as if they had any other profile,
// compose to √k·μ [DRS22, Corollary 3.3].
func TestPowersOfGaussians(t *testing.T) {
	for _, c := range []struct {
		mu     float64
		copies int64
	}{{1, 2}, {0.5, 7}, {0.1, 64}, {0.01, 1000}, {3, 3}, {0.0005, 1_000_003}} {
		g := gaussian{mu: c.mu}
		want := gaussian{mu: c.mu * math.Sqrt(float64(c.copies))}
		curve := func(int) func(float64) float64 { return g.delta }
		p := power(curve, c.copies, math.Ilogb(want.mu)-8)
		p.tabulate()
		for _, delta := range []float64{1e-2, 1e-6, 1e-12, 1e-20} {
			fromAbove(t, "epsilon", smallestEpsilon(p.delta, delta), want.epsilon(delta))
		}
	}
}

// fromAbove fails unless got exceeds want by at most 1e-4 of it.
func fromAbove(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want*(1-1e-11) || got > want*(1+1e-4) {
		t.Errorf("%s: %.12g, want %.12g to 1e-4 from above (off by %.2g)", what, got, want, got/want-1)
	}
}

// The worst of the pairs with losses t and t − ε, found by trying them.
func TestBoundedRangeProfile(t *testing.T) {
	for _, eps := range []float64{0.01, 0.7, 3, 12} {
		b := boundedRange{eps: eps}
		for i := -12; i <= 12; i++ {
			x := eps * float64(i) / 10
			var worst float64
			for j := 0; j <= 20000; j++ {
				s := eps * float64(j) / 20000
				p := math.Expm1(s-eps) / math.Expm1(-eps)
				d := p*math.Max(0, -math.Expm1(x-s)) + (1-p)*math.Max(0, -math.Expm1(x-s+eps))
				worst = math.Max(worst, d)
			}
			if got := b.delta(x); got < worst*(1-1e-13) || got > worst+1e-6 {
				t.Errorf("range %g: δ(%g) = %g, want %g", eps, x, got, worst)
			}
		}
	}
}

// μ = −2Φ⁻¹(1/(1+e^ε)), and its profile lies above that of ε-DP.
func TestPureMu(t *testing.T) {
	for _, c := range []struct{ eps, mu float64 }{{1, 1.232035385345}, {0.01, 0.012533118960}, {1e-8, 1.25331413e-8}, {10, 7.827914393622}} {
		mu := pureMu(c.eps)
		if math.Abs(mu/c.mu-1) > 1e-7 {
			t.Errorf("ε = %g: μ = %.10g, want %g", c.eps, mu, c.mu)
		}
		for i := range 100 {
			x := c.eps * float64(i) / 80
			if g, p := (gaussian{mu: mu}).delta(x), (pure{c.eps}).delta(x); g < p {
				t.Errorf("ε = %g: δ(%g) of μ-GDP is %g, below %g", c.eps, x, g, p)
			}
		}
	}
}

// Mass at +∞, and tails that are cut off, stay in the profile.
func TestTailsAreKept(t *testing.T) {
	a := &pld{low: -1, mass: []float64{0.3, 0, 0.4}, top: 0.3}
	b := &pld{low: 2, mass: []float64{0.25, 0.25}, top: 0.5}
	if c := convolve(a, b); math.Abs(c.top-0.65) > 1e-12 || c.top < 0.65 {
		t.Errorf("0.3 and 0.5 at infinity give %g", c.top)
	}
	p := &pld{mass: []float64{1e-14, 0.5, 0.5, 0, 1e-41}}
	p.trim()
	if p.top < 1e-41 || p.low != 1 || len(p.mass) != 2 || p.mass[0] < 0.5+1e-14 {
		t.Errorf("trimmed to %+v", p)
	}
}
