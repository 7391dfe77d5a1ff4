package mechanisms

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// remaining is what an accountant says, which a refused or accepted Spend confirms: that
// much fits, and a little more doesn't.
func remaining(t *testing.T, a *Accountant, slack float64) Remaining {
	t.Helper()
	r, err := a.Remaining()
	if err != nil {
		t.Fatal(err)
	}
	rows := float64(a.group)
	for _, c := range []struct {
		amount float64
		of     func(v float64) *Ledger
	}{
		{r.Mu, func(v float64) *Ledger { return rowLeaf(t, v/rows, 1) }},
		{r.Epsilon, func(v float64) *Ledger { return ofRow(t)(epsilonLedger(KindPure, "", v/rows, 1)) }},
	} {
		if c.amount < 1e-5 { // in the last digits of what was spent
			continue
		}
		if err := roundTrip(t, a).Spend(c.of(c.amount)); err != nil {
			t.Errorf("%v: %v", a, err)
		}
		if roundTrip(t, a).Spend(c.of(c.amount*(1+slack))) == nil {
			t.Errorf("%v: %g is not the most", a, c.amount)
		}
	}
	return r
}

// What remains is what Spend takes: exactly for Gaussian noise, and for pure releases
// under a pure total; and after it is spent, nothing remains.
func TestRemainingIsWhatFits(t *testing.T) {
	for _, c := range [][2]float64{{1, 1e-6}, {0.05, 1e-9}, {12, 1e-5}} {
		a := accountant(t, c[0], c[1])
		whole := remaining(t, a, 3e-3)
		if mu, err := GaussianMu(c[0], c[1]); err != nil || math.Abs(whole.Mu/mu-1) > 2e-9 {
			t.Errorf("%v: all of it is %g-GDP, want %g (%v)", c, whole.Mu, mu, err)
		}
		if math.Abs(whole.Epsilon/c[0]-1) > 3e-3 {
			t.Errorf("%v: all of it is %g-DP", c, whole.Epsilon)
		}
		if err := a.Spend(rowLeaf(t, 0.6*whole.Mu, 1)); err != nil {
			t.Fatal(err)
		}
		rest := remaining(t, a, 3e-3)
		if math.Abs(rest.Mu/(0.8*whole.Mu)-1) > 4e-9 {
			t.Errorf("%v: %g-GDP remain, want %g", c, rest.Mu, 0.8*whole.Mu)
		}
		if err := a.Spend(rowLeaf(t, rest.Mu, 1)); err != nil {
			t.Error(err)
		}
		if last := remaining(t, a, 3e-3); last.Mu > 2e-4*whole.Mu {
			t.Errorf("%v: %v remain of nothing", c, last)
		}
	}
	a := accountant(t, 2, 0)
	if err := a.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.5, 1))); err != nil {
		t.Fatal(err)
	}
	if r := remaining(t, a, 1e-8); r.Mu != 0 || math.Abs(r.Epsilon-1.5) > 1e-8 || r.String() != "1.5-DP" {
		t.Errorf("%v remain under δ = 0", r)
	}
	mixed := accountant(t, 1, 1e-6)
	if err := mixed.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.3, 2))); err != nil {
		t.Fatal(err)
	}
	remaining(t, mixed, 5e-3)
}

