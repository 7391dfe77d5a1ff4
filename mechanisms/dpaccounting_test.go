package mechanisms

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
)

// Compositions that Google's dp-accounting computed, by privacy loss distributions rounded down and up: no ε and no δ of ours is below the
// former, and no ε above the latter by more than a thousandth (and a hundred-thousandth of itself, for our own grids), nor a δ above that of so
// much less ε; but where there are exponential mechanisms. Of these only the range of losses is known, and an adversary may choose where it lies anew
// at each release, by what was released before: ours are counted by what such a one gains. dp-accounting's all lie alike, which is less, of δ by up to a fifth.
// dpaccounting.py says how they were made.
func TestDPAccounting(t *testing.T) {
	data, err := os.ReadFile("../testdata/accounting/dpaccounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var records []*outside
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	if len(records) != 160 {
		t.Fatalf("%d records", len(records))
	}
	kinds, priciest := map[Kind]int{}, 0.0
	for i, r := range records {
		r.count(r.Ledger, kinds)
		if i%5 > 0 && !sample.All() {
			continue
		}
		r.hold(t)
		for i, delta := range r.Delta {
			if r.ranges {
				priciest = math.Max(priciest, epsilonOf(t, r.Ledger, delta)/r.High[i]-1)
			}
		}
	}
	for kind, least := range map[Kind]int{KindGaussian: 40, KindLaplace: 40, KindPure: 40, KindBoundedRange: 40, KindParallel: 10} {
		if kinds[kind] < least {
			t.Errorf("%d parts are %s", kinds[kind], kind)
		}
	}
	t.Logf("exponential mechanisms cost up to %.1f %% of ε more than where all ranges lie alike", 100*priciest)
}

// outside is a record of dpaccounting.json.
type outside struct {
	Ledger           *Ledger
	Delta, Low, High []float64 // bounds on ε at each δ
	Epsilon          []float64
	Least, Most      []float64 // bounds on δ at each ε
	ranges           bool      // whether there are exponential mechanisms
}

// count adds a ledger's kinds.
func (r *outside) count(l *Ledger, kinds map[Kind]int) {
	kinds[l.node.Kind]++
	r.ranges = r.ranges || l.node.Kind == KindBoundedRange
	for _, part := range l.children {
		r.count(part, kinds)
	}
}

// most is what is tolerated beside an ε of dp-accounting's.
func (r *outside) most(epsilon float64) float64 {
	const chosen = 0.04 // of ε, which choosing is worth at most here
	epsilon = (epsilon + 1e-3) * (1 + 1e-5)
	if r.ranges {
		epsilon *= 1 + chosen
	}
	return epsilon
}

func (r *outside) hold(t *testing.T) {
	t.Helper()
	const rounding = 1e-13 // of sums of probabilities
	for i, delta := range r.Delta {
		got := epsilonOf(t, r.Ledger, delta)
		if got < r.Low[i]*(1-1e-9) {
			t.Errorf("%v: ε(%g) = %g, and is at least %g", r.Ledger, delta, got, r.Low[i])
		}
		if got > r.most(r.High[i]) {
			t.Errorf("%v: ε(%g) = %g, and is at most %g", r.Ledger, delta, got, r.High[i])
		}
	}
	for i, epsilon := range r.Epsilon {
		if got := deltaOf(t, r.Ledger, epsilon); got < r.Least[i]*(1-1e-9)-rounding {
			t.Errorf("%v: δ(%g) = %g, and is at least %g", r.Ledger, epsilon, got, r.Least[i])
		}
		more, most := r.most(epsilon), r.Most[i]+rounding
		if r.ranges { // choosing is worth something at ε = 0, too
			most *= 1.2
		}
		if got := deltaOf(t, r.Ledger, more); got > most {
			t.Errorf("%v: δ(%g) = %g, and δ(%g) is at most %g", r.Ledger, more, got, epsilon, r.Most[i])
		}
	}
}
