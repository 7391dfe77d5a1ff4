package release

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/mechanisms"
)

var halving = mechanisms.Exponential{Epsilon: 2 * math.Ln2}

func rankingOf(releases int) *Schedule { return must(Rankings("vertices", halving, releases)) }

func newRanking(t *testing.T, rows *Rows, by mechanisms.Exponential) *Ranking {
	t.Helper()
	x, err := NewRanking(rows, by, []int64{0, 1 << 40, 1 << 41}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Choices are made as often as planned, by the planned mechanism, from the planned rows;
// what is refused draws no noise.
func TestChooseRefuses(t *testing.T) {
	rows, src := NewRows(), newRecorder()
	a, x := rankingOf(2).Allow(rows, src), newRanking(t, rows, halving)
	for name, c := range map[string]struct {
		x   *Ranking
		why string
	}{
		"a larger ε":  {newRanking(t, rows, mechanisms.Exponential{Epsilon: 2 * halving.Epsilon}), "by this mechanism"},
		"a smaller ε": {newRanking(t, rows, mechanisms.Exponential{Epsilon: halving.Epsilon / 2}), "by this mechanism"},
		"other rows":  {newRanking(t, NewRows(), halving), "other rows"},
		"nothing":     {nil, "a ranking"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.Choose(c.x)
			unplanned(t, err, "vertices", c.why)
		})
	}
	_, err := gaussianOf("sums", 1, 1).Allow(rows, src).Choose(x)
	unplanned(t, err, "sums", "a ranking")
	_, err = rankingOf(1).Allow(rows, src).Select(NewScores(rows, numbers(2), []float64{1, 1}))
	unplanned(t, err, "vertices", "a selection")
	if len(src.seen) != 0 || a.Made() != 0 {
		t.Fatalf("%d refused releases were shown, %d made", len(src.seen), a.Made())
	}
	for range 2 {
		if i, err := a.Choose(x); err != nil || i != 0 {
			t.Fatalf("chose %d, %v", i, err)
		}
	}
	_, err = a.Choose(x)
	unplanned(t, err, "vertices", "2 times")
	if len(src.seen) != 2 {
		t.Errorf("%d releases were shown", len(src.seen))
	}
}

// A ranking follows its scores, and a recorder sees them and may change them.
func TestChooseFollowsScores(t *testing.T) {
	rows := NewRows()
	x := newRanking(t, rows, halving)
	for best := range 3 {
		x.Set(best, -1<<(42+best))
		for name, src := range map[string]mechanisms.Source{"plain": mechanisms.NewSeededSource(1), "recorded": newRecorder()} {
			if i, err := rankingOf(1).Allow(rows, src).Choose(x); err != nil || i != best {
				t.Errorf("%s: chose %d, not %d, %v", name, i, best, err)
			}
		}
	}
	src := newRecorder()
	if _, err := rankingOf(1).Allow(rows, src).Choose(x); err != nil {
		t.Fatal(err)
	}
	if seen := src.seen[0]; !slices.Equal(seen.Values, []float64{-1 << 42, -1 << 43, -1 << 44}) || !slices.Equal(seen.Each, []float64{1000, 1000, 1000}) || seen.Mechanism != "ranking" {
		t.Errorf("a recorder sees %+v", seen)
	}
	if text := fmt.Sprintf("%v %+v", x, struct{ *Ranking }{x}); strings.Contains(text, "-") || !strings.Contains(text, "3 candidates") {
		t.Errorf("a ranking prints %s", text)
	}
}

// The ledger has one entry for all choices, bounded-range.
func TestRankingsLedger(t *testing.T) {
	l := rankingOf(5).Ledger()
	if want := 5 * halving.Epsilon; math.Abs(mustDelta(t, l, want)) > 1e-300 || !strings.Contains(l.String(), "vertices") {
		t.Errorf("the ledger is %v", l)
	}
	if _, err := Rankings("", mechanisms.Exponential{Epsilon: 1e-9}, 1); err == nil {
		t.Error("an ε that is too small for selections has a schedule")
	}
}

func mustDelta(t *testing.T, l *mechanisms.Ledger, epsilon float64) float64 {
	t.Helper()
	delta, err := l.Delta(epsilon * (1 + 1e-12))
	if err != nil {
		t.Fatal(err)
	}
	return delta
}
