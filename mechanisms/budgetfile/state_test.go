package budgetfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// A file that was cut short at any place, or in which any byte was changed, in whichever
// way, is refused, as are entries.
func TestDamageAtEachByte(t *testing.T) {
	m, _, _ := twoEntries(t)
	f, err := open(m, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.files.read()
	if err != nil {
		t.Fatal(err)
	}
	entries := func(data []byte) error {
		_, err := s.entries(bytes.NewReader(data))
		return err
	}
	file := func(data []byte) error {
		_, err := decode(data)
		return err
	}
	for _, c := range []struct {
		name  string
		read  func([]byte) error
		whole []byte
	}{{"file", file, m.files[inMemory].data}, {"entries", entries, m.files[f.files.beside(entriesName)].data}} {
		if err := c.read(c.whole); err != nil {
			t.Fatal(err)
		}
		for at := range c.whole {
			if err := c.read(c.whole[:at]); !errors.Is(err, check.ErrModel) {
				t.Fatalf("%s: cut at %d: %v", c.name, at, err)
			}
			for _, flip := range []byte{1, 0x20, 0x80, 0xff, c.whole[at] ^ ' ', c.whole[at] ^ '\n'} {
				if flip == 0 {
					continue
				}
				changed := bytes.Clone(c.whole)
				changed[at] ^= flip
				if err := c.read(changed); !errors.Is(err, check.ErrModel) {
					t.Fatalf("%s: %q at %d became %q: %v", c.name, c.whole[at], at, changed[at], err)
				}
			}
		}
	}
	if err := file(append(bytes.Clone(m.files[inMemory].data), '\n')); !errors.Is(err, check.ErrModel) {
		t.Errorf("one byte more: %v", err)
	}
}

// Lines that are whole can't be exchanged, left out or repeated, nor taken from elsewhere.
func TestLinesInAnotherOrder(t *testing.T) {
	m, _, _ := twoEntries(t)
	f, err := open(m, inMemory)
	if err != nil {
		t.Fatal(err)
	}
	name := f.files.beside(entriesName)
	whole := m.files[name].data
	lines := bytes.SplitAfter(whole[:len(whole)-1], []byte("\n"))
	last := len(lines) - 1
	lines[last] = append(bytes.Clone(lines[last]), '\n')
	other, _, _ := twoEntries(t)
	for _, c := range [][]byte{
		bytes.Join([][]byte{lines[0], lines[2], lines[1], lines[3]}, nil),
		bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[3]}, nil),
		bytes.Join([][]byte{lines[0], lines[1], lines[3], lines[2]}, nil),
		other.files[name].data,
	} {
		m.files[name].data = c
		if _, err := f.Entries(); !errors.Is(err, check.ErrModel) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
	}
}

// A damaged file is refused by everything that reads it, and isn't written to.
func TestDamagedFiles(t *testing.T) {
	f, path := created(t)
	if err := spend(f, "fit", fit(t, tenth(t))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range [][]byte{{}, whole[:len(whole)/2], append(bytes.Clone(whole), '{'), bytes.Repeat([]byte{0}, len(whole))} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, opening := Open(path)
		_, listing := f.Entries()
		_, reclaiming := f.Reclaim(t.Context(), now(), "test")
		for _, err := range []error{opening, listing, reclaiming, spend(f, "more", fit(t, 1e-3))} {
			if !errors.Is(err, check.ErrModel) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %v", damaged[:min(20, len(damaged))], err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, damaged) {
			t.Errorf("a damaged file was written to (%v)", err)
		}
	}
}

// Formats of later releases are named as such.
func TestLaterFormats(t *testing.T) {
	f, m := remembered(t, one)
	data := m.files[inMemory].data
	for _, c := range []struct{ from, to, says string }{
		{`_version": 2`, `_version": 3`, "a later release"},
		{`_version": 2`, `_version": 1`, "must be 2"},
		{`"sha256"`, `"more": 1, "sha256"`, "damaged"},
	} {
		m.files[inMemory].data = bytes.Replace(data, []byte(c.from), []byte(c.to), 1)
		if _, err := open(m, inMemory); !errors.Is(err, check.ErrModel) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.to, err)
		}
		if _, err := f.Entries(); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}

// sealed is a file with this budget, and the right sum.
func sealed(budget string) []byte {
	return fmt.Appendf(nil, opening+"%s"+closing, version, sum([]byte(budget)), budget)
}

// A budget with a right sum is refused all the same where it isn't one: it has spent more
// than its total, or holds what this release doesn't know.
func TestWrongBudgets(t *testing.T) {
	h := header{Data: survey, Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1, Delta: 1e-6}
	p := place{Count: 1, Bytes: 1}
	w := waiting{ID: "1-0123456789abcdef", Charge: mechanisms.Charge{Mu: 0.01}}
	account := func(u mechanisms.Unit, group int, epsilon, delta float64) *mechanisms.Accountant {
		a, err := mechanisms.NewGroupAccountant(u, group, epsilon, delta)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	row := mechanisms.OneRow()
	a := account(row, 1, 1, 1e-6)
	for _, s := range []*state{
		{Header: h, Lines: p},
		{Header: h, Lines: p, Account: account(mechanisms.OnePerson(), 1, 1, 1e-6)},
		{Header: h, Lines: p, Account: account(row, 2, 1, 1e-6)},
		{Header: h, Lines: p, Account: account(row, 1, 2, 1e-6)},
		{Header: h, Lines: p, Account: account(row, 1, 1, 1e-5)},
		{Header: h, Lines: p, Account: a, Spent: 1, Wait: []waiting{{"../1", w.Time, w.Charge}}},
		{Header: h, Lines: p, Account: a, Spent: 2, Wait: []waiting{w, w}},
		{Header: h, Lines: p, Account: a, Wait: []waiting{w}},
		{Header: h, Lines: p, Account: a, Spent: -1},
		{Header: h, Account: a},
		{Lines: p, Account: a},
		{Header: header{Data: survey, Unit: row, Group: -1, Epsilon: 1}, Lines: p, Account: a},
	} {
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(data)
		if err == nil {
			_, err = back.accountant()
		}
		if !errors.Is(err, check.ErrModel) {
			t.Errorf("%s\n%v", data, err)
		}
	}
	for _, budget := range []string{`{"spent":0,"more":1}`, `[]`, `1`, `{} {}`, ``} {
		if _, err := decode(sealed(budget)); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s: %v", budget, err)
		}
	}
}

