package mechanisms

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// A game between an accountant and somebody who chooses, by all results so far, which ledger
// comes next, and when to stop. Each is of randomised responses whose ε is a whole number of
// steps, so that the privacy loss is one too, and the true δ, the largest
//
//	E(1 − e^{ε−L})₊
//
// that any strategy reaches under a rule, is found by going through all states, backwards.
const step = 0.05

// responses are n randomised responses of m steps each.
func responses(t *testing.T, m, n int) *Ledger {
	t.Helper()
	return ofRow(t)(epsilonLedger(KindPure, "", step*float64(m), n))
}

// trueDelta is the value of the game for responses of the given sizes, of each of which
// ledgers[i] have been taken, after a loss of so many steps. more says whether a rule lets
// another one pass.
func trueDelta(epsilon float64, sizes []int, loss int, more func(taken [3]int, i int) bool) float64 {
	type place struct {
		taken [3]int
		loss  int
	}
	known := map[place]float64{}
	var value func(at place) float64
	value = func(at place) float64 {
		if v, ok := known[at]; ok {
			return v
		}
		v := math.Max(0, -math.Expm1(epsilon-step*float64(at.loss)))
		for i, m := range sizes {
			if !more(at.taken, i) {
				continue
			}
			next := at
			next.taken[i]++
			up, down := next, next
			up.loss, down.loss = at.loss+m, at.loss-m
			p := 1 / (1 + math.Exp(-step*float64(m)))
			v = math.Max(v, p*value(up)+(1-p)*value(down))
		}
		known[at] = v
		return v
	}
	return value(place{loss: loss})
}

// Ledgers that are added up and stopped at by what was seen are no guarantee: where the sum's ε
// at the stop is that of δ = 1e-3, the true one is almost four times as much; of 150 ledgers it
// is six times.
func TestSumsAtAStopAreNoGuarantee(t *testing.T) {
	const delta, most = 1e-3, 50
	epsilons := []float64{0}
	for n := 1; n <= most; n++ {
		epsilons = append(epsilons, epsilonOf(t, responses(t, 2, n), delta))
	}
	p := 1 / (1 + math.Exp(-2*step))
	value := make([]float64, 2*most+3) // by the loss, in responses
	for n := most; n >= 0; n-- {
		next := make([]float64, len(value))
		for i := -n; i <= n; i++ {
			stop := math.Max(0, -math.Expm1(epsilons[n]-2*step*float64(i)))
			next[i+most+1] = math.Max(stop, p*value[i+most+2]+(1-p)*value[i+most])
		}
		value = next
	}
	if v := value[most+1]; v < 3.8*delta || v > 4*delta {
		t.Errorf("the true δ is %g, where the sum's ε has %g", v, delta)
	}
}

// Nor is it a filter to compose what was taken with what is asked for and hold that against the
// total: by choosing among two sizes one gets to 1.8 times its δ. An accountant's total holds,
// whether its first ledger was chosen by then or is a bounded one of several responses, and
// is not much below what is reached.
func TestAccountantsAreFilters(t *testing.T) {
	const epsilon, delta = 1.0, 1e-3
	sizes := []int{1, 8}
	within := map[[3]int]bool{}
	natural := func(taken [3]int, i int) bool {
		taken[i]++
		ok, known := within[taken]
		if !known {
			var parts []*Ledger
			for j, n := range taken[:len(sizes)] {
				if n > 0 {
					parts = append(parts, responses(t, sizes[j], n))
				}
			}
			ok = built(t)(Sequential("", parts...)).Within(epsilon, delta)
			within[taken] = ok
		}
		return ok
	}
	if v := trueDelta(epsilon, sizes, 0, natural); v < 1.8*delta || v > 2*delta {
		t.Errorf("the composed ledgers' true δ is %g of %g", v, delta)
	}
	if v := trueDelta(epsilon, sizes, 0, accepted(t, accountant(t, epsilon, delta), sizes)); v != 0 { // Σε ≤ 1
		t.Errorf("pure ledgers reach δ = %g", v)
	}
	// After a first ledger of 30 responses, beyond the total's ε, there is a μ left.
	for _, sizes := range [][]int{{1}, {1, 8}} {
		a := accountant(t, epsilon, delta)
		if err := a.Spend(responses(t, 1, 30)); err != nil || a.state.Reserve == nil {
			t.Fatalf("%v, %v", a, err)
		}
		more, v := accepted(t, a, sizes), 0.0
		p := 1 / (1 + math.Exp(-step))
		for up := range 31 {
			log, _ := math.Lgamma(31)
			a, _ := math.Lgamma(float64(up + 1))
			b, _ := math.Lgamma(float64(31 - up))
			v += math.Exp(log-a-b+float64(up)*math.Log(p)+float64(30-up)*math.Log1p(-p)) * trueDelta(epsilon, sizes, 2*up-30, more)
		}
		if v > delta || v < delta/10 {
			t.Errorf("%v: the true δ is %g of %g", sizes, v, delta)
		}
	}
}

// accepted asks an accountant, which stays as it is, for what it takes.
func accepted(t *testing.T, a *Accountant, sizes []int) func(taken [3]int, i int) bool {
	after := map[[3]int]*Accountant{{}: a}
	return func(taken [3]int, i int) bool {
		next := taken
		next[i]++
		if b, known := after[next]; known {
			return b != nil
		}
		b := roundTrip(t, after[taken])
		if err := b.Spend(responses(t, sizes[i], 1)); err != nil {
			b = nil
		}
		after[next] = b
		return b != nil
	}
}

