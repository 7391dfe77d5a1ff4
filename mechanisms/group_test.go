package mechanisms

import (
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func groupDeltaOf(t *testing.T, l *Ledger, rows int, epsilon float64) float64 {
	t.Helper()
	d, err := l.GroupDelta(rows, epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// [DRS22, Theorem 2.14]: μ-GDP for one row is kμ-GDP for k; ε-DP is kε-DP.
func TestGroupsOfKnownProfiles(t *testing.T) {
	g := leaf(t, 0.2, 9)
	p := built(t)(pureLedger("", 0.3, 1))
	b := built(t)(boundedRangeLedger("", 0.3, 1))
	for _, k := range []int{1, 2, 10} {
		for _, x := range []float64{0, 0.5, 3} {
			want := gaussian{mu: 0.6 * float64(k)}.delta(x)
			if got := groupDeltaOf(t, g, k, x); got < want*(1-1e-12) || got > want*(1+1e-9) {
				t.Errorf("Gaussian, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
			want = pure{0.3 * float64(k)}.delta(x)
			if got := groupDeltaOf(t, p, k, x); got < want || got > want+1e-14 {
				t.Errorf("pure, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
			want = boundedRange{0.3 * float64(k)}.delta(x)
			if got := groupDeltaOf(t, b, k, x); got < want || got > want+1e-14 {
				t.Errorf("bounded range, %d rows: δ(%g) = %g, want %g", k, x, got, want)
			}
		}
	}
	e, err := built(t)(Sequential("", p, p)).GroupEpsilon(5, 1e-30)
	if err != nil || e < 3*(1-1e-9) || e > 3*(1+1e-12) {
		t.Errorf("two 0.3-DP releases, 5 rows: ε = %g, %v", e, err)
	}
}

// δ_k(ε) ≤ δ(ε/k)(e^ε − 1)/(e^{ε/k} − 1) for parallel nodes, which one row in
// each part attains to first order: the group's profile must exceed that of
// two parts changed at once.
func TestGroupsAcrossParallelParts(t *testing.T) {
	p, g := built(t)(pureLedger("", 0.5, 1)), leaf(t, 0.4, 1)
	par, both := built(t)(Parallel("", p, g)), built(t)(Sequential("", p, g))
	for _, x := range []float64{0, 0.1, 0.7, 2} {
		got := groupDeltaOf(t, par, 2, x)
		one := deltaOf(t, par, x/2)
		want := 2 * one
		if x > 0 {
			want = one * math.Expm1(x) / math.Expm1(x/2)
		}
		if want = math.Min(1, want); got < want*(1-1e-14) || got > want*(1+1e-9) {
			t.Errorf("δ₂(%g) = %g, want %g", x, got, want)
		}
		if d := deltaOf(t, both, x); got < d*(1-1e-4) {
			t.Errorf("δ₂(%g) = %g, but changing a row in each part gives %g", x, got, d)
		}
	}
	// Inside a sequence it composes like any other profile.
	seq := built(t)(Sequential("", par, g))
	for _, k := range []int{1, 2, 3} {
		alone, composed := groupDeltaOf(t, par, k, 1), groupDeltaOf(t, seq, k, 1)
		if composed < alone {
			t.Errorf("%d rows: %g alone, %g with another part", k, alone, composed)
		}
	}
	if d := groupDeltaOf(t, seq, 1_000_000, 1e3); d > 1 || d < 0.99 {
		t.Errorf("a million rows have δ(1000) = %g", d)
	}
}

func TestGroupArguments(t *testing.T) {
	l := leaf(t, 1, 1)
	if _, err := l.GroupDelta(0, 1); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no rows give %v", err)
	}
	if _, err := l.GroupDelta(2, -1); !errors.Is(err, check.ErrBudget) {
		t.Errorf("negative ε gives %v", err)
	}
	if _, err := l.GroupEpsilon(2, 0); !errors.Is(err, check.ErrBudget) {
		t.Errorf("δ = 0 gives %v", err)
	}
	if _, err := new(Ledger).GroupDelta(1, 1); !errors.Is(err, check.ErrModel) {
		t.Errorf("an empty ledger gives %v", err)
	}
}
