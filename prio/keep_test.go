package prio

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
	"github.com/dpglm/dpglm/table/party"
)

// keeping is a party whose fits are in a budget; it can be opened again.
type keeping struct {
	t            *testing.T
	rows, budget string
	kept         *Kept
	*party.Party
	agreed int
}

func (k *keeping) open() {
	k.t.Helper()
	budget, err := budgetfile.Open(k.budget)
	if err != nil {
		k.t.Fatal(err)
	}
	if k.kept, err = Keep(budget, "ours"); err != nil {
		k.t.Fatal(err)
	}
	if k.Party, err = party.OpenKept(k.rows, func(party.Plan) error { k.agreed++; return nil }, k.kept); err != nil {
		k.t.Fatal(err)
	}
}

func (k *keeping) close() {
	k.t.Helper()
	if err := errors.Join(k.kept.Close(), k.Party.Close()); err != nil {
		k.t.Fatal(err)
	}
}

// A party that is opened again goes on with its fits: it answers the last message once more, and the next
// one, without another agreement, and nothing else. Its budget holds each plan once, and none after it is spent. A
// fit that was ended stays so.
func TestKept(t *testing.T) {
	x, y := people(400, 2, 2)
	k := &keeping{t: t, rows: filepath.Join(t.TempDir(), "x.rows"), budget: filepath.Join(t.TempDir(), "budget.json")}
	if err := dpglm.WriteRows(ctx, k.rows, x, y); err != nil {
		t.Fatal(err)
	}
	file, err := budgetfile.Create(ctx, k.budget, budgetfile.Total{Data: "ours", Unit: mechanisms.OneRow(), Group: 1, Epsilon: 8, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	parties, rows := share(t, x, y)
	s := Setup{Rows: rows, Bits: 64, Numbers: 3}
	fits := func() [][]byte {
		r := &recording{Aggregator: pool{parties, 64}}
		if _, err := train(t, r, s, 2, dpglm.NoisyGDConfig{Steps: 2, Clip: 0.5}); err != nil { // of 1-GDP
			t.Fatal(err)
		}
		return r.messages[:3]
	}
	answers := func(message []byte) []uint64 {
		t.Helper()
		a, err := k.Answer(ctx, message)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	refuses := func(name string, message []byte, want error) {
		t.Helper()
		if a, err := k.Answer(ctx, message); !errors.Is(err, want) {
			t.Errorf("%s: %v (%v), want %v", name, a, err, want)
		}
	}
	spent := func(want int) {
		t.Helper()
		list, err := file.Entries()
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != want || k.agreed != want {
			t.Errorf("%d entries and %d agreements, want %d", len(list), k.agreed, want)
		}
	}
	k.open()
	one := fits()
	for j, m := range one {
		first := answers(m)
		for range 2 { // the second time it is over
			k.close()
			k.open()
			if again := answers(m); !slices.Equal(again, first) {
				t.Errorf("message %d: %v, and %v before", j, again, first)
			}
		}
	}
	k.close()
	k.open()
	refuses("a question before the last one, after a restart", one[1], dpglm.ErrConfig)
	spent(1)

	two := fits()
	answers(two[0])
	answers(two[1])
	refuses("a question once more", one[1], dpglm.ErrConfig)
	k.close()
	k.open()
	refuses("a fit that was ended", two[2], dpglm.ErrConfig)
	spent(2)

	three := fits()
	for range 10 {
		_, err = k.Answer(ctx, three[0])
		if err != nil {
			break
		}
		three = fits()
	}
	if !errors.Is(err, dpglm.ErrSpent) {
		t.Error(err)
	}
	before, err := file.Entries()
	if err != nil {
		t.Fatal(err)
	}
	k.close()
	k.open()
	refuses("a plan beyond the budget, after a restart", three[0], dpglm.ErrSpent)
	if list, err := file.Entries(); err != nil || len(list) != len(before) || len(list) < 2 {
		t.Errorf("%d entries, %d before (%v)", len(list), len(before), err)
	}
	k.close()
}

// A plan whose entry didn't begin, as the party was killed between the two, spends once.
func TestKeptBetweenSpendingAndBeginning(t *testing.T) {
	file, err := budgetfile.Create(ctx, filepath.Join(t.TempDir(), "budget.json"), budgetfile.Total{Data: "ours", Unit: mechanisms.OneRow(), Group: 1, Epsilon: 2, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	k, err := Keep(file, "ours")
	if err != nil {
		t.Fatal(err)
	}
	plan := party.Plan{Columns: 2, Steps: 4, Mu: 0.1}
	ledger, err := mechanisms.Gaussian{Mu: 0.05}.Ledger("as Begin has it", 4, 3)
	if err == nil {
		ledger, err = ledger.WithUnit(mechanisms.OneRow())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Spend(ctx, "ours", name("f"), ledger); err != nil {
		t.Fatal(err)
	}
	if m, _, err := k.Resume(ctx, "f"); m != nil || err != nil {
		t.Errorf("it is there: %q (%v)", m, err)
	}
	if err := k.Begin(ctx, "f", []byte("plan"), plan); err != nil {
		t.Fatal(err)
	}
	if list, err := file.Entries(); err != nil || len(list) != 1 || list[0].Begun.IsZero() {
		t.Errorf("%+v (%v)", list, err)
	}
	if err := k.Asked(ctx, "f", 2, "q"); err == nil {
		t.Error("the second question is kept as the first one")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	if m, asked, err := k.Resume(ctx, "f"); string(m) != "plan" || len(asked) > 0 || err != nil {
		t.Errorf("%q, %q (%v)", m, asked, err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
}