// What is given back is there again; what somebody else's ledger was held against isn't.
func TestGivingBack(t *testing.T) {
	pure := func(epsilon float64) *Ledger { return ofRow(t)(epsilonLedger(KindPure, "", epsilon, 1)) }
	wide := ofRow(t)(epsilonLedger(KindPure, "", 0.05, 100)) // ε = 5
	charge := func(a *Accountant, l *Ledger) Charge {
		t.Helper()
		c, err := a.Charge(l)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := accountant(t, 2, 1e-3)
	all := built2(t)(a.Remaining())
	for name, l := range map[string]*Ledger{"pure": pure(0.3), "Gaussian": rowLeaf(t, 0.2, 3), "other": wide} {
		c := charge(a, l)
		if left := built2(t)(a.Remaining()); !(left.Mu < all.Mu) {
			t.Errorf("%s: %v left of %v", name, left, all)
		}
		if err := a.GiveBack(c); err != nil || built2(t)(a.Remaining()) != all || a.Ledgers() != 0 {
			t.Errorf("%s: %v (%v)", name, a, err)
		}
		if err := a.GiveBack(c); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: given back twice: %v", name, err)
		}
	}
	first, second := charge(a, rowLeaf(t, 0.2, 1)), charge(a, pure(0.1))
	before := built2(t)(a.Remaining())
	if err := a.GiveBack(first); err != nil || built2(t)(a.Remaining()).Mu <= before.Mu {
		t.Errorf("%v (%v)", a, err)
	}
	third := charge(a, rowLeaf(t, 0.2, 1))
	if after := built2(t)(a.Remaining()); math.Abs(after.Mu/before.Mu-1) > 1e-9 || after.Mu > before.Mu*(1+1e-12) {
		t.Errorf("%v left, then %v", before, after)
	}
	for _, c := range []Charge{second, third} {
		if err := a.GiveBack(c); err != nil {
			t.Error(err)
		}
	}
	if left := built2(t)(a.Remaining()); left != all {
		t.Errorf("%v left of %v", left, all)
	}
	// What was set aside beside a ledger stays so while somebody has spent of it.
	beside := charge(a, wide)
	set := a.state.Reserve.Mu
	later := charge(a, rowLeaf(t, 0.1, 1))
	if err := a.GiveBack(beside); err != nil || a.state.Reserve == nil || a.state.Reserve.Mu != set {
		t.Errorf("%v (%v)", a, err)
	}
	if err := a.GiveBack(later); err != nil || built2(t)(a.Remaining()) != all {
		t.Errorf("%v (%v)", a, err)
	}
	share, err := a.Split(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Charge{{}, {Epsilon: 1, Mu: 1}, {Mu: 1}, {Epsilon: 0.1}, {Whole: true}, {Mu: math.NaN()}, {Mu: -1}, {Epsilon: math.Inf(1)}} {
		if err := share[0].GiveBack(c); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// An accountant that was given a charge back has taken what one has that only took the others: of each kind, alone or among others, and where several
// rows are protected together. What is left of μ is rounded down, by a few units in the last place.
func TestGivenBackIsAsIfNeverCharged(t *testing.T) {
	pure := func(epsilon float64, releases int) *Ledger {
		return ofRow(t)(epsilonLedger(KindPure, "", epsilon, releases))
	}
	for name, ledgers := range map[string][]*Ledger{
		"ε":          {pure(0.05, 1), pure(0.02, 3), pure(0.1, 1)},
		"μ":          {rowLeaf(t, 0.03, 1), rowLeaf(t, 0.02, 7), rowLeaf(t, 0.05, 2)},
		"ε beside μ": {pure(0.05, 1), pure(0.02, 3), rowLeaf(t, 0.05, 2)},
	} {
		for _, group := range []int{1, 3} {
			for back := range ledgers {
				a, err := NewGroupAccountant(OneRow(), group, 2, 1e-3)
				want, also := NewGroupAccountant(OneRow(), group, 2, 1e-3)
				if err != nil || also != nil {
					t.Fatal(err, also)
				}
				var charge Charge
				for k, l := range ledgers {
					c, err := a.Charge(l)
					if err != nil {
						t.Fatal(err)
					}
					if k == back {
						charge = c
					} else if err := want.Spend(l); err != nil {
						t.Fatal(err)
					}
				}
				set := a.state.Reserve
				if err := a.GiveBack(charge); err != nil {
					t.Fatal(err)
				}
				if set != nil && charge.Epsilon > 0 { // of what is left a μ was made
					continue
				}
				got, of := a.state, want.state
				off := math.Abs(got.Epsilon - of.Epsilon)
				if r, w := got.Reserve, of.Reserve; r != nil && w != nil {
					if r.SpentMu < w.SpentMu*(1-1e-15) || r.SpentCoordinates < w.SpentCoordinates*(1-1e-15) || r.Ledgers != w.Ledgers {
						t.Errorf("%s: of %d, given back %d: %+v, want %+v", name, group, back, r, w)
					}
					off += math.Abs(r.SpentMu/w.SpentMu-1) + math.Abs(r.SpentCoordinates/w.SpentCoordinates-1)
				} else if r != w {
					t.Errorf("%s: of %d, given back %d: %+v, want %+v", name, group, back, r, w)
				}
				if off > 1e-14 || a.Ledgers() != want.Ledgers() {
					t.Errorf("%s: of %d, given back %d: %v, want %v", name, group, back, a, want)
				}
			}
		}
	}
}
