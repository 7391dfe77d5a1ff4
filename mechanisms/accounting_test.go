package mechanisms

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// built returns a constructor's ledger.
func built(t *testing.T) func(*Ledger, error) *Ledger {
	return func(l *Ledger, err error) *Ledger {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

func epsilonOf(t *testing.T, l *Ledger, delta float64) float64 {
	t.Helper()
	e, err := l.Epsilon(delta)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Ledgers whose profiles an independent program computed by contour integrals;
// its command is in the header of reference.py.
func TestReferenceProfiles(t *testing.T) {
	data, err := os.ReadFile("../testdata/accounting/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Ledger         *Ledger
		Delta, Epsilon float64
	}
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) < 40 {
		t.Fatalf("only %d records", len(records))
	}
	for _, r := range records {
		fromAbove(t, r.Ledger.String(), epsilonOf(t, r.Ledger, r.Delta), r.Epsilon)
		// The same grids, entered from the other side.
		if d := deltaOf(t, r.Ledger, r.Epsilon); d < r.Delta*(1-1e-8) || d > r.Delta*1.02 {
			t.Errorf("%v: δ(%g) = %g, want %g", r.Ledger, r.Epsilon, d, r.Delta)
		}
	}
}

// [KOV17, Theorem 3.3] for k copies of ε-DP: the loss is (2i − k)ε with binomial
// probabilities.
func TestPureCompositionClosedForm(t *testing.T) {
	for _, c := range []struct {
		eps float64
		k   int
	}{{0.1, 2}, {0.5, 10}, {0.01, 500}, {2, 7}, {0.3, 100}, {8, 2}} {
		l := built(t)(pureLedger("", c.eps, c.k))
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
			if got := epsilonOf(t, l, delta); got < want*(1-1e-10) || got > want*(1+1e-4) {
				t.Errorf("%d × %g: ε(%g) = %.10g, want %.10g", c.k, c.eps, delta, got, want)
			}
		}
	}
}

// One ε-DP release beside a Gaussian one: a mixture of two shifted profiles.
func TestPureWithGaussianClosedForm(t *testing.T) {
	for _, mu := range []float64{0.003, 0.1, 4} {
		for _, eps := range []float64{0.05, 1, 6} {
			l := built(t)(Sequential("", leaf(t, mu, 1), built(t)(pureLedger("", eps, 1))))
			p := 1 / (1 + math.Exp(-eps))
			g := gaussian{mu: mu}
			exact := func(x float64) float64 { return p*g.delta(x-eps) + (1-p)*g.delta(x+eps) }
			for _, delta := range []float64{1e-2, 1e-6, 1e-20} {
				if want := smallestEpsilon(exact, delta); want > 0.01 {
					fromAbove(t, l.String(), epsilonOf(t, l, delta), want)
				}
			}
		}
	}
}

// One release, and a maximum of such, have their exact profiles.
func TestSingleReleasesAreExact(t *testing.T) {
	p := built(t)(pureLedger("", 0.4, 1))
	b := built(t)(boundedRangeLedger("", 0.9, 1))
	g := leaf(t, 0.1, 1)
	par := built(t)(Sequential("", built(t)(Parallel("", p, b, g, g))))
	for _, x := range []float64{0, 0.1, 0.3, 0.5, 2} {
		want := math.Max(pure{0.4}.delta(x), math.Max(boundedRange{0.9}.delta(x), deltaOf(t, g, x)))
		if got := deltaOf(t, par, x); got != want {
			t.Errorf("δ(%g) = %g, want %g", x, got, want)
		}
	}
	// Not converted to μ: the selection beside a Gaussian stage costs nothing.
	stage := built(t)(calibrated(t, 1, 1e-6))
	both := built(t)(Parallel("", stage, built(t)(pureLedger("", 1, 1))))
	if e := epsilonOf(t, both, 1e-6); e > 1 {
		t.Errorf("(1, 1e-6) in parallel with 1-DP spends ε = %.12g", e)
	}
	if d := deltaOf(t, built(t)(pureLedger("", 1, 2)), 2); d != 0 {
		t.Errorf("two 1-DP releases: δ(2) = %g", d)
	}
}

func calibrated(t *testing.T, epsilon, delta float64) (*Ledger, error) {
	t.Helper()
	g, err := CalibrateGaussian(epsilon, delta, 10, 5)
	if err != nil {
		t.Fatal(err)
	}
	return g.Ledger("", 10, 5)
}

// A composition of compositions is the flat one; mixed sequences in parallel
// and then in sequence keep bounds in the right order.
func TestNestedTrees(t *testing.T) {
	p, b, g := built(t)(pureLedger("", 0.3, 2)), built(t)(boundedRangeLedger("", 0.2, 3)), leaf(t, 0.2, 4)
	flat := built(t)(Sequential("", p, b, g))
	nested := built(t)(Sequential("", built(t)(Sequential("", p, built(t)(Parallel("", b)))), g))
	if d, e := deltaOf(t, flat, 1), deltaOf(t, nested, 1); math.Abs(d/e-1) > 1e-12 {
		t.Errorf("flat %g, nested %g", d, e)
	}
	mixed := built(t)(Parallel("", flat, built(t)(Sequential("", p, g)), built(t)(pureLedger("", 0.4, 1))))
	if d, e := deltaOf(t, flat, 1), deltaOf(t, mixed, 1); d != e {
		t.Errorf("the largest branch has %g, the parallel node %g", d, e)
	}
	outer, want := built(t)(Sequential("", mixed, g)), built(t)(Sequential("", flat, g))
	fromAbove(t, "nested", epsilonOf(t, outer, 1e-6), epsilonOf(t, want, 1e-6)*(1-2e-5))
	twice := built(t)(Sequential("", mixed, mixed))
	fromAbove(t, "twice", epsilonOf(t, twice, 1e-6), epsilonOf(t, built(t)(Sequential("", flat, flat)), 1e-6)*(1-2e-5))
}

// Adding a part never lowers δ, up to the grids' errors.
func TestPartsOnlyAdd(t *testing.T) {
	parts := []*Ledger{
		built(t)(pureLedger("", 0.2, 1)), leaf(t, 0.3, 2), built(t)(boundedRangeLedger("", 0.5, 4)),
		built(t)(Parallel("", leaf(t, 0.4, 1), built(t)(pureLedger("", 0.3, 1)))),
		built(t)(pureLedger("", 1e-6, 1)), built(t)(boundedRangeLedger("", 0.02, 200)),
	}
	for _, x := range []float64{0, 0.3, 2} {
		var last float64
		for i := range parts {
			d := deltaOf(t, built(t)(Sequential("", parts[:i+1]...)), x)
			if d < last*(1-1e-3) {
				t.Errorf("part %d lowers δ(%g) from %g to %g", i, x, last, d)
			}
			last = d
		}
	}
}

// Extreme numbers give upper bounds that are still numbers.
func TestExtremeLedgers(t *testing.T) {
	const many = math.MaxInt >> 23
	for _, l := range []*Ledger{
		built(t)(pureLedger("", 1e-100, 1)), built(t)(pureLedger("", 1e100, many)), built(t)(pureLedger("", 1e-3, many)),
		built(t)(boundedRangeLedger("", 1e100, 3)), built(t)(boundedRangeLedger("", 1e-100, many)),
		built(t)(Sequential("", built(t)(pureLedger("", 700, 3)), leaf(t, 1e-6, 1))),
		built(t)(Sequential("", built(t)(pureLedger("", 1e-9, 3)), leaf(t, 300, 1))),
		built(t)(Sequential("", built(t)(pureLedger("", 1e50, 3)), leaf(t, 1e-50, 1))),
		built(t)(Sequential("", built(t)(pureLedger("", 1e-50, 3)), leaf(t, 1e50, 1))),
	} {
		for _, x := range []float64{0, 1e-300, 1, 1e300} {
			if d := deltaOf(t, l, x); !(d >= 0 && d <= 1) {
				t.Errorf("%v: δ(%g) = %g", l, x, d)
			}
		}
		for _, delta := range []float64{1e-300, 1e-40, 1e-6, 0.99} {
			e := epsilonOf(t, l, delta)
			if !(e >= 0) {
				t.Errorf("%v: ε(%g) = %g", l, delta, e)
			}
			if loss := l.profile.loss(); e > loss {
				t.Errorf("%v: ε(%g) = %g exceeds the largest loss %g", l, delta, e, loss)
			}
		}
	}
}

func BenchmarkMixedSequence(b *testing.B) {
	for b.Loop() {
		s := newSequence(gaussian{mu: 0.8}, part{pure{0.3}, 1}, part{pure{0.7}, 1}, part{pure{0.05}, 20}, part{boundedRange{0.2}, 5},
			part{boundedRange{1.1}, 1}, part{boundedRange{0.013}, 300}, part{pure{0.11}, 3}, part{pure{0.017}, 1})
		s.epsilon(1e-6)
	}
}

func BenchmarkStepsAndSelection(b *testing.B) {
	for b.Loop() {
		newSequence(gaussian{mu: 0.01 * math.Sqrt(500)}, part{pure{0.1}, 1}).epsilon(1e-6)
	}
}
