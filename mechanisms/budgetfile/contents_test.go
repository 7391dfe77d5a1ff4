package budgetfile

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// A file that was cut short at any place, or in which any byte was changed but for white
// space, is refused, by everything that reads it.
func TestDamagedFiles(t *testing.T) {
	f, path := created(t)
	if err := f.Spend("fit", fit(t, tenth(t))); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range len(whole) - 2 {
		if _, err := decode(whole[:at]); !errors.Is(err, check.ErrModel) {
			t.Fatalf("cut at %d: %v", at, err)
		}
		if c := whole[at]; c == ' ' || c == '\n' {
			continue
		}
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		if _, err := decode(changed); !errors.Is(err, check.ErrModel) && !sameKey(whole, changed) {
			t.Fatalf("changed at %d, %q: %v", at, changed[at-5:at+5], err)
		}
	}
	for _, damaged := range [][]byte{{}, whole[:len(whole)/2], append(bytes.Clone(whole), '{'), bytes.Repeat([]byte{0}, len(whole))} {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, opening := Open(path)
		_, listing := f.Entries()
		for _, err := range []error{opening, listing, f.Spend("more", fit(t, 1e-3))} {
			if !errors.Is(err, check.ErrModel) || !strings.Contains(err.Error(), path) {
				t.Errorf("%q: %v", damaged[:min(20, len(damaged))], err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, damaged) {
			t.Errorf("a damaged file was written to (%v)", err)
		}
	}
}

// sameKey reports whether a change is in the case of a letter of the envelope, which JSON
// ignores.
func sameKey(a, b []byte) bool { return bytes.EqualFold(a, b) }

// Formats of later releases are named as such.
func TestLaterFormats(t *testing.T) {
	_, path := created(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{`_version": 1`, `_version": 2`}, {`_version": 1`, `_version": 0`}, {`"sha256"`, `"more": 1, "sha256"`}} {
		changed := bytes.Replace(data, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(changed, data) {
			t.Fatalf("%s isn't in\n%s", c[0], data)
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		if !errors.Is(err, check.ErrModel) || strings.Contains(c[1], "2") != strings.Contains(err.Error(), "a later release") && !strings.Contains(c[1], "sha") {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// A budget with a right sum is refused all the same where it isn't one: it has spent more
// than its total, or holds what this release doesn't know.
func TestWrongBudgets(t *testing.T) {
	over := &contents{Rows: 1, Epsilon: 1, Delta: 1e-6, Entries: []entry{{Ledger: fit(t, 5)}}}
	empty := &contents{Rows: 1, Epsilon: 1, Delta: 1e-6, Entries: []entry{{}}}
	for _, c := range []*contents{over, empty, {}, {Rows: -1, Epsilon: 1}} {
		data, err := c.encode()
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
	for _, budget := range []string{`{"rows":1,"epsilon":1,"delta":0,"entries":[],"more":1}`, `[]`, `1`} {
		data := `{"dpglm_budget_version":1,"sha256":"` + sum([]byte(budget)) + `","budget":` + budget + `}`
		if _, err := decode([]byte(data)); !errors.Is(err, check.ErrModel) {
			t.Errorf("%s: %v", budget, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range []*contents{{Rows: 1, Epsilon: 1}, {Rows: 3, Epsilon: 2, Delta: 1e-6, Entries: []entry{{Label: "a", Ledger: fit(f, 0.01)}}}} {
		data, err := c.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"dpglm_budget_version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := decode(data)
		if err != nil {
			if !errors.Is(err, check.ErrModel) {
				t.Error(err)
			}
			return
		}
		again, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decode(again); err != nil {
			t.Errorf("%s\n%v", again, err)
		}
	})
}
