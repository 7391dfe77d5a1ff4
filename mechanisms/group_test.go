package mechanisms

import (
	"math"
	"testing"
)

// For large groups, whose rows fall into parts in too many ways to try, the bounds that
// hold for any releases are known too.
func TestGroupWithinKnowsTheSimpleBounds(t *testing.T) {
	const k = 500
	pure := built(t)(Parallel("", built(t)(epsilonLedger(KindPure, "", 0.01, 1)), built(t)(epsilonLedger(KindBoundedRange, "", 0.005, 2))))
	if !pure.GroupWithin(k, 5+1e-9, 0) || pure.GroupWithin(k, 4.9, 0) {
		t.Error("500 rows under 0.01-DP must have 5-DP, and no less")
	}
	mixed := built(t)(Parallel("", leaf(t, 0.001, 1), built(t)(epsilonLedger(KindPure, "", 0.0008, 1))))
	if got, want := mixed.GroupMu(k), k*mixed.Mu(); got > want*(1+1e-12) {
		t.Errorf("500 rows have %g-GDP, by the chain %g", got, want)
	}
	epsilon, err := GaussianEpsilon(mixed.GroupMu(k), 1e-6)
	if err != nil || !mixed.GroupWithin(k, epsilon*(1+1e-9), 1e-6) {
		t.Errorf("500 rows aren't known to have the ε = %g of their μ (%v)", epsilon, err)
	}
}

// One number more than the curve allows is refused, for any size of group.
func TestGroupWithinFollowsTheCurve(t *testing.T) {
	l := built(t)(Sequential("", leaf(t, 0.1, 3), built(t)(epsilonLedger(KindPure, "", 0.05, 2))))
	for _, k := range []int{1, 2, 9} {
		epsilon, err := l.GroupEpsilon(k, 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if !l.GroupWithin(k, epsilon*(1+1e-9), 1e-6) || l.GroupWithin(k, 0.999*epsilon, 1e-6) {
			t.Errorf("%d rows: within doesn't turn at ε = %g", k, epsilon)
		}
	}
	if l.GroupWithin(1, 1, 1e-6) != l.Within(1, 1e-6) || l.GroupMu(1) != l.Mu() {
		t.Error("a group of one isn't one row")
	}
	if l.GroupWithin(0, 100, 0.5) || !math.IsInf(l.GroupMu(0), 1) || new(Ledger).GroupWithin(1, 100, 0.5) || !math.IsInf(new(Ledger).GroupMu(1), 1) {
		t.Error("no rows, or an empty ledger, are within a budget")
	}
}