// A total for groups holds for groups: what fits is for one row what it is divided by
// their size.
func TestAccountantForGroups(t *testing.T) {
	a, err := NewGroupAccountant(OneRow(), 4, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	one := remaining(t, accountant(t, 1, 1e-6), 3e-3)
	four := remaining(t, a, 3e-3)
	if math.Abs(four.Mu/one.Mu-1) > 1e-8 {
		t.Errorf("%v and %v", four, one)
	}
	fit := rowLeaf(t, one.Mu/2, 1)
	if err := accountant(t, 1, 1e-6).Spend(fit); err != nil {
		t.Fatal(err)
	}
	if err := a.Spend(fit); !errors.Is(err, check.ErrBudget) || !strings.Contains(err.Error(), "(ε = 1, δ = 1e-06)-DP, unit: any 4 rows (replace-one)") {
		t.Errorf("half a row's budget for four rows gives %v", err)
	}
	if err := a.Spend(rowLeaf(t, four.Mu/4, 1)); err != nil {
		t.Error(err)
	}
	half, err := NewGroupAccountant(OneRow(), 4, 1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if err := half.Spend(rowLeaf(t, four.Mu/8, 1)); err != nil {
		t.Fatal(err)
	}
	if left := remaining(t, half, 3e-3); math.Abs(left.Mu/(four.Mu*math.Sqrt(0.75))-1) > 1e-6 || !(left.Epsilon > 0.01) {
		t.Errorf("beside a half of %v for four rows %v is left", four, left)
	}
	back := roundTrip(t, a)
	if back.group != 4 || back.String() != a.String() {
		t.Errorf("came back as %v, was %v", back, a)
	}
	if _, err := NewGroupAccountant(OneRow(), 0, 1, 1e-6); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no rows: %v", err)
	}
}

func roundTrip(t *testing.T, a *Accountant) *Accountant {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	back := new(Accountant)
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	return back
}

// Whatever the shares spend is within the total, and all of each can be spent; beside them
// the total has nothing left but what Remaining errs by.
func TestSharesFitTheTotal(t *testing.T) {
	pure := func(epsilon float64) *Ledger { return ofRow(t)(epsilonLedger(KindPure, "", epsilon, 1)) }
	for _, c := range []struct {
		rows           int
		epsilon, delta float64
		before         *Ledger
		weights        []float64
		more           *Ledger // than what is left
	}{
		{1, 1, 1e-6, nil, []float64{1, 1, 1}, rowLeaf(t, 1e-3, 1)},
		{1, 1, 1e-6, rowLeaf(t, 0.1, 3), []float64{1, 2, 5, 0.25}, rowLeaf(t, 1e-3, 1)},
		{5, 3, 1e-9, pure(0.05), []float64{1, 3}, rowLeaf(t, 0.1, 1)},
		{1, 2, 0, pure(0.5), []float64{1, 3}, pure(1e-7)},
		{3, 2, 0, nil, []float64{1, 1}, pure(1e-7)},
		{1, 1, 1e-6, nil, equal(), rowLeaf(t, 1e-3, 1)},
	} {
		a, err := NewGroupAccountant(OneRow(), c.rows, c.epsilon, c.delta)
		if err != nil {
			t.Fatal(err)
		}
		if c.before != nil {
			if err := a.Spend(c.before); err != nil {
				t.Fatal(err)
			}
		}
		shares, err := a.Split(c.weights...)
		if err != nil {
			t.Errorf("%v: %v", a, err)
			continue
		}
		var all []*Ledger
		if c.before != nil {
			all = append(all, c.before)
		}
		for i, share := range shares {
			all = append(all, exhaust(t, share, c.weights[i]/c.weights[0], shares[0]))
		}
		if sum := ofRow(t)(Sequential("", all...)); !sum.GroupWithin(c.rows, c.epsilon, c.delta) {
			t.Errorf("%v: together the shares spend\n%v", a, sum)
		}
		if err := a.Spend(c.more); !errors.Is(err, check.ErrBudget) {
			t.Errorf("%v: after the split it takes more: %v", a, err)
		}
	}
}

// What is set aside for a share has the slack of so many coordinates' grids: the share takes
// no more of them, however little their noise spends.
func TestSharesHoldCoordinates(t *testing.T) {
	shares, err := accountant(t, 1, 1e-6).Split(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide := ofRow(t)(Gaussian{Mu: 1e-6}.Ledger("", 4, 1<<30)) // half of a half
	if err := shares[0].Spend(wide); err != nil {
		t.Error(err)
	}
	if err := shares[0].Spend(wide); !errors.Is(err, check.ErrBudget) || !strings.Contains(err.Error(), "in 4.295e+09 coordinates") {
		t.Errorf("as many again: %v", err)
	}
	if err := shares[0].Spend(rowLeaf(t, 1e-3, 1)); err != nil {
		t.Error(err)
	}
	if err := shares[1].Spend(ofRow(t)(Gaussian{Mu: 1e-6}.Ledger("", 9, 1<<30))); !errors.Is(err, check.ErrBudget) {
		t.Errorf("more than all: %v", err)
	}
}

func equal() []float64 {
	w := make([]float64, 12)
	for i := range w {
		w[i] = 1
	}
	return w
}

// exhaust spends all of a share, and returns it. The share has the given multiple of the
// first one's amount.
func exhaust(t *testing.T, share *Accountant, multiple float64, first *Accountant) *Ledger {
	t.Helper()
	share = roundTrip(t, share)
	r, rows := built2(t)(share.Remaining()), float64(share.group)
	l := ofRow(t)(epsilonLedger(KindPure, "", math.Max(r.Epsilon/rows, 1e-12), 1))
	want := multiple * first.epsilon
	if got := share.epsilon; math.Abs(got-want) > 1e-9*want {
		t.Errorf("a share has ε = %g, want %g", got, want)
	}
	if r.Mu > 0 {
		l = rowLeaf(t, r.Mu/rows, 1)
		if want := math.Sqrt(multiple) * first.mu; math.Abs(share.mu-want) > 1e-9*want || math.Abs(r.Mu/rows/share.mu-1) > 2e-9 {
			t.Errorf("a share has μ = %g and takes %g, want %g", share.mu, r.Mu/rows, want)
		}
	}
	if err := share.Spend(l); err != nil {
		t.Errorf("%v: %v", share, err)
	}
	if err := share.Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.01, 1))); !errors.Is(err, check.ErrBudget) {
		t.Errorf("%v takes more: %v", share, err)
	}
	return l
}

