package mechanisms

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func accountant(t *testing.T, epsilon, delta float64) *Accountant {
	t.Helper()
	a, err := NewAccountant(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Two fits of (1, 1e-6) are less than (2, 2e-6) together, and a third is too
// much; a refused one leaves no trace.
func TestAccountantRefusesBeyondItsTotal(t *testing.T) {
	fit := built(t)(calibrated(t, 1, 1e-6))
	a := accountant(t, 1.5, 1e-6)
	if a.Spent() != nil {
		t.Error("something was spent at the start")
	}
	for range 2 {
		if err := a.Spend(fit); err != nil {
			t.Fatal(err)
		}
	}
	before := epsilonOf(t, a.Spent(), 1e-6)
	err := a.Spend(fit)
	if !errors.Is(err, check.ErrBudget) || !strings.Contains(err.Error(), "ε = 1.5, δ = 1e-06") {
		t.Errorf("a third fit gives %v", err)
	}
	if after := epsilonOf(t, a.Spent(), 1e-6); after != before || after > 1.5 {
		t.Errorf("spent %g before the refusal, %g after", before, after)
	}
	if err := a.Spend(built(t)(pureLedger("", 0.001, 1))); err != nil {
		t.Errorf("a small release after a refusal gives %v", err)
	}
}

// A fit that was calibrated to the whole budget fits into it.
func TestAccountantTakesTheWholeBudget(t *testing.T) {
	for _, c := range [][2]float64{{0.01, 1e-9}, {1, 1e-6}, {3, 1e-5}, {20, 1e-12}} {
		a := accountant(t, c[0], c[1])
		fit := built(t)(calibrated(t, c[0], c[1]))
		selection := built(t)(pureLedger("", c[0], 1))
		if err := a.Spend(built(t)(Parallel("", fit, selection))); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if err := a.Spend(built(t)(pureLedger("", 1e-3, 1))); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v: more than the whole gives %v", c, err)
		}
		// What Epsilon says is spent can be spent.
		mixed := built(t)(Sequential("", fit, selection))
		if err := accountant(t, epsilonOf(t, mixed, c[1]), c[1]).Spend(mixed); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
	a := accountant(t, 1, 0)
	for range 4 {
		if err := a.Spend(built(t)(pureLedger("", 0.25, 1))); err != nil {
			t.Error(err)
		}
	}
	if err := a.Spend(leaf(t, 1e-6, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("Gaussian noise under δ = 0 gives %v", err)
	}
}

func TestAccountantIsSafeForConcurrentUse(t *testing.T) {
	a := accountant(t, 1, 0)
	l := built(t)(pureLedger("", 1.0/16, 1))
	var wg sync.WaitGroup
	var lock sync.Mutex
	accepted := 0
	for range 40 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if a.Spend(l) == nil {
				lock.Lock()
				accepted++
				lock.Unlock()
			}
			a.Spent()
		}()
	}
	wg.Wait()
	if accepted != 16 {
		t.Errorf("%d of 40 sixteenths were accepted", accepted)
	}
}

func TestAccountantJSON(t *testing.T) {
	a := accountant(t, 2, 1e-6)
	if err := a.Spend(built(t)(Parallel("", leaf(t, 0.2, 3), built(t)(boundedRangeLedger("", 0.5, 2))))); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Accountant
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.Spent().String() != a.Spent().String() {
		t.Errorf("round trip gives\n%v\nwant\n%v", back.Spent(), a.Spent())
	}
	if err := back.Spend(leaf(t, 1, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("the decoded accountant gives %v", err)
	}
	for _, s := range []string{
		`{}`, `{"version":1}`, `{"epsilon":1,"delta":0}`, `{"version":2,"epsilon":1,"delta":0}`, `{"version":1,"epsilon":1,"delta":0,"more":1}`, `{"version":1,"epsilon":-1,"delta":0.1}`, `{"version":1,"epsilon":1,"delta":1}`, `{"version":1,"epsilon":1,"delta":1e-6,"spent":{}}`,
		`{"version":1,"epsilon":1,"delta":1e-6,"spent":{"version":1,"kind":"pure","epsilon":0.1,"releases":1}}`,
		`{"version":1,"epsilon":1,"delta":1e-6,"spent":{"version":1,"kind":"sequential","parts":[{"kind":"pure","epsilon":2,"releases":1}]}}`,
	} {
		if err := json.Unmarshal([]byte(s), &back); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s gives %v", s, err)
		}
	}
	if back.Spent() == nil {
		t.Error("a failed decoding emptied the accountant")
	}
}

func TestAccountantArguments(t *testing.T) {
	for _, c := range [][2]float64{{0, 0.1}, {-1, 0}, {1, 1}, {1, -0.1}} {
		if _, err := NewAccountant(c[0], c[1]); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v gives %v", c, err)
		}
	}
	if err := accountant(t, 1, 0).Spend(nil); !errors.Is(err, check.ErrModel) {
		t.Errorf("no ledger gives %v", err)
	}
	if err := new(Accountant).Spend(leaf(t, 1e-9, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("the zero accountant gives %v", err)
	}
}
