package rowfile

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// parts writes rows [from, from+n) of row as parts, or as one file where limit is 0.
func parts(t testing.TB, limit int64, from, n, columns int, sparse bool, p Persons) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rows")
	w, err := create(path, limit, Facts{Columns: columns, Sparse: sparse, Beside: []string{Person, Offset}})
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < from+n; i++ {
		values, label, beside := row(i, columns)
		if err := w.Append(nil, values, label, beside...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(Details{Persons: p}); err != nil {
		t.Fatal(err)
	}
	return w.Paths()
}

// Rows in parts are those of one file, in the same order, wherever it is cut, and so are rows that are
// picked of them.
func TestParts(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		for _, limit := range []int64{100_000, 300_000, 1 << 40} {
			paths := parts(t, limit, 0, 5000, 37, sparse, Persons{MaxRows: 5000})
			if most := map[int64]int{100_000: 20, 300_000: 10, 1 << 40: 1}[limit]; len(paths) > most || limit < 1<<40 && len(paths) < 3 {
				t.Errorf("%d bytes: %d parts", limit, len(paths))
			}
			f, err := Open(paths...)
			if err != nil {
				t.Fatal(err)
			}
			if f.Rows != 5000 || f.Part != (Part{}) || !slices.Equal(f.Paths(), paths) {
				t.Errorf("%+v", f.Facts)
			}
			holds(t, f, func(k int) int { return k })
			for b, at := 0, 0; b < f.Blocks(); b++ {
				lo, hi := f.Block(b)
				if lo != at || f.BlockAt(lo) != b || f.BlockAt(hi-1) != b {
					t.Fatalf("block %d has the rows from %d up to %d, and %d came before", b, lo, hi, at)
				}
				at = hi
			}
			order := rand.New(rand.NewPCG(1, 2)).Perm(f.Rows)[:4000]
			p, err := f.Pick(context.Background(), order)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, p, func(k int) int { return order[k] })
			if err := errors.Join(p.Close(), f.Close()); err != nil {
				t.Error(err)
			}
		}
	}
}

// Files that were written one by one are read as one, also where the last block of each is short.
func TestFilesTogether(t *testing.T) {
	given := Persons{MaxRows: 9, Given: true}
	paths := slices.Concat(parts(t, 0, 0, 1000, 37, true, given), parts(t, 0, 1000, 1, 37, true, given), parts(t, 100_000, 1001, 1500, 37, true, given))
	f, err := Open(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Rows != 2501 || f.Blocks() != 2+1+3 {
		t.Errorf("%d rows in %d blocks", f.Rows, f.Blocks())
	}
	holds(t, f, func(k int) int { return k })
}

// What doesn't go together is refused, by an error that names the file.
func TestFilesApart(t *testing.T) {
	coded, given := Persons{MaxRows: 9}, Persons{MaxRows: 9, Given: true}
	set, other := parts(t, 100_000, 0, 1500, 37, true, coded), parts(t, 100_000, 1, 1500, 37, true, coded)
	one, numbered := parts(t, 0, 0, 9, 37, true, coded), parts(t, 0, 0, 9, 37, true, given)
	for name, c := range map[string]struct {
		paths []string
		at    string // the file that is named
		rule  string
	}{
		"columns":         {slices.Concat(numbered, parts(t, 0, 0, 9, 36, true, given)), "", "columns of"},
		"form":            {slices.Concat(numbered, parts(t, 0, 0, 9, 37, false, given)), "", "rows of"},
		"facts":           {slices.Concat(numbered, parts(t, 0, 0, 9, 37, true, Persons{MaxRows: 8, Given: true})), "", "facts of"},
		"numbers":         {slices.Concat(one, parts(t, 0, 9, 9, 37, true, coded)), "", "persons of"},
		"sets":            {slices.Concat(set, other), other[0], "persons of"},
		"the first alone": {set[:1], set[0], "part 1"},
		"the last alone":  {set[2:], set[2], "part 3"},
		"none in between": {[]string{set[0], set[2]}, set[2], "must be the part"},
		"another order":   {[]string{set[0], set[2], set[1]}, set[2], "must be the part"},
		"twice":           {[]string{set[0], set[1], set[1], set[2]}, set[1], "must be the part"},
		"another's":       {[]string{set[0], other[1], set[2]}, other[1], "must be the part"},
		"another between": {slices.Concat(set[:1], one, set[1:]), one[0], "must be the part"},
		"none":            {nil, "", "files"},
	} {
		if len(c.paths) > 1 && c.at == "" {
			c.at = c.paths[len(c.paths)-1]
		}
		f, err := Open(c.paths...)
		if !errors.Is(err, check.ErrRowFile) || !strings.Contains(err.Error(), c.at) || !strings.Contains(err.Error(), c.rule) {
			t.Errorf("%s: %v", name, err)
		}
		if f != nil {
			t.Errorf("%s: it is open", name)
		}
	}
	if f, err := Open(append(set, set[0]+"x")...); !errors.Is(err, os.ErrNotExist) || f != nil {
		t.Errorf("a file that isn't there: %v", err)
	}
}

// The bytes of parts follow from the rows.
func TestPartsAreTheSameBytes(t *testing.T) {
	a, b := parts(t, 200_000, 0, 5000, 37, false, Persons{}), parts(t, 200_000, 0, 5000, 37, false, Persons{})
	for k := range a {
		x, err := os.ReadFile(a[k])
		if err != nil {
			t.Fatal(err)
		}
		if y, err := os.ReadFile(b[k]); err != nil || !bytes.Equal(x, y) {
			t.Errorf("part %d differs (%v)", k+1, err)
		}
	}
}

// Nothing is left of parts that aren't whole, and none is written over.
func TestHalfWrittenParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.rows")
	begin := func() *Writer {
		w, err := CreateParts(path, 500_000, Facts{Columns: 37})
		if err != nil {
			t.Fatal(err)
		}
		values, label, _ := row(1, 37)
		for range 5000 {
			if err := w.Append(nil, values, label); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	left := func() int {
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	begin().Discard()
	if left() != 0 {
		t.Errorf("%d files are left", left())
	}
	w := begin()
	if err := os.WriteFile(PartPath(path, 3), nil, 0o600); err != nil { // meanwhile, or before
		t.Fatal(err)
	}
	if err := w.Close(Details{}); !errors.Is(err, check.ErrRowFile) || left() != 1 || len(w.Paths()) > 0 {
		t.Errorf("a name that was taken: %v, %d files are left", err, left())
	}
	if _, err := CreateParts(path, 0, Facts{Columns: 37}); !errors.Is(err, check.ErrConfig) {
		t.Error(err)
	}
}

// A part of a name is found whatever its number, and none but a part.
func TestFreeParts(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a+b%d.rows")
	others := []string{"a+b%d.rows", "aab%d-00001.rows", "a+b%d-1.rows", "a+b%d-000001.rows", "a+b%d-00001.rows.gz", "a+b%d-test-00001.rows", "xa+b%d-00001.rows", "a+b%d-00001xrows"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := FreeParts(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(PartPath(path, 4321), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := FreeParts(path); !errors.Is(err, check.ErrRowFile) || !strings.Contains(err.Error(), PartPath(path, 4321)) {
		t.Error(err)
	}
	if err := FreeParts(filepath.Join(dir, "none", "x.rows")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
