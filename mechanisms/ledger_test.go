package mechanisms

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

func leaf(t *testing.T, mu float64, releases int) *Ledger {
	t.Helper()
	l, err := Gaussian{Mu: mu}.Ledger("leaf", releases, 10)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func deltaOf(t *testing.T, l *Ledger, epsilon float64) float64 {
	t.Helper()
	d, err := l.Delta(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// [DRS22, Corollary 3.3]: a sequence of μ_i-GDP releases is √Σμ²-GDP; parallel
// parts count as the worst of them.
func TestComposition(t *testing.T) {
	seq, err := Sequential("seq", leaf(t, 0.3, 4), leaf(t, 0.8, 1))
	if err != nil {
		t.Fatal(err)
	}
	par, err := Parallel("par", seq, leaf(t, 0.2, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0, 0.5, 1, 3} {
		want, err := GaussianDelta(1, eps)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Ledger{seq, par} {
			if got := deltaOf(t, l, eps); got < want*(1-1e-12) || got > want*(1+1e-9) {
				t.Errorf("δ(%g) = %g, want %g", eps, got, want)
			}
		}
	}
}

// The grid's slack is in the ledger: a huge number of coordinates costs.
func TestLedgerCountsGridSlack(t *testing.T) {
	g := Gaussian{Mu: 1}
	few, err := g.Ledger("", 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := g.Ledger("", 1, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if !(deltaOf(t, many, 1) > deltaOf(t, few, 1)) {
		t.Error("slack is not counted")
	}
}

func TestCalibrationFillsTheBudget(t *testing.T) {
	for _, releases := range []int{1, 7, 500, 100_000} {
		g, err := CalibrateGaussian(1, 1e-6, releases, 100)
		if err != nil {
			t.Fatal(err)
		}
		l, err := g.Ledger("", releases, 100)
		if err != nil {
			t.Fatal(err)
		}
		e, err := l.Epsilon(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		if e > 1+1e-9 || e < 1-1e-6 {
			t.Errorf("%d releases calibrated to ε = 1 spend %.12g", releases, e)
		}
	}
}

func TestLedgerJSON(t *testing.T) {
	par, err := Parallel("halves", leaf(t, 0.3, 4), leaf(t, 0.8, 1))
	if err != nil {
		t.Fatal(err)
	}
	seq, err := Sequential("all", par, leaf(t, 0.1, 3))
	if err != nil {
		t.Fatal(err)
	}
	seq = seq.WithCallerNoise()
	data, err := json.Marshal(seq)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if back.String() != seq.String() || deltaOf(t, &back, 1) != deltaOf(t, seq, 1) || !back.CallerNoise() {
		t.Errorf("round trip gives\n%v\nwant\n%v", &back, seq)
	}
	if want := "all: sequential"; !strings.HasPrefix(seq.String(), want) || !strings.Contains(seq.String(), "NOTE") {
		t.Errorf("prints as\n%v", seq)
	}
}

func TestLedgerRefusesNonsense(t *testing.T) {
	for _, s := range []string{
		`{}`, `[]`, `{"version":1,"kind":"gaussian"}`, `{"version":1,"kind":"magic","mu":1}`,
		`{"version":1,"kind":"gaussian","mu":-1,"releases":1,"dim":1}`,
		`{"version":1,"kind":"gaussian","mu":1,"releases":0,"dim":1}`,
		`{"version":1,"kind":"gaussian","mu":1,"releases":1,"dim":-5}`,
		`{"version":1,"kind":"gaussian","mu":1,"releases":1,"dim":1,"parts":[{"kind":"gaussian","mu":1,"releases":1,"dim":1}]}`,
		`{"version":1,"kind":"sequential"}`, `{"version":1,"kind":"sequential","parts":[null]}`, `{"version":1,"kind":"parallel","parts":[]}`,
		`{"version":1,"kind":"sequential","mu":0.1,"parts":[{"kind":"gaussian","mu":1,"releases":1,"dim":1}]}`,
	} {
		var l Ledger
		if err := json.Unmarshal([]byte(s), &l); err == nil || !errors.Is(err, check.ErrModel) && !strings.Contains(err.Error(), "json") {
			t.Errorf("%s: %v", s, err)
		}
	}
	if _, err := Sequential("empty"); !errors.Is(err, check.ErrModel) {
		t.Errorf("empty sequence gives %v", err)
	}
}
