package mechanisms

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func TestClaimPrints(t *testing.T) {
	fit := built(t)(calibrated(t, 1, 1e-6))
	for _, c := range []struct {
		l     *Ledger
		claim Claim
		want  []string
	}{
		{fit, Claim{Rows: 28155, Epsilon: 1, Delta: 1e-6}, []string{"(ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), n = 28,155"}},
		{fit, Claim{Rows: 100, Epsilon: 2, Delta: 1e-6}, []string{"(ε = 2, δ = 1e-06)-DP, unit: one row (replace-one), n = 100"}},
		{fit, Claim{Epsilon: 0.5, Delta: 1e-6}, []string{"(ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)", "NOTE: more than the (ε = 0.5, δ = 1e-06)-DP that it was planned for"}},
		{fit, Claim{Rows: 1000, Epsilon: 1, Delta: 1e-3}, []string{"(ε = 1, δ = 0.001)-DP, unit: one row (replace-one), n = 1,000", "NOTE: δ is no smaller than 1/n: may publish whole rows"}},
		{fit, Claim{Epsilon: 1e9, Delta: 1e-6}, []string{"(ε = 1e+09, δ = 1e-06)-DP, unit: one row (replace-one)", "NOTE: so large a budget promises next to nothing"}},
		{fit, Claim{Epsilon: 1e-6, Delta: 0.99}, []string{"(ε = 1e-06, δ = 0.99)-DP, unit: one row (replace-one)", "NOTE: ε is smaller than δ: were they swapped?"}},
		{leaf(t, 0.5, 1), Claim{Mu: 0.5}, []string{"0.5-GDP, unit: one row (replace-one)"}},
		{leaf(t, 0.5, 1), Claim{Mu: 0.25}, []string{"0.5-GDP, unit: one row (replace-one)", "NOTE: more than the 0.25-GDP that it was planned for"}},
		{built(t)(epsilonLedger(KindPure, "", 0.5, 2)), Claim{Epsilon: 1}, []string{"1-DP, unit: one row (replace-one)"}},
		{built(t)(epsilonLedger(KindPure, "", 0.5, 2)), Claim{Epsilon: 0.7}, []string{"1-DP, unit: one row (replace-one)", "NOTE: more than the 0.7-DP that it was planned for"}},
	} {
		l := ofRow(t)(c.l, nil).WithClaim(c.claim)
		want := strings.Join(c.want, "\n") + "\n" + c.l.String()
		if got := l.String(); got != want {
			t.Errorf("%+v prints as\n%s\nwant\n%s", c.claim, got, want)
		}
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var back Ledger
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if got, ok := back.Claim(); !ok || got != c.claim || back.String() != want {
			t.Errorf("%s decodes as %+v", data, got)
		}
	}
	if _, ok := fit.Claim(); ok {
		t.Error("a claim was added to the original")
	}
	for _, s := range []string{
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"claim":{"epsilon":-1}}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"claim":{"rows":-1}}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"claim":{"delta":1}}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"claim":{"sigma":1}}`,
		`{"kind":"pure","epsilon":1,"releases":1}`, `{"version":2,"kind":"pure","epsilon":1,"releases":1}`,
		`{"version":1,"kind":"pure","epsilon":1,"releases":1,"more":true}`,
		`{"version":1,"kind":"sequential","parts":[{"version":1,"kind":"pure","epsilon":1,"releases":1}]}`,
	} {
		if err := json.Unmarshal([]byte(s), new(Ledger)); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s gives %v", s, err)
		}
	}
}

// A nil or zero ledger, or accountant, is an error and never a panic.
func TestNothingIsAnError(t *testing.T) {
	for _, l := range []*Ledger{nil, {}} {
		for name, f := range map[string]func() error{
			"Delta":        func() error { _, err := l.Delta(1); return err },
			"Epsilon":      func() error { _, err := l.Epsilon(0.1); return err },
			"GroupDelta":   func() error { _, err := l.GroupDelta(2, 1); return err },
			"GroupEpsilon": func() error { _, err := l.GroupEpsilon(2, 0.1); return err },
			"Marshal":      func() error { _, err := l.MarshalJSON(); return err },
			"Sequential":   func() error { _, err := Sequential("", l); return err },
			"Parallel":     func() error { _, err := Parallel("", leaf(t, 1, 1), l); return err },
			"Spend":        func() error { return accountant(t, 1, 0.1).Spend(l) },
		} {
			if err := f(); !errors.Is(err, check.ErrModel) {
				t.Errorf("%s gives %v", name, err)
			}
		}
		if _, claims := l.WithClaim(Claim{}).WithCallerNoise().Claim(); claims && l == nil || l.Within(1e9, 0.9) || !math.IsInf(l.Mu(), 1) || l.CallerNoise() || l.String() != "empty ledger" {
			t.Errorf("%v is something", l)
		}
	}
	var a *Accountant
	if _, err := a.MarshalJSON(); err == nil || a.Spend(leaf(t, 1, 1)) == nil || a.UnmarshalJSON([]byte("{}")) == nil || (*Ledger)(nil).UnmarshalJSON([]byte("{}")) == nil {
		t.Error("nil accountants and ledgers are taken")
	}
	if a.Ledgers() != 0 || a.String() != "no accountant" {
		t.Errorf("a nil accountant prints as %v", a)
	}
}
