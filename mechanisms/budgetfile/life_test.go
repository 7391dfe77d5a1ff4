package budgetfile

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// A charge is given back once, before noise has begun, and then no more counts, though
// both lines are kept; an entry that has begun is charged for ever.
func TestGivingBack(t *testing.T) {
	f, m := remembered(t, one)
	var ids []string
	for i := range 10 {
		id, err := f.Spend(t.Context(), survey, string(rune('a'+i)), fit(t, tenth(t)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if _, err := f.Spend(t.Context(), survey, "", fit(t, tenth(t))); !errors.Is(err, check.ErrBudget) {
		t.Errorf("an eleventh: %v", err)
	}
	if err := f.Begin(t.Context(), ids[3]); err != nil {
		t.Fatal(err)
	}
	if err := f.GiveBack(t.Context(), ids[5], "no data"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{f.GiveBack(t.Context(), ids[3], "too late"), "hasn't begun: this one's has"},
		{f.Begin(t.Context(), ids[3]), "hasn't begun: this one's has"},
		{f.GiveBack(t.Context(), ids[5], "again"), "was given back at"},
		{f.Begin(t.Context(), ids[5]), "was given back at"},
		{f.Begin(t.Context(), "7-0123456789abcdef"), "is in the file"},
		{f.GiveBack(t.Context(), "", "unknown"), "is in the file"},
		{f.GiveBack(t.Context(), ids[6], ""), "must say why"},
	} {
		if !errors.Is(c.err, check.ErrConfig) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	again, err := open(m, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	list := entries(t, again)
	if len(list) != 10 || list[5].Reason != "no data" || list[5].GivenBack.IsZero() || list[3].Begun.IsZero() || !list[6].Begun.IsZero() || !list[6].GivenBack.IsZero() {
		t.Errorf("entries are %v", list)
	}
	if err := spend(again, "in its place", fit(t, tenth(t))); err != nil {
		t.Error(err)
	}
	if _, err := again.Spend(t.Context(), survey, "", fit(t, tenth(t)/100)); !errors.Is(err, check.ErrBudget) {
		t.Errorf("more than was given back: %v", err)
	}
}

// What remains of a file's total once an entry was given back, or reclaimed, remains of one in which it never was: of entries of several sizes, for a
// group, and whichever of them it is.
func TestGivenBackRemains(t *testing.T) {
	pure := func(epsilon float64) *mechanisms.Ledger {
		return ofRows(t)(mechanisms.Laplace{Epsilon: epsilon}.Ledger("mean", 1))
	}
	for _, ledgers := range [][]*mechanisms.Ledger{{fit(t, 0.02), fit(t, 0.05), fit(t, 0.03)}, {pure(0.02), pure(0.05), pure(0.03)}} {
		for back := range ledgers {
			f, _ := remembered(t, total(2, 1, 1e-6))
			want, _ := remembered(t, total(2, 1, 1e-6))
			var id string
			for k, l := range ledgers {
				of, err := f.Spend(t.Context(), survey, "", l)
				if err != nil {
					t.Fatal(err)
				}
				if k == back {
					id = of
				} else if err := spend(want, "", l); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range entries(t, f) {
				if back > 0 || e.ID == id {
					continue // of several that wait one is given back, and one that is alone is reclaimed
				}
				if err := f.Begin(t.Context(), e.ID); err != nil {
					t.Fatal(err)
				}
			}
			if back == 0 {
				if ids, err := f.Reclaim(t.Context(), time.Now().Add(time.Hour), "died"); len(ids) != 1 || err != nil {
					t.Fatalf("%v (%v)", ids, err)
				}
			} else if err := f.GiveBack(t.Context(), id, "no data"); err != nil {
				t.Fatal(err)
			}
			got, err := f.Remaining()
			if err != nil {
				t.Fatal(err)
			}
			of, err := want.Remaining()
			if err != nil || math.Abs(got.Mu-of.Mu) > 1e-9 || math.Abs(got.Epsilon-of.Epsilon) > 1e-9 {
				t.Errorf("given back %d: %+v remains, want %+v (%v)", back, got, of, err)
			}
		}
	}
}

// Exactly one of those succeeds who begin an entry and who give it back at once.
func TestBeginningAndGivingBackExclude(t *testing.T) {
	f, path := created(t)
	for range 10 {
		id, err := f.Spend(t.Context(), survey, "", fit(t, 1e-3))
		if err != nil {
			t.Fatal(err)
		}
		var succeeded atomic.Int64
		var wg sync.WaitGroup
		for i := range 4 {
			g := opened(t, path)
			wg.Add(1)
			go func() {
				defer wg.Done()
				err := error(nil)
				if i%2 == 0 {
					err = g.Begin(t.Context(), id)
				} else {
					err = g.GiveBack(t.Context(), id, "test")
				}
				switch {
				case err == nil:
					succeeded.Add(1)
				case !errors.Is(err, check.ErrConfig):
					t.Error(err)
				}
			}()
		}
		wg.Wait()
		if n := succeeded.Load(); n != 1 {
			t.Errorf("%d succeeded", n)
		}
	}
}

// Reclaim gives back what was spent before a time and hasn't begun, and nothing else; whoever
// spent it can't begin it any more.
func TestReclaiming(t *testing.T) {
	f, _ := remembered(t, one)
	var ids []string
	for range 3 {
		id, err := f.Spend(t.Context(), survey, "", fit(t, tenth(t)))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := f.Begin(t.Context(), ids[1]); err != nil {
		t.Fatal(err)
	}
	if back, err := f.Reclaim(t.Context(), now().Add(-time.Hour), "old"); err != nil || len(back) != 0 {
		t.Errorf("%v was given back (%v)", back, err)
	}
	back, err := f.Reclaim(t.Context(), now().Add(time.Hour), "the machine was restarted")
	if err != nil || len(back) != 2 || back[0] != ids[0] || back[1] != ids[2] {
		t.Errorf("%v was given back (%v)", back, err)
	}
	if err := f.Begin(t.Context(), ids[0]); !errors.Is(err, check.ErrConfig) {
		t.Errorf("beginning it: %v", err)
	}
	if list := entries(t, f); list[2].Reason != "the machine was restarted" || !list[1].GivenBack.IsZero() {
		t.Errorf("entries are %v", list)
	}
	if _, err := f.Reclaim(t.Context(), now(), ""); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no reason: %v", err)
	}
}

// The unit and the name of the data stay with the budget, in the file and in its entries.
func TestHeadersAreKept(t *testing.T) {
	f, m := remembered(t, Total{"survey 2026", mechanisms.OnePerson(), 2, 1, 1e-6})
	for _, name := range []string{inMemory, f.files.beside(entriesName)} {
		for _, text := range []string{`"person"`, "survey 2026"} {
			if !strings.Contains(string(m.files[name].data), text) {
				t.Errorf("%s has no %q:\n%s", name, text, m.files[name].data)
			}
		}
	}
	s, err := f.files.read()
	if err != nil || s.Header.Unit != mechanisms.OnePerson() || s.Header.Data != "survey 2026" {
		t.Errorf("%v (%v)", s, err)
	}
}

// An entry's releases lie beside the file, and nothing that isn't an ID leads anywhere.
func TestPlacesOfReleases(t *testing.T) {
	f, path := created(t)
	id, err := f.Spend(context.Background(), survey, "", fit(t, 1e-3))
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(path+".d", id+".releases")
	if got, err := f.Releases(id); err != nil || filepath.Base(got) != filepath.Base(want) || filepath.Base(filepath.Dir(got)) != "budget.json.d" {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	for _, id := range []string{"", "1", "../1-0123456789abcdef", "1-0123456789abcdef/..", "01-0123456789abcdef", "1-0123456789ABCDEF"} {
		if path, err := f.Releases(id); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%q leads to %s (%v)", id, path, err)
		}
	}
}
