package mechanisms

import (
	"encoding/json"
	"math"
	"os"
	"slices"
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
// its command is in the header of reference.py. Several releases of a bounded range are composed there: an adversary gains less,
// which internal/accounting has tests of.
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
	composed := 0
	for _, r := range records {
		if severalRanges(r.Ledger) {
			composed++
			if got := epsilonOf(t, r.Ledger, r.Delta); got > r.Epsilon*(1+1e-4) || got < r.Epsilon/2 {
				t.Errorf("%v: %g, and %g where they are composed", r.Ledger, got, r.Epsilon)
			}
			continue
		}
		fromAbove(t, r.Ledger.String(), epsilonOf(t, r.Ledger, r.Delta), r.Epsilon)
		// The same grids, entered from the other side.
		if d := deltaOf(t, r.Ledger, r.Epsilon); d < r.Delta*(1-1e-8) || d > r.Delta*1.02 {
			t.Errorf("%v: δ(%g) = %g, want %g", r.Ledger, r.Epsilon, d, r.Delta)
		}
	}
	if left := len(records) - composed; left < 30 {
		t.Errorf("%d records without several ranges", left)
	}
}

// severalRanges reports whether a ledger has several releases of a bounded range on the same rows.
func severalRanges(l *Ledger) bool {
	if l.node.Kind == KindBoundedRange && l.node.Releases > 1 {
		return true
	}
	return slices.ContainsFunc(l.children, severalRanges)
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
	p, b, g := built(t)(epsilonLedger(KindPure, "", 0.3, 2)), built(t)(epsilonLedger(KindBoundedRange, "", 0.2, 3)), leaf(t, 0.2, 4)
	flat := built(t)(Sequential("", p, b, g))
	nested := built(t)(Sequential("", built(t)(Sequential("", p, built(t)(Parallel("", b)))), g))
	if d, e := deltaOf(t, flat, 1), deltaOf(t, nested, 1); math.Abs(d/e-1) > 1e-12 {
		t.Errorf("flat %g, nested %g", d, e)
	}
	mixed := built(t)(Parallel("", flat, built(t)(Sequential("", p, g)), built(t)(epsilonLedger(KindPure, "", 0.4, 1))))
	if d, e := deltaOf(t, flat, 1), deltaOf(t, mixed, 1); d != e {
		t.Errorf("the largest branch has %g, the parallel node %g", d, e)
	}
	outer, want := built(t)(Sequential("", mixed, g)), built(t)(Sequential("", flat, g))
	fromAbove(t, "nested", epsilonOf(t, outer, 1e-6), epsilonOf(t, want, 1e-6)*(1-2e-5))
	twice := built(t)(Sequential("", mixed, mixed))
	// Six ranges come to less than twice three.
	if got, want := epsilonOf(t, twice, 1e-6), epsilonOf(t, built(t)(Sequential("", flat, flat)), 1e-6); got < want*(1-2e-5) || got > want*1.01 {
		t.Errorf("twice: %g, want %g or little more", got, want)
	}
}

// Adding a part never lowers δ, up to the grids' errors.
func TestPartsOnlyAdd(t *testing.T) {
	parts := []*Ledger{
		built(t)(epsilonLedger(KindPure, "", 0.2, 1)), leaf(t, 0.3, 2), built(t)(epsilonLedger(KindBoundedRange, "", 0.5, 4)),
		built(t)(Parallel("", leaf(t, 0.4, 1), built(t)(epsilonLedger(KindPure, "", 0.3, 1)))),
		built(t)(epsilonLedger(KindPure, "", 1e-6, 1)), built(t)(epsilonLedger(KindBoundedRange, "", 0.02, 200)),
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

// fromAbove fails unless got exceeds want by at most 1e-4 of it.
func fromAbove(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want*(1-1e-11) || got > want*(1+1e-4) {
		t.Errorf("%s: %.12g, want %.12g to 1e-4 from above (off by %.2g)", what, got, want, got/want-1)
	}
}
