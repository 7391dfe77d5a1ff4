package budgetfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// An act changes a budget that has an entry which has begun and one that waits.
type act struct {
	name string
	do   func(f *File, waiting string) (id string, err error)
	done func(before, after Entry) bool // of the entry that it is about
}

// long makes a line longer than the two that are written over it.
var long = strings.Repeat("third ", 40)

func acts(t *testing.T) []act {
	return []act{
		{"spend", func(f *File, _ string) (string, error) { return f.Spend(t.Context(), survey, long, fit(t, 0.01)) },
			func(_, after Entry) bool { return after.Label == long }},
		{"begin", func(f *File, id string) (string, error) { return id, f.Begin(t.Context(), id) },
			func(_, after Entry) bool { return !after.Begun.IsZero() && after.GivenBack.IsZero() }},
		{"give back", func(f *File, id string) (string, error) { return id, f.GiveBack(t.Context(), id, "no data") },
			func(_, after Entry) bool { return !after.GivenBack.IsZero() && after.Begun.IsZero() }},
	}
}

// twoEntries is a budget with one that has begun and one that waits.
func twoEntries(t *testing.T) (m *memory, begun, waiting string) {
	t.Helper()
	f, m := remembered(t, one)
	var ids [2]string
	for i := range ids {
		var err error
		if ids[i], err = f.Spend(t.Context(), survey, fmt.Sprint(i), fit(t, 0.01)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Begin(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	return m, ids[0], ids[1]
}

// holds checks what a crash or a fault has left: all that was there before, the act wholly or
// not at all, wholly if it was acknowledged; and a budget that can be spent from.
func holds(t *testing.T, where string, left *memory, a act, id string, acknowledged bool) (done bool) {
	t.Helper()
	f, err := open(left, inMemory)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	list, err := f.Entries()
	if err != nil || len(list) < 2 || list[0].Begun.IsZero() || list[0].Label != "0" || list[1].Label != "1" {
		t.Fatalf("%s: %v (%v)", where, list, err)
	}
	i := slices.IndexFunc(list, func(e Entry) bool { return e.ID == id })
	done = i >= 0 && a.done(list[1], list[i])
	if acknowledged && !done {
		t.Fatalf("%s: it was acknowledged, and isn't there: %v", where, list)
	}
	last, err := f.Spend(t.Context(), survey, "after", fit(t, 0.01))
	if err == nil {
		err = f.Begin(t.Context(), last)
	}
	if after, also := f.Entries(); err != nil || also != nil || len(after) != len(list)+1 || after[len(list)].ID != last {
		t.Fatalf("%s: spending after it: %v, %v, %v", where, err, also, after)
	}
	if s, err := f.files.read(); err != nil || s.Lines.Bytes != int64(len(left.files[f.files.beside(entriesName)].data)) {
		t.Fatalf("%s: something is left behind the lines (%v)", where, err)
	}
	return done
}

// A program that dies at any step, at any byte of its line, or a machine that crashes there
// and loses whatever was not synced, leaves the budget as it was or as it should be.
func TestCrashesAtEachByte(t *testing.T) {
	base, _, waiting := twoEntries(t)
	for _, a := range acts(t) {
		outcomes := map[bool]int{}
		for at, ended := 0, false; !ended; at++ {
			for cut, stride := 0, 1; ; cut += stride {
				m := base.left(true, true)
				m.failAt, m.dead, m.cut = at, true, cut
				f, err := open(m, inMemory)
				if err != nil {
					t.Fatal(err)
				}
				id, err := a.do(f, waiting)
				for _, lost := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
					where := fmt.Sprintf("%s, dead at step %d after %d bytes, unsynced names and contents kept: %v", a.name, at, cut, lost)
					outcomes[holds(t, where, m.left(lost[0], lost[1]), a, id, err == nil)]++
					if cut > 0 {
						break // what the machine loses doesn't depend on it
					}
				}
				ended = m.steps <= at
				if m.torn == "" { // the step isn't a write, or it was whole
					break
				}
				if m.torn != f.files.beside(entriesName) { // what is in other files before they are whole, nobody reads
					stride = 101
				}
			}
		}
		if outcomes[true] == 0 || outcomes[false] == 0 {
			t.Errorf("%s: %v", a.name, outcomes)
		}
	}
}

// A full disk, or any other fault of it, is an error, after which the budget is as it was or
// as it should be, and goes on.
func TestFaultsOfTheDisk(t *testing.T) {
	base, _, waiting := twoEntries(t)
	for _, a := range acts(t) {
		failed := 0
		for at := 0; ; at++ {
			m := base.left(true, true)
			m.failAt, m.cut = at, 10
			f, err := open(m, inMemory)
			if err != nil {
				t.Fatal(err)
			}
			id, err := a.do(f, waiting)
			if err != nil {
				failed++
				if !errors.Is(err, errFull) {
					t.Fatal(err)
				}
			}
			ended := m.steps <= at
			m.failAt = -1
			done := holds(t, fmt.Sprintf("%s, fault at step %d", a.name, at), m, a, id, err == nil)
			if a.name == "spend" && done && err != nil {
				if err := f.GiveBack(t.Context(), id, err.Error()); err != nil {
					t.Errorf("step %d: it is there, and can't be given back: %v", at, err)
				}
			}
			if ended {
				break
			}
		}
		if failed < 6 {
			t.Errorf("%s failed in %d ways only", a.name, failed)
		}
	}
}

// A Create that dies leaves no budget, or a new one, and in neither case is in the way.
func TestCreateDies(t *testing.T) {
	for at, ended := 0, false; !ended; at++ {
		for _, cut := range []int{0, 1, 70, 200} {
			m := newMemory()
			m.failAt, m.dead, m.cut = at, true, cut
			_, err := create(t.Context(), m, inMemory, one)
			ended = m.steps <= at
			for _, contents := range []bool{true, false} {
				for _, names := range []bool{true, false} {
					left := m.left(names, contents)
					f, opening := open(left, inMemory)
					if err == nil && opening != nil {
						t.Fatalf("step %d: %v", at, opening)
					}
					if opening != nil {
						if f, opening = create(t.Context(), left, inMemory, one); opening != nil {
							t.Fatalf("step %d, %d bytes: %v", at, cut, opening)
						}
					}
					if err := spend(f, "", fit(t, tenth(t))); err != nil || len(entries(t, f)) != 1 {
						t.Fatalf("step %d: %v", at, err)
					}
				}
			}
		}
	}
}

// What a spend reads and writes doesn't grow with the entries, however many there are.
func TestASpendsBytes(t *testing.T) {
	f, m := remembered(t, one)
	l := fit(t, 1e-4)
	var read, written int
	for n := 1; n <= 1000; n++ {
		m.read, m.written = 0, 0
		again, err := open(m, inMemory)
		if err != nil {
			t.Fatal(err)
		}
		id, err := again.Spend(t.Context(), survey, "label", l)
		if err == nil && n%7 == 0 {
			err = f.GiveBack(t.Context(), id, "no data")
		} else if err == nil {
			err = f.Begin(t.Context(), id)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n == 10 {
			read, written = m.read, m.written
		}
		if n > 10 && (m.read > read+100 || m.written > written+200) { // numbers have more digits
			t.Fatalf("entry %d reads %d and writes %d bytes; entry 10 did %d and %d", n, m.read, m.written, read, written)
		}
	}
	if got := len(entries(t, f)); got != 1000 {
		t.Errorf("%d entries", got)
	}
}

// The same where parts aren't Gaussian: the file grows with those that differ, here three, and
// with the entries that wait.
func TestASpendsBytesInMixtures(t *testing.T) {
	f, m := remembered(t, total(1, 1000, 1e-6))
	part := func(epsilon float64) *mechanisms.Ledger {
		l := ofRows(t)(mechanisms.Exponential{Epsilon: epsilon}.Ledger("select"))
		both, err := mechanisms.Sequential("select, fit", l, fit(t, 1e-4))
		if err != nil {
			t.Fatal(err)
		}
		return both
	}
	var read, written int
	for n := 0; n <= 1000; n++ {
		w, err := f.files.writer(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m.read, m.written = 0, 0
		if err := w.start(); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("%d-0123456789abcdef", n+1)
		for _, l := range []*line{{Kind: lineSpent, ID: id, Ledger: part(1e-4 * float64(1+n%3))}, {Kind: lineBegun, ID: id}} {
			if err := w.write(l); err != nil {
				t.Fatal(err)
			}
		}
		w.close()
		if n == 10 {
			read, written = m.read, m.written
		}
		if n > 10 && (m.read > read+100 || m.written > written+300) { // numbers have more digits
			t.Fatalf("entry %d reads %d and writes %d bytes; entry 10 did %d and %d", n, m.read, m.written, read, written)
		}
	}
	s, err := f.files.read()
	if err != nil || s.Account.Ledgers() != 1001 {
		t.Errorf("%v (%v)", s.Account, err)
	}
	if got := len(entries(t, f)); got != 1001 {
		t.Errorf("%d entries", got)
	}
}

// A file that was put in the place of a later one is noticed where it lacks two lines, and so
// are entries that lack one.
func TestEarlierCopies(t *testing.T) {
	f, m := remembered(t, one)
	var copies []*memory
	for range 3 {
		copies = append(copies, m.left(true, true))
		if _, err := f.Spend(t.Context(), survey, "", fit(t, 0.01)); err != nil {
			t.Fatal(err)
		}
	}
	now := m.left(true, true)
	now.files[inMemory] = copies[1].files[inMemory]
	f, err := open(now, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Spend(t.Context(), survey, "", fit(t, 0.01)); !errors.Is(err, check.ErrModel) {
		t.Errorf("an earlier file: %v", err)
	}
	now = m.left(true, true)
	now.files[f.files.beside(entriesName)] = copies[2].files[f.files.beside(entriesName)]
	if _, err := open(now, inMemory); !errors.Is(err, check.ErrModel) {
		t.Errorf("earlier entries: %v", err)
	}
}