func built2(t *testing.T) func(Remaining, error) Remaining {
	return func(r Remaining, err error) Remaining {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// A share counts the coordinates whose grids it answers for, and takes no curve that
// isn't below its own.
func TestSharesAreBelowWhatWasSetAside(t *testing.T) {
	shares, err := accountant(t, 1, 1e-6).Split(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	mu := shares[0].mu
	if err := shares[0].Spend(rowLeaf(t, mu/100, 1<<30)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("2^30 releases of many coordinates give %v", err)
	}
	if err := shares[0].Spend(ofRow(t)(epsilonLedger(KindPure, "", mu, 1))); !errors.Is(err, check.ErrBudget) {
		t.Errorf("an ε as large as μ gives %v", err)
	}
	if err := shares[0].Spend(ofRow(t)(epsilonLedger(KindPure, "", 0.79*mu, 1))); err != nil {
		t.Error(err)
	}
	if halves, err := roundTrip(t, shares[1]).Split(1, 1); err != nil || math.Abs(halves[1].mu/mu-math.Sqrt(0.5)) > 1e-9 {
		t.Errorf("halves of a share: %v (%v)", halves, err)
	}
	if err := shares[1].Spend(rowLeaf(t, 0.6*mu, 10)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("ten times 0.6 of μ give %v", err)
	}
	if err := shares[1].Spend(rowLeaf(t, 0.6*mu, 1)); err != nil {
		t.Error(err)
	}
	if r := remaining(t, shares[1], 3e-3); math.Abs(r.Mu/(0.8*mu)-1) > 1e-8 {
		t.Errorf("%v remain of a share of %g", r, mu)
	}
}

func TestSplitArguments(t *testing.T) {
	a := accountant(t, 1, 1e-6)
	for _, w := range [][]float64{nil, {0}, {1, -1}, {math.NaN()}, {math.Inf(1)}, {1e-70}} {
		if _, err := a.Split(w...); !errors.Is(err, check.ErrConfig) || len(w) == 0 && !strings.Contains(err.Error(), " = 0 ") {
			t.Errorf("%v: %v", w, err)
		}
	}
	if a.Ledgers() != 0 {
		t.Error("a refused split spent something")
	}
	if _, err := a.Split(1); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Split(1e-9, 1); err != nil && !errors.Is(err, check.ErrBudget) {
		t.Errorf("nothing is left: %v", err)
	}
	for _, none := range []*Accountant{nil, new(Accountant)} {
		if _, err := none.Split(1); err == nil {
			t.Error("no accountant was split")
		}
		if _, err := none.Remaining(); err == nil {
			t.Error("something remains of no accountant")
		}
	}
}

// A refusal says what was asked for and what is left, of which total.
func TestRefusalsHaveAmounts(t *testing.T) {
	a := accountant(t, 1, 1e-6)
	if err := a.Spend(rowLeaf(t, 0.1, 1)); err != nil {
		t.Fatal(err)
	}
	err := a.Spend(rowLeaf(t, 0.3, 1))
	for _, part := range []string{"total (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one)", "asks for 0.3-GDP", "left, 0.2145-GDP or 0.1713-DP,"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
	err = accountant(t, 1, 0).Spend(ofRow(t)(epsilonLedger(KindPure, "selection", 1.5, 1)))
	if want := "dpglm: privacy budget: ledger = selection must fit what is left, 1-DP, of the total 1-DP, unit: one row (replace-one): it asks for 1.5-DP"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
