package mechanisms

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// mixture has parts of all kinds, some of them equal, some in branches.
func mixture(t *testing.T) *Ledger {
	t.Helper()
	must := built(t)
	objective := must(ObjectivePerturbation{Ratio: 0.1, LogDet: 0.05, OutputMu: 0.2}.Ledger("objective", 3))
	parallel := must(Parallel("folds", leaf(t, 0.1, 2), must(epsilonLedger(KindPure, "pure", 0.2, 1))))
	return must(Sequential("all",
		leaf(t, 0.02, 7),
		must(epsilonLedger(KindBoundedRange, "range", 0.01, 5)), objective, parallel,
		must(Sequential("again", parallel, must(epsilonLedger(KindBoundedRange, "another label", 0.01, 5)), leaf(t, 0.03, 1))),
	)).WithClaim(Claim{Rows: 10})
}

// A condensed ledger costs as much, for one row and for groups, and condensing it again
// changes nothing but the last digits of its μ.
func TestCondensedLedgersCostTheSame(t *testing.T) {
	must := built(t)
	for name, l := range map[string]*Ledger{
		"gaussian": must(Sequential("", leaf(t, 0.02, 7), leaf(t, 0.03, 2))),
		"pure":     must(Sequential("", must(epsilonLedger(KindPure, "a", 0.1, 2)), must(epsilonLedger(KindPure, "b", 0.1, 2)), must(epsilonLedger(KindPure, "", 0.3, 1)))),
		"mixture":  mixture(t),
	} {
		c := must(l.Condensed())
		again := must(c.Condensed())
		for _, group := range []int{1, 3} {
			want, err := l.GroupEpsilon(group, 1e-6)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []*Ledger{c, again} {
				if got, err := of.GroupEpsilon(group, 1e-6); err != nil || math.Abs(got/want-1) > 1e-4 || name != "mixture" && got < want {
					t.Errorf("%s, groups of %d: ε = %v, want %v (%v)", name, group, got, want, err)
				}
			}
		}
		if got, want := c.Mu(), l.Mu(); !(got >= want*(1-1e-14)) || got > want*(1+1e-13) {
			t.Errorf("%s: μ = %v, want %v", name, got, want)
		}
		if strings.Count(again.String(), "\n") != strings.Count(c.String(), "\n") {
			t.Errorf("%s: condensed twice\n%v\nonce\n%v", name, again, c)
		}
		if data, err := json.Marshal(c); err != nil || json.Unmarshal(data, new(Ledger)) != nil || strings.Contains(string(data), "label") {
			t.Errorf("%s: %s (%v)", name, data, err)
		}
	}
}

// The sum of a thousand ledgers is as long as that of ten but for digits, and is what all
// of them cost: μ² adds up, coordinates do, and other parts are counted.
func TestCondensedSumsDontGrow(t *testing.T) {
	must := built(t)
	l := mixture(t)
	var sum *Ledger
	var length int
	for i := range 1000 {
		parts := []*Ledger{l}
		if sum != nil {
			parts = []*Ledger{sum, l}
		}
		sum = must(must(Sequential("", parts...)).Condensed())
		if data, err := json.Marshal(sum); err != nil || i == 9 {
			length = len(data)
		} else if i > 9 && len(data) > length+40 {
			t.Fatalf("%d ledgers take %d bytes, 10 take %d", i+1, len(data), length)
		}
	}
	mu, coordinates := sum.profile.Noise()
	once, of := l.profile.Noise()
	if want := once * math.Sqrt(1000); mu < want*(1-1e-12) || mu > want*(1+1e-11) || math.Round(coordinates) != math.Round(1000*of) || coordinates < 1000*of*(1-1e-12) {
		t.Errorf("μ = %v, %v coordinates, want %v and %v", mu, coordinates, want, 1000*of)
	}
	if got, want := sum.profile.Copies(), 1000*l.profile.Copies(); got != want {
		t.Errorf("%d copies, want %d", got, want)
	}
	if !strings.Contains(sum.String(), ": 2000 × this") {
		t.Errorf("it prints as\n%v", sum)
	}
}

// Repeated nodes are those that Condensed makes, and counts can't overflow.
func TestRepeatedNodes(t *testing.T) {
	pure := `{"kind":"pure","epsilon":1e-9,"releases":%d}`
	node := `{"version":1,"kind":"%s","releases":%d,"parts":[%s]}`
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{fmt.Sprintf(node, "sequential", 2, fmt.Sprintf(pure, 3)), true},
		{fmt.Sprintf(node, "sequential", 1<<20, fmt.Sprintf(pure, 1<<20)), true},
		{fmt.Sprintf(node, "sequential", 1<<20, fmt.Sprintf(pure, 1<<20+1)), false},
		{fmt.Sprintf(node, "sequential", 1, fmt.Sprintf(pure, 3)), false},
		{fmt.Sprintf(node, "sequential", -2, fmt.Sprintf(pure, 3)), false},
		{fmt.Sprintf(node, "sequential", 1<<40+1, fmt.Sprintf(pure, 1)), false},
		{fmt.Sprintf(node, "parallel", 2, fmt.Sprintf(pure, 3)), false},
		{fmt.Sprintf(node, "sequential", 2, strings.Join(slices.Repeat([]string{fmt.Sprintf(pure, 3)}, 2), ",")), false},
		{fmt.Sprintf(node, "sequential", 2, `{"kind":"sequential","parts":[`+fmt.Sprintf(pure, 3)+`]}`), false},
		{fmt.Sprintf(node, "sequential", 2, `null`), false},
		{fmt.Sprintf(node, "sequential", 1<<40, `{"kind":"gaussian","mu":1e-9,"releases":9000000000000000000,"dim":9000000000000000000}`), false},
	} {
		var l Ledger
		err := json.Unmarshal([]byte(c.text), &l)
		if c.ok != (err == nil) || err != nil && !errors.Is(err, check.ErrModel) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	var none *Ledger
	if _, err := none.Condensed(); !errors.Is(err, check.ErrModel) {
		t.Errorf("no ledger: %v", err)
	}
}
