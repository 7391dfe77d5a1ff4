package mechanisms

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/check"
)

func accountant(t *testing.T, epsilon, delta float64) *Accountant {
	t.Helper()
	a, err := NewAccountant(OneRow(), epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ofRow is built for a ledger of one row.
func ofRow(t *testing.T) func(*Ledger, error) *Ledger {
	return func(l *Ledger, err error) *Ledger {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return built(t)(l.WithUnit(OneRow()))
	}
}

func rowLeaf(t *testing.T, mu float64, releases int) *Ledger {
	t.Helper()
	return ofRow(t)(leaf(t, mu, releases), nil)
}

// Two fits of (1, 1e-6) are less than (2, 2e-6) together, and a third is too
// much; a refused one leaves no trace.
func TestAccountantRefusesBeyondItsTotal(t *testing.T) {
	fit := ofRow(t)(calibrated(t, 1, 1e-6))
	a := accountant(t, 1.5, 1e-6)
	if a.Ledgers() != 0 {
		t.Error("something was spent at the start")
	}
	for range 2 {
		if err := a.Spend(fit); err != nil {
			t.Fatal(err)
		}
	}
	before := built2(t)(a.Remaining())
	err := a.Spend(fit)
	if !errors.Is(err, check.ErrBudget) || !strings.Contains(err.Error(), "ε = 1.5, δ = 1e-06") {
		t.Errorf("a third fit gives %v", err)
	}
	if after := built2(t)(a.Remaining()); after != before || a.Ledgers() != 2 {
		t.Errorf("%v left before the refusal, %v after, of %d ledgers", before, after, a.Ledgers())
	}
	if err := a.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.001, 1))); err != nil {
		t.Errorf("a small release after a refusal gives %v", err)
	}
}

// A fit that was calibrated to the whole budget fits into it.
func TestAccountantTakesTheWholeBudget(t *testing.T) {
	for _, c := range [][2]float64{{0.01, 1e-9}, {1, 1e-6}, {3, 1e-5}, {20, 1e-12}} {
		a := accountant(t, c[0], c[1])
		fit := ofRow(t)(calibrated(t, c[0], c[1]))
		selection := ofRow(t)(epsilonLedger(KindPure, "", c[0], 1))
		if err := a.Spend(ofRow(t)(Parallel("", fit, selection))); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if err := a.Spend(ofRow(t)(epsilonLedger(KindPure, "", 1e-3, 1))); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v: more than the whole gives %v", c, err)
		}
		// What Epsilon says is spent can be spent.
		mixed := ofRow(t)(Sequential("", fit, selection))
		if err := accountant(t, epsilonOf(t, mixed, c[1]), c[1]).Spend(mixed); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
	a := accountant(t, 1, 0)
	for range 4 {
		if err := a.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.25, 1))); err != nil {
			t.Error(err)
		}
	}
	if err := a.Spend(rowLeaf(t, 1e-6, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("Gaussian noise under δ = 0 gives %v", err)
	}
}

// Checking and adding are one step. The check composes numerically and takes
// milliseconds, so that, were they two, those who spend at once would all pass it; only
// one of them fits.
func TestSpendingIsOneStep(t *testing.T) {
	for round := range sample.Of(1, 3) {
		mixed := ofRow(t)(Sequential("", rowLeaf(t, 0.2+0.001*float64(round), 1), ofRow(t)(epsilonLedger(KindBoundedRange, "", 0.01, 1000))))
		a := accountant(t, epsilonOf(t, mixed, 1e-6)*1.05, 1e-6)
		start := make(chan struct{})
		var wg sync.WaitGroup
		var accepted atomic.Int64
		for range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				if a.Spend(mixed) == nil {
					accepted.Add(1)
				}
			}()
		}
		close(start)
		wg.Wait()
		if n := accepted.Load(); n != 1 || a.Ledgers() != 1 {
			t.Fatalf("%d of 16 were accepted where one fits", n)
		}
	}
}

func TestAccountantPrints(t *testing.T) {
	a := accountant(t, 1, 1e-6)
	if s := fmt.Sprintf("%v|%s|%#v", a, a, a); s != strings.Repeat("nothing spent of (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)|", 2)+"nothing spent of (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)" {
		t.Error(s)
	}
	if err := a.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.25, 1))); err != nil {
		t.Fatal(err)
	}
	if s := a.String(); s != "0.1812-GDP or 0.75-DP left of (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), after 1 ledger" {
		t.Error(s)
	}
}

