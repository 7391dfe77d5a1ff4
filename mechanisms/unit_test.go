package mechanisms

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// of states a ledger's unit.
func of(t *testing.T, u Unit, l *Ledger) *Ledger {
	t.Helper()
	return built(t)(l.WithUnit(u))
}

// Ledgers for different units, or of which one has none, don't add up, and the error names
// both units and parts.
func TestUnitsDontMix(t *testing.T) {
	row, person, none := of(t, OneRow(), leaf(t, 0.1, 1)), of(t, OnePerson(), leaf(t, 0.2, 1)), leaf(t, 0.3, 1)
	for _, c := range []struct {
		a, b  *Ledger
		words []string
	}{
		{row, person, []string{"one row (replace-one)", "one person (replace-one)", `part 1, "leaf"`, `part 2, "leaf"`}},
		{person, row, []string{"one row (replace-one)", "one person (replace-one)"}},
		{row, none, []string{"one row (replace-one)", "no stated unit"}},
		{none, person, []string{"no stated unit", "one person (replace-one)"}},
	} {
		for _, compose := range []func(string, ...*Ledger) (*Ledger, error){Sequential, Parallel} {
			l, err := compose("both", c.a, c.b)
			if !errors.Is(err, check.ErrConfig) {
				t.Errorf("%v + %v give %v, %v", c.a.Unit(), c.b.Unit(), l, err)
				continue
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%v lacks %q", err, w)
				}
			}
		}
		if c.a.Unit() == (Unit{}) {
			continue
		}
		a := built3(t)(NewAccountant(c.a.Unit(), 1, 1e-6))
		before := built2(t)(a.Remaining())
		err := a.Spend(c.b)
		if !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), c.a.Unit().String()) || !strings.Contains(err.Error(), c.b.Unit().String()) {
			t.Errorf("an accountant for %v takes %v: %v", c.a.Unit(), c.b.Unit(), err)
		}
		if after := built2(t)(a.Remaining()); after != before {
			t.Errorf("a refused ledger took %v to %v", before, after)
		}
		if err := a.Spend(c.a); err != nil {
			t.Error(err)
		}
	}
	if _, err := row.WithUnit(OnePerson()); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a row's ledger becomes a person's: %v", err)
	}
	for _, u := range []Unit{{}, {Row, ""}, {"", ReplaceOne}, {"household", ReplaceOne}, {Row, "add-remove"}} {
		if _, err := none.WithUnit(u); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%+v: %v", u, err)
		}
		if _, err := NewAccountant(u, 1, 0); !errors.Is(err, check.ErrConfig) {
			t.Errorf("an accountant for %+v: %v", u, err)
		}
	}
}

func built3(t *testing.T) func(*Accountant, error) *Accountant {
	return func(a *Accountant, err error) *Accountant {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// A sum says what it promises, to whom and, where it is the same for all, among how many. Of
// persons, how many rows count is no part of the promise, so that such ledgers add up.
func TestSumsPrintTheirUnit(t *testing.T) {
	fit := func(u Unit, c Claim) *Ledger { return of(t, u, built(t)(calibrated(t, 1, 1e-6))).WithClaim(c) }
	rows, fewer := Claim{Rows: 4000, Epsilon: 1, Delta: 1e-6}, Claim{Rows: 500, Epsilon: 1, Delta: 1e-7}
	five, ten, alike := rows, rows, rows
	five.PersonRows, ten.PersonRows, alike.PersonRows, alike.Alike = 5, 10, 5, true
	grouped := rows
	grouped.Group, grouped.Epsilon = 3, 4
	for _, c := range []struct {
		parts []*Ledger
		want  string
	}{
		{[]*Ledger{fit(OneRow(), rows), fit(OneRow(), rows)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one row (replace-one), n = 4,000"},
		{[]*Ledger{fit(OneRow(), rows), fit(OneRow(), fewer)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one row (replace-one)"},
		{[]*Ledger{fit(OnePerson(), five), fit(OnePerson(), five)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one person, of whom at most 5 rows count each (replace-one), n = 4,000, each row counts alike"},
		{[]*Ledger{fit(OnePerson(), alike), fit(OnePerson(), alike)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one person, of whom at most 5 rows count each (replace-one), n = 4,000, each person counts alike"},
		{[]*Ledger{fit(OnePerson(), five), fit(OnePerson(), alike)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one person (replace-one), n = 4,000"},
		{[]*Ledger{fit(OnePerson(), five), fit(OnePerson(), ten)}, "(ε = 1.45468, δ = 1e-06)-DP, unit: one person (replace-one), n = 4,000"},
		{[]*Ledger{fit(OneRow(), grouped), fit(OneRow(), grouped)}, "(ε = 4.91021, δ = 1e-06)-DP, unit: any 3 rows (replace-one), n = 4,000"},
		{[]*Ledger{of(t, OneRow(), leaf(t, 0.3, 1)), of(t, OneRow(), leaf(t, 0.4, 1))}, "0.5-GDP, unit: one row (replace-one)"},
		{[]*Ledger{fit(OneRow(), rows), of(t, OneRow(), leaf(t, 1e-9, 1))}, "(ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)"},
		{[]*Ledger{of(t, OnePerson(), built(t)(epsilonLedger(KindPure, "", 0.5, 2)))}, "1-DP, unit: one person (replace-one)"},
	} {
		sum := built(t)(Sequential("sum", c.parts...))
		if got, _, _ := strings.Cut(sum.String(), "\n"); got != c.want {
			t.Errorf("prints %q, want %q", got, c.want)
		}
		data, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		var back Ledger
		if err := json.Unmarshal(data, &back); err != nil || back.String() != sum.String() || back.Unit() != sum.Unit() {
			t.Errorf("%s decodes as %v (%v)", data, &back, err)
		}
	}
}

// A ledger's unit is decoded only if it is known, and that of its parts.
func TestUnitsInJSON(t *testing.T) {
	const row, person = `"unit":{"of":"row","neighbours":"replace-one"},`, `"unit":{"of":"person","neighbours":"replace-one"},`
	leaf := func(unit string) string { return `{` + unit + `"kind":"pure","epsilon":1,"releases":1}` }
	sum := func(unit string, parts ...string) string {
		return `{"version":1,` + unit + `"kind":"sequential","parts":[` + strings.Join(parts, ",") + `]}`
	}
	for _, s := range []string{sum("", leaf("")), sum(row, leaf("")), sum(row, leaf(row)), sum(person, leaf(person), leaf(person))} {
		if err := json.Unmarshal([]byte(s), new(Ledger)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{
		sum("", leaf(row)), sum(row, leaf(person)), sum(row, leaf(row), leaf(person)), sum(person, leaf(person), leaf("")),
		sum(`"unit":{},`, leaf("")), sum(`"unit":{"of":"row"},`, leaf("")), sum(`"unit":{"of":"row","neighbours":"add-remove"},`, leaf("")),
		sum(`"unit":{"of":"household","neighbours":"replace-one"},`, leaf("")), sum(`"unit":"row (replace-one)",`, leaf("")),
		sum(row+`"claim":{"person_rows":5},`, leaf("")), sum(person+`"claim":{"person_rows":-5},`, leaf("")), sum(`"claim":{"person_rows":5},`, leaf("")),
		sum(`"claim":{"unit":"person"},`, leaf("")),
	} {
		if err := json.Unmarshal([]byte(s), new(Ledger)); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s gives %v", s, err)
		}
	}
}
