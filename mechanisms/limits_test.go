package mechanisms

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// A ledger has so many nodes and different parts, nested so deep, and no more.
func TestLedgersHaveALargestSize(t *testing.T) {
	one := leaf(t, 0.01, 1)
	parts := make([]*Ledger, 8193)
	for i := range parts {
		parts[i] = one
	}
	for n, taken := range map[int]bool{8192: true, 8193: false} {
		if l, err := Sequential("all", parts[:n]...); (err == nil) != taken || err != nil && !errors.Is(err, check.ErrModel) {
			t.Errorf("%d nodes: %v", n, err)
		} else if taken && l.size != n+1 {
			t.Errorf("%d nodes in one have the size %d", n, l.size)
		}
	}
	// A part of another kind than Gaussian noise is one more beside its node, for each node above it.
	pure := built(t)(epsilonLedger(KindPure, "", 0.5, 1))
	if both := built(t)(Sequential("both", one, pure)); pure.size != 2 || both.size != 1+2+1+1 {
		t.Errorf("a pure part has the size %d, and beside a Gaussian one %d", pure.size, both.size)
	}
	deep := one
	for depth := 1; depth <= 101; depth++ {
		l, err := Sequential("nested", deep)
		if taken := depth <= 100; (err == nil) != taken || err != nil && !errors.Is(err, check.ErrModel) {
			t.Fatalf("%d deep: %v", depth, err)
		}
		deep = l
	}
}

// What is given back is no more than was taken: of each kind of charge a little more is refused, and changes nothing.
func TestChargesAreThoseThatWereTaken(t *testing.T) {
	const more = 1 + 1e-12
	pure, noise := ofRow(t)(epsilonLedger(KindPure, "", 0.25, 1)), rowLeaf(t, 0.2, 3)
	for name, c := range map[string]struct {
		take []*Ledger
		more func(c Charge) []Charge
	}{
		"ε": {[]*Ledger{pure}, func(c Charge) []Charge { return []Charge{{Epsilon: c.Epsilon * more}, {Mu: 1e-9}, {Whole: true}} }},
		"μ": {[]*Ledger{noise}, func(c Charge) []Charge {
			return []Charge{{Mu: c.Mu * more, Coordinates: c.Coordinates}, {Mu: c.Mu, Coordinates: c.Coordinates + 1}, {Epsilon: 1e-9}, {Whole: true}}
		}},
		"all": {[]*Ledger{ofRow(t)(epsilonLedger(KindPure, "", 0.05, 100))}, func(Charge) []Charge { return []Charge{{Mu: 1e-9}, {Epsilon: 1e-9}} }},
	} {
		a := accountant(t, 2, 1e-3)
		var last Charge
		for _, l := range c.take {
			var err error
			if last, err = a.Charge(l); err != nil {
				t.Fatal(err)
			}
		}
		before := a.String()
		for _, wrong := range c.more(last) {
			if err := a.GiveBack(wrong); !errors.Is(err, check.ErrConfig) || a.String() != before {
				t.Errorf("%s: %+v of %+v: %v", name, wrong, last, err)
			}
		}
		if err := a.GiveBack(last); err != nil || a.Ledgers() != 0 {
			t.Errorf("%s: %+v: %v, %v", name, last, err, a)
		}
	}
}

// A ledger for one row more or less says what it is where a row is replaced: what it is for two, by the kind of its claim.
func TestClaimsAreReplaced(t *testing.T) {
	noise, pure := leaf(t, 0.5, 1), built(t)(epsilonLedger(KindPure, "", 0.5, 2))
	epsilon, err := leaf(t, 1, 1).Epsilon(1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		l     *Ledger
		claim Claim
		want  Claim
	}{
		{noise, Claim{Mu: 0.5}, Claim{Mu: 1}},
		{noise, Claim{Mu: 0.5, Group: 2}, Claim{Mu: 2}},
		{noise, Claim{Epsilon: 2, Delta: 1e-6}, Claim{Epsilon: epsilon, Delta: 1e-6}},
		{pure, Claim{Epsilon: 1}, Claim{Epsilon: 2}},
	} {
		l := built(t)(c.l.WithUnit(Unit{Of: Row, Neighbours: AddRemove})).WithClaim(c.claim)
		line, _, _ := strings.Cut(l.String(), "\n")
		if _, replaced, _ := strings.Cut(line, "; as replace-one at most "); replaced != c.want.budget() {
			t.Errorf("%+v is printed as %q, want at most %s", c.claim, line, c.want.budget())
		}
	}
}

// An accountant tells what it was made with; none, and one that wasn't made, have nothing and take nothing back.
func TestAccountantsTellTheirTotal(t *testing.T) {
	a, err := NewGroupAccountant(OneRow(), 3, 2, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	if unit, group, epsilon, delta := a.Total(); unit != OneRow() || group != 3 || epsilon != 2 || delta != 1e-3 {
		t.Error(unit, group, epsilon, delta)
	}
	var none *Accountant
	if unit, group, epsilon, delta := none.Total(); unit != (Unit{}) || group != 0 || epsilon != 0 || delta != 0 {
		t.Error(unit, group, epsilon, delta)
	}
	if err := none.GiveBack(Charge{Epsilon: 1}); !errors.Is(err, check.ErrConfig) {
		t.Error(err)
	}
	empty := new(Accountant)
	if err := empty.GiveBack(Charge{Epsilon: 1}); !errors.Is(err, check.ErrBudget) || empty.String() != "empty accountant" {
		t.Error(err, empty)
	}
	if _, err := empty.MarshalJSON(); !errors.Is(err, check.ErrBudget) {
		t.Error(err)
	}
}

// Whatever is asked of an accountant, and refused or not, it answers the next one.
func TestAccountantsStayFree(t *testing.T) {
	ledger := rowLeaf(t, 0.01, 1)
	for name, a := range map[string]*Accountant{"made": accountant(t, 1, 1e-6), "zero": new(Accountant)} {
		kept, err := accountant(t, 1, 1e-6).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]any{{ledger, Charge{Mu: 0.01, Coordinates: 10}, kept, 1.0}, {(*Ledger)(nil), Charge{}, []byte("{}"), 0.0}} {
			of := map[reflect.Type]reflect.Value{}
			for _, v := range args {
				of[reflect.TypeOf(v)] = reflect.ValueOf(v)
			}
			for k := range reflect.TypeOf(a).NumMethod() {
				m := reflect.ValueOf(a).Method(k)
				var in []reflect.Value
				for j := range m.Type().NumIn() {
					p := m.Type().In(j)
					if m.Type().IsVariadic() && j == m.Type().NumIn()-1 {
						p = p.Elem()
					}
					v, ok := of[p]
					if !ok {
						t.Fatalf("%s takes a %v", reflect.TypeOf(a).Method(k).Name, p)
					}
					in = append(in, v)
				}
				m.Call(in)
				if !a.lock.TryLock() {
					t.Fatalf("%s: %s keeps the lock", name, reflect.TypeOf(a).Method(k).Name)
				}
				a.lock.Unlock()
			}
		}
	}
}