// A budget that was filled to the brim can be read whatever was begun first, though sums
// differ in their last digits; nothing more fits.
func TestFullBudgets(t *testing.T) {
	pure := func(epsilon float64) *mechanisms.Ledger {
		return ofRows(t)(mechanisms.Laplace{Epsilon: epsilon}.Ledger("pure", 1))
	}
	for _, c := range []struct {
		delta float64
		of    func(i int) *mechanisms.Ledger
	}{
		{0, func(i int) *mechanisms.Ledger { return pure(0.11 + 0.01*float64(i)) }},
		{1e-6, func(i int) *mechanisms.Ledger { return fit(t, 0.05+0.001*float64(i)) }},
	} {
		f, m := remembered(t, total(1, 1, c.delta))
		var ids []string
		for i := range 7 {
			l := c.of(i)
			switch {
			case i < 6:
			case c.delta == 0:
				l = pure(0.19 * (1 - 1e-14))
			default:
				left, err := f.Remaining()
				if err != nil {
					t.Fatal(err)
				}
				l = fit(t, left.Mu)
			}
			id, err := f.Spend(t.Context(), survey, "", l)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for i := range ids {
			if err := f.Begin(t.Context(), ids[(i*3+5)%len(ids)]); err != nil {
				t.Fatal(err)
			}
			if _, err := open(m, inMemory); err != nil {
				t.Fatal(err)
			}
		}
		if c.delta == 0 { // where a refusal composes numerically
			continue
		}
		if _, err := f.Spend(t.Context(), survey, "", fit(t, 0.1)); !errors.Is(err, check.ErrBudget) {
			t.Errorf("one more: %v", err)
		}
	}
}

// Whatever is in a file, decoding it ends, with a budget or an error that says why not.
func FuzzDecode(f *testing.F) {
	s := &state{Header: header{ID: "a", Data: survey, Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1, Delta: 1e-6}, Lines: place{1, 1, ""}, Spent: 2, Wait: []waiting{{ID: "1-0123456789abcdef", Charge: mechanisms.Charge{Mu: 0.02}}}}
	var err error
	if s.Account, err = mechanisms.NewAccountant(mechanisms.OneRow(), 1, 1e-6); err != nil {
		f.Fatal(err)
	}
	for _, mu := range []float64{0.01, 0.02} {
		if err := s.Account.Spend(fit(f, mu)); err != nil {
			f.Fatal(err)
		}
	}
	data, err := s.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, false)
	f.Add(data[len(opening)+64:], true)
	f.Add([]byte(`{"header":{"rows":1,"epsilon":1,"delta":0},"lines":{"count":1,"bytes":1}}`), true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(string(data))
		}
		s, err := decode(data)
		if err == nil {
			_, err = s.accountant()
		}
		if err != nil {
			if !errors.Is(err, check.ErrModel) {
				t.Error(err)
			}
			return
		}
		again, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(again); err != nil {
			t.Errorf("%s\n%v", again, err)
		}
	})
}

// Whatever lines there are, reading them ends, with entries that follow from them or an
// error. The sums are made right, as a reader gets nowhere otherwise.
func FuzzEntries(f *testing.F) {
	m := newMemory()
	b, err := create(f.Context(), m, inMemory, one)
	if err != nil {
		f.Fatal(err)
	}
	for range 2 {
		id, err := b.Spend(f.Context(), survey, "label", fit(f, 0.01))
		if err == nil {
			err = b.GiveBack(f.Context(), id, "reason")
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	var texts [][]byte
	for _, l := range bytes.Split(m.files[b.files.beside(entriesName)].data, []byte("\n")) {
		if len(l) > 65 {
			texts = append(texts, l[65:])
		}
	}
	f.Add(bytes.Join(texts, []byte("\n")), 2)
	f.Add([]byte("{}\n"), 0)
	f.Fuzz(func(t *testing.T, data []byte, spent int) {
		s := &state{Spent: spent}
		var whole []byte
		for i, text := range bytes.Split(data, []byte("\n")) {
			if i == 0 && decodeStrictly(text, &s.Header) != nil {
				return
			}
			digest := sum([]byte(s.Lines.SHA256), text)
			whole = fmt.Appendf(whole, "%s %s\n", digest, text)
			s.Lines = place{i + 1, int64(len(whole)), digest}
		}
		list, err := s.entries(bytes.NewReader(whole))
		if err != nil && !errors.Is(err, check.ErrModel) || err == nil && len(list) != spent {
			t.Errorf("%d of %d entries: %v", len(list), spent, err)
		}
	})
}