// Under δ = 0 nothing Gaussian fits, though its δ may be too small for a float64.
func TestNoGaussianUnderPureTotals(t *testing.T) {
	for _, l := range []*Ledger{rowLeaf(t, 1e-3, 1), ofRow(t)(Sequential("", rowLeaf(t, 1e-3, 1), ofRow(t)(epsilonLedger(KindPure, "", 1, 2)))), ofRow(t)(Parallel("", rowLeaf(t, 1e-3, 1), ofRow(t)(epsilonLedger(KindPure, "", 1, 2))))} {
		if l.Within(1e6, 0) {
			t.Errorf("%v: within (1e6, 0)-DP", l)
		}
		if err := accountant(t, 1e6, 0).Spend(l); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v: %v", l, err)
		}
	}
}

func TestAccountantJSON(t *testing.T) {
	a := accountant(t, 2, 1e-6)
	if err := a.Spend(ofRow(t)(Parallel("", rowLeaf(t, 0.2, 3), ofRow(t)(epsilonLedger(KindBoundedRange, "", 0.5, 2))))); err != nil {
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
	if back.String() != a.String() || built2(t)(back.Remaining()) != built2(t)(a.Remaining()) || back.Ledgers() != 1 {
		t.Errorf("round trip gives\n%v\nwant\n%v", &back, a)
	}
	if err := back.Spend(rowLeaf(t, 1, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("the decoded accountant gives %v", err)
	}
	for _, s := range []string{
		`{}`,
		`{"version":1}`,
		`{"version":1,"epsilon":1,"delta":0}`,
		`{"version":1,"unit":{"of":"household","neighbours":"replace-one"},"epsilon":1,"delta":0}`,
		`{"version":1,"unit":{"of":"row","neighbours":"add-remove"},"epsilon":1,"delta":0}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":0,"more":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":0,"mu":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":-1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"group":-1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":0,"group":-1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":-1,"delta":0.1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":1.1},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":-0.1},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0.1},"ledgers":0}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"ledgers":-1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0,"reserve":{"mu":0.25,"coordinates":100,"spent_mu":0.1,"spent_coordinates":1,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0,"reserve":{"mu":0.2,"coordinates":100,"spent_mu":0.21,"spent_coordinates":1,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0,"reserve":{"mu":0.2,"coordinates":100,"spent_mu":0.1,"spent_coordinates":101,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0.2,"reserve":{"mu":0.2,"coordinates":100,"spent_mu":0.1,"spent_coordinates":10,"ledgers":1}},"ledgers":2}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0,"reserve":{"mu":0.2,"coordinates":1e30,"spent_mu":0.1,"spent_coordinates":1,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":1e-6,"spent":{"epsilon":0,"reserve":{"mu":0.2,"coordinates":100,"spent_mu":0.1,"spent_coordinates":1,"ledgers":2}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":1,"delta":0,"spent":{"epsilon":0,"reserve":{"mu":0.2,"coordinates":100,"spent_mu":0.1,"spent_coordinates":1,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1,"beside":true}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1.1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":0.9,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0},"ledgers":0}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":1.1,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":101,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":-0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":-1,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":-1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":2}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":0}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":17179869185,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
	} {
		if err := json.Unmarshal([]byte(s), &back); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s gives %v", s, err)
		}
	}
	if back.Ledgers() != 1 {
		t.Error("a failed decoding emptied the accountant")
	}
	for _, s := range []string{
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":1,"spent_coordinates":100,"ledgers":1}},"ledgers":1}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":100,"spent_mu":0,"spent_coordinates":0,"ledgers":0}},"ledgers":0}`,
		`{"version":1,"unit":{"of":"row","neighbours":"replace-one"},"epsilon":0,"delta":0,"mu":1,"spent":{"epsilon":0,"reserve":{"mu":1,"coordinates":17179869184,"spent_mu":0.5,"spent_coordinates":10,"ledgers":1}},"ledgers":1}`,
	} {
		if err := json.Unmarshal([]byte(s), new(Accountant)); err != nil {
			t.Errorf("%s gives %v", s, err)
		}
	}
}

func TestAccountantArguments(t *testing.T) {
	for _, c := range [][2]float64{{0, 0.1}, {-1, 0}, {1, 1}, {1, -0.1}} {
		if _, err := NewAccountant(OneRow(), c[0], c[1]); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v gives %v", c, err)
		}
	}
	if err := accountant(t, 1, 0).Spend(nil); !errors.Is(err, check.ErrModel) {
		t.Errorf("no ledger gives %v", err)
	}
	if err := new(Accountant).Spend(rowLeaf(t, 1e-9, 1)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("the zero accountant gives %v", err)
	}
}
