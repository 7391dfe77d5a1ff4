package mechanisms

import (
	"math"
	"strings"
	"testing"
)

// Each selection costs what is proved of it, in full: the exponential mechanisms a
// bounded range of ε, the others ε-DP, by their closed forms.
func TestSelectionsCost(t *testing.T) {
	const epsilon = 0.7
	pure := func(x float64) float64 { return -math.Expm1(x-epsilon) / (1 + math.Exp(-epsilon)) }
	ranged := func(x float64) float64 { return math.Pow(math.Expm1((x-epsilon)/2), 2) / -math.Expm1(-epsilon) }
	for _, c := range []struct {
		of interface {
			Ledger(label string) (*Ledger, error)
		}
		want func(x float64) float64
	}{{Exponential{Epsilon: epsilon}, ranged}, {GeneralizedExponential{Epsilon: epsilon, Beta: 0.1}, ranged}, {PermuteAndFlip{Epsilon: epsilon}, pure}, {NoisyMax{Epsilon: epsilon}, pure}} {
		l, err := c.of.Ledger("")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []float64{0, 0.1, 0.35, 0.69} {
			if got, err := l.Delta(x); err != nil || got < c.want(x)*(1-1e-12) || got > c.want(x)*(1+1e-9) {
				t.Errorf("%T: δ(%g) = %g in the ledger, want %g (%v)", c.of, x, got, c.want(x), err)
			}
		}
	}
}

// k rows of a Gaussian release are k·μ-GDP.
func TestLedgersOfGroups(t *testing.T) {
	l, err := Gaussian{Mu: 0.3}.Ledger("", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 2, 9, 30} {
		want, err := GaussianEpsilon(0.3*float64(k), 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := l.GroupEpsilon(k, 1e-6); err != nil || got < want*(1-1e-12) || got > want*(1+1e-9) {
			t.Errorf("%d rows: ε = %g, want %g (%v)", k, got, want, err)
		}
	}
}

// A mark of the caller's noise shows through any number of compositions.
func TestCallerNoiseShowsThrough(t *testing.T) {
	l, err := Laplace{Epsilon: 1}.Ledger("", 1)
	if err != nil {
		t.Fatal(err)
	}
	marked := l.WithCallerNoise()
	for depth := range 4 {
		if !marked.CallerNoise() || !strings.Contains(marked.String(), "caller's source") {
			t.Errorf("the mark is lost %d compositions up", depth)
		}
		if marked, err = Sequential("", l, marked); err != nil {
			t.Fatal(err)
		}
		if marked, err = Parallel("", marked, l); err != nil {
			t.Fatal(err)
		}
	}
}

// No coordinate is left without noise of its own, however many there are. (A draw of 0
// has probability 2^-40, a repeated one no more.)
func TestEveryCoordinateHasNoise(t *testing.T) {
	const n = 9000
	for name, release := range map[string]func(dst, value []float64) error{
		"Gaussian": func(dst, value []float64) error { return Gaussian{Mu: 1}.Release(dst, value, 1, NewSeededSource(1)) },
		"Laplace": func(dst, value []float64) error {
			return Laplace{Epsilon: 1}.Release(dst, value, 1, NewSeededSource(1))
		},
	} {
		dst, seen := make([]float64, n), map[float64]bool{0: true}
		if err := release(dst, make([]float64, n)); err != nil {
			t.Fatal(err)
		}
		for i, v := range dst {
			if seen[v] {
				t.Fatalf("%s: coordinate %d of %d is 0, or has another's noise: %g", name, i, n, v)
			}
			seen[v] = true
		}
	}
}

// A ledger that exceeds its claim by a thousandth says so.
func TestPrintedClaimsAreHeldTo(t *testing.T) {
	l, err := Gaussian{Mu: 1.001}.Ledger("", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for mu, over := range map[float64]bool{1: true, 1.0011: false} {
		if text := l.WithClaim(Claim{Mu: mu}).String(); strings.Contains(text, "NOTE: more than") != over {
			t.Errorf("1.001-GDP claimed as %g-GDP prints\n%s", mu, text)
		}
	}
}
