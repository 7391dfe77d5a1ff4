package mechanisms

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// Compositions that Google's dp-accounting computed, by privacy loss distributions rounded down and up: none of ours is below the
// former, and none above the latter by more than a thousandth (and a hundred-thousandth of itself, for our own grids), but where there are
// exponential mechanisms. Of these only the range of losses is known, and an adversary may choose where it lies anew at each release, by
// what was released before: ours are counted by what such a one gains. dp-accounting's all lie alike, which is less. dpaccounting.py says how
// they were made.
func TestDPAccounting(t *testing.T) {
	const chosen = 0.04 // of ε, which choosing is worth at most here
	data, err := os.ReadFile("../testdata/accounting/dpaccounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Ledger           *Ledger
		Delta, Low, High []float64
	}
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) != 150 {
		t.Fatalf("%d records", len(records))
	}
	kinds, priciest := map[Kind]int{}, 0.0
	for _, r := range records {
		ranges := false
		for _, part := range r.Ledger.children {
			kinds[part.node.Kind]++
			ranges = ranges || part.node.Kind == KindBoundedRange
		}
		for i, delta := range r.Delta {
			got := epsilonOf(t, r.Ledger, delta)
			if got < r.Low[i]*(1-1e-9) {
				t.Errorf("%v: ε(%g) = %g, and is at least %g", r.Ledger, delta, got, r.Low[i])
			}
			most := (r.High[i] + 1e-3) * (1 + 1e-5)
			if ranges {
				priciest = math.Max(priciest, got/r.High[i]-1)
				most *= 1 + chosen
			}
			if got > most {
				t.Errorf("%v: ε(%g) = %g, and is at most %g", r.Ledger, delta, got, r.High[i])
			}
		}
	}
	for _, kind := range []Kind{KindGaussian, KindLaplace, KindPure, KindBoundedRange} {
		if kinds[kind] < 40 {
			t.Errorf("%d parts are %s", kinds[kind], kind)
		}
	}
	t.Logf("exponential mechanisms cost up to %.1f %% of ε more than where all ranges lie alike", 100*priciest)
}
