package budgetfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// fit is the ledger of a μ-GDP release.
func fit(t testing.TB, mu float64) *mechanisms.Ledger {
	t.Helper()
	return ofRows(t)(mechanisms.Gaussian{Mu: mu}.Ledger("fit", 1, 10))
}

// ofRows states a ledger's unit.
func ofRows(t testing.TB) func(*mechanisms.Ledger, error) *mechanisms.Ledger {
	return func(l *mechanisms.Ledger, err error) *mechanisms.Ledger {
		t.Helper()
		if err == nil {
			l, err = l.WithUnit(mechanisms.OneRow())
		}
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// survey names the data of the tests' budgets.
const survey = "survey of 2024"

// total is one of theirs.
func total(group int, epsilon, delta float64) Total {
	return Total{survey, mechanisms.OneRow(), group, epsilon, delta}
}

// tenth is the μ of which exactly ten fit a new file's total.
func tenth(t testing.TB) float64 {
	t.Helper()
	g, err := mechanisms.CalibrateGaussian(1, 1e-6, 10, 10)
	if err != nil {
		t.Fatal(err)
	}
	return g.Mu
}

func created(t testing.TB) (*File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "budget.json")
	f, err := Create(context.Background(), path, one)
	if err != nil {
		t.Fatal(err)
	}
	return f, path
}

var one = total(1, 1, 1e-6)

// spend spends and begins, as a program does whose fit lacks nothing.
func spend(f *File, label string, l *mechanisms.Ledger) error {
	id, err := f.Spend(context.Background(), survey, label, l)
	if err != nil {
		return err
	}
	return f.Begin(context.Background(), id)
}

func opened(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.files.patience = time.Hour // however busy the machine is
	return f
}

func entries(t testing.TB, f *File) []Entry {
	t.Helper()
	list, err := f.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What one File spends another one knows: entries with their times, labels and ledgers,
// what remains, and the refusal with its amounts.
func TestSpendingIsKept(t *testing.T) {
	f, path := created(t)
	if got := f.String(); got != `nothing spent of (ε = 1, δ = 1e-06)-DP, unit: one row (replace-one), of "survey of 2024"` {
		t.Error(got)
	}
	for i := range 9 {
		if err := spend(f, fmt.Sprintf("fit <%d>", i), fit(t, tenth(t))); err != nil {
			t.Fatal(err)
		}
	}
	other := opened(t, path)
	list := entries(t, other)
	if len(list) != 9 || list[8].Label != "fit <8>" || list[8].Time.IsZero() || list[8].Time != list[8].Time.UTC().Truncate(time.Second) || list[8].Ledger.String() != fit(t, tenth(t)).String() {
		t.Errorf("entries are %v", list)
	}
	left, err := other.Remaining()
	if err != nil || math.Abs(left.Mu/tenth(t)-1) > 1e-6 {
		t.Errorf("%v remain, want %g (%v)", left, tenth(t), err)
	}
	err = spend(other, "too much", fit(t, 2*tenth(t)))
	if !errors.Is(err, check.ErrBudget) || !strings.Contains(err.Error(), "must fit what is left, 0.07485-GDP") {
		t.Errorf("two more where one fits give %v", err)
	}
	if err := spend(other, "the last", fit(t, left.Mu)); err != nil {
		t.Error(err)
	}
	if got := len(entries(t, f)); got != 10 {
		t.Errorf("%d entries, want 10", got)
	}
	if _, err := os.Stat(path + ".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something is left beside the file: %v", err)
	}
}

// Goroutines that spend at once, by Files of their own, get ten tenths and no more, and
// no entry is lost.
func TestGoroutinesShareAFile(t *testing.T) {
	_, path := created(t)
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		f := opened(t, path)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 3 {
				switch err := spend(f, "", fit(t, tenth(t))); {
				case err == nil:
					accepted.Add(1)
				case !errors.Is(err, check.ErrBudget):
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if n := accepted.Load(); n != 10 || len(entries(t, opened(t, path))) != 10 {
		t.Errorf("%d were accepted and %d are there, want 10", n, len(entries(t, opened(t, path))))
	}
}

// A path by symbolic links leads to the same lock and the same file, and a link stays one.
func TestSymbolicLinks(t *testing.T) {
	f, path := created(t)
	elsewhere := t.TempDir()
	link := filepath.Join(elsewhere, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(elsewhere, "dir")
	if err := os.Symlink(filepath.Dir(path), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{link, filepath.Join(dir, "budget.json")} {
		g := opened(t, name)
		if err := spend(g, "by a link", fit(t, tenth(t))); err != nil {
			t.Fatal(err)
		}
		if g.files.path != f.files.path {
			t.Errorf("%s is taken for another file than %s", g.files.path, f.files.path)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v (%v)", info.Mode(), err)
	}
	if n := len(entries(t, f)); n != 2 {
		t.Errorf("%d entries by the file's own name, want 2", n)
	}
	dangling := filepath.Join(elsewhere, "dangling")
	if err := os.Symlink(filepath.Join(elsewhere, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(context.Background(), dangling, one); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a link to nothing was taken: %v", err)
	}
}

// A second name of the file would keep what it held before.
func TestHardLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("hard links aren't counted here")
	}
	f, path := created(t)
	if err := os.Link(path, path+".copy"); err != nil {
		t.Skip(err)
	}
	if err := spend(f, "", fit(t, tenth(t))); !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), "hard link") {
		t.Errorf("a file with two names: %v", err)
	}
	if err := os.Remove(path + ".copy"); err != nil {
		t.Fatal(err)
	}
	if err := spend(f, "", fit(t, tenth(t))); err != nil {
		t.Error(err)
	}
}

// In a directory that can't be written to a budget can be read, and nothing spent.
func TestReadOnlyDirectory(t *testing.T) {
	f, path := created(t)
	if err := spend(f, "", fit(t, tenth(t))); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if probe, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		probe.Close()
		os.Remove(probe.Name())
		t.Skip("this user may write anywhere")
	}
	g := opened(t, path)
	if err := spend(g, "", fit(t, tenth(t))); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("spending gives %v", err)
	}
	if n := len(entries(t, g)); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// What can't be written is not spent, and what a dead writer left is in nobody's way.
func TestWhatAWriterLeft(t *testing.T) {
	f, path := created(t)
	if err := os.WriteFile(path+".new", []byte(`{"dpglm_bud`+strings.Repeat(" of a longer file", 1000)), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := spend(f, "", fit(t, tenth(t))); err != nil {
		t.Fatal(err)
	}
	opened(t, path)
	if err := os.MkdirAll(filepath.Join(path+".new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := spend(f, "", fit(t, tenth(t))); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("a write that fails gives %v", err)
	}
	if n := len(entries(t, opened(t, path))); n != 1 {
		t.Errorf("%d entries, want 1", n)
	}
}

// The file's mode stays as its owner set it.
func TestModeIsKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such modes")
	}
	f, path := created(t)
	for _, mode := range []fs.FileMode{0o600, 0o664} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := spend(f, "", fit(t, tenth(t))); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode is %v, want %v (%v)", info.Mode(), mode, err)
		}
	}
}

func TestFilesForGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	if _, err := Create(context.Background(), path, total(4, 1, 1e-6)); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path)
	if err := spend(f, "", fit(t, tenth(t))); !errors.Is(err, check.ErrBudget) {
		t.Errorf("a tenth of μ² for a row is too much for four, but gives %v", err)
	}
	if err := spend(f, "", fit(t, tenth(t)/2)); err != nil {
		t.Error(err)
	}
}

func TestArguments(t *testing.T) {
	f, path := created(t)
	if _, err := Create(context.Background(), path, one); !errors.Is(err, check.ErrConfig) {
		t.Errorf("a path that is taken: %v", err)
	}
	for _, c := range []Total{total(0, 1, 1e-6), total(1, 0, 1e-6), total(1, 1, 1), {Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1}, {Data: survey, Group: 1, Epsilon: 1}, {Data: strings.Repeat("a", 1001), Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1}, {Data: "\xff", Unit: mechanisms.OneRow(), Group: 1, Epsilon: 1}} {
		if _, err := Create(context.Background(), path+"2", c); err == nil {
			t.Errorf("%v was taken", c)
		}
	}
	if _, err := os.Lstat(path + "2.d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was refused left a directory: %v", err)
	}
	if _, err := Create(context.Background(), filepath.Join(path, "in a file"), total(1, 1, 0)); err == nil {
		t.Error("a budget inside a file")
	}
	if _, err := Open(path + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(filepath.Dir(path)); !errors.Is(err, check.ErrModel) {
		t.Errorf("a directory: %v", err)
	}
	if err := spend(f, "", nil); !errors.Is(err, check.ErrModel) || len(entries(t, f)) != 0 {
		t.Errorf("no ledger: %v", err)
	}
}

// A ledger so deep that it couldn't be read again isn't spent.
func TestDeepLedgers(t *testing.T) {
	f, path := created(t)
	l := fit(t, 1e-3)
	for err := error(nil); err == nil; {
		var deeper *mechanisms.Ledger
		if deeper, err = mechanisms.Sequential("", l); err == nil {
			l = deeper
		}
	}
	for ; ; l = unwrap(t, l) {
		err := spend(f, "deep", l)
		opened(t, path)
		if err == nil {
			break
		}
	}
	if len(entries(t, f)) != 1 {
		t.Error("no depth was accepted")
	}
}

// unwrap takes a ledger's outermost node away.
func unwrap(t *testing.T, l *mechanisms.Ledger) *mechanisms.Ledger {
	t.Helper()
	depth := strings.Count(l.String(), "\n") - 1 // but for the line of its unit
	l = fit(t, 1e-3)
	for range depth - 1 {
		var err error
		if l, err = mechanisms.Sequential("", l); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// A file is of data with a name and for a unit. What is spent of others, or for another one, is
// refused, with both named, and leaves no entry.
func TestFilesAreOfTheirDataAndUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget.json")
	want := Total{survey, mechanisms.OnePerson(), 2, 1, 1e-6}
	if _, err := Create(t.Context(), path, want); err != nil {
		t.Fatal(err)
	}
	f := opened(t, path)
	if got, err := f.Total(); err != nil || got != want {
		t.Errorf("of %+v (%v), want %+v", got, err, want)
	}
	person, err := mechanisms.Gaussian{Mu: 1e-3}.Ledger("fit", 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data   string
		l      *mechanisms.Ledger
		wanted []string
	}{
		{"survey of 2025", fit(t, 1e-3), []string{`"survey of 2025"`, `"survey of 2024"`}},
		{"", fit(t, 1e-3), []string{`""`, `"survey of 2024"`}},
		{survey, fit(t, 1e-3), []string{"one row (replace-one)", "one person (replace-one)"}},
		{survey, person, []string{"no stated unit", "one person (replace-one)"}},
	} {
		_, err := f.Spend(t.Context(), c.data, "", c.l)
		for _, w := range c.wanted {
			if !errors.Is(err, check.ErrConfig) || !strings.Contains(err.Error(), w) {
				t.Errorf("%q, %v: %v lacks %s", c.data, c.l.Unit(), err, w)
			}
		}
	}
	if person, err = person.WithUnit(mechanisms.OnePerson()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Spend(t.Context(), survey, "", person); err != nil || len(entries(t, f)) != 1 {
		t.Errorf("%d entries (%v), want one", len(entries(t, f)), err)
	}
	for _, data := range []string{"", "\xff", strings.Repeat("a", maxName+1)} {
		if _, err := Create(t.Context(), path+"2", Total{data, mechanisms.OneRow(), 1, 1, 0}); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%q: %v", data, err)
		}
	}
	if _, err := Create(t.Context(), path+"2", Total{survey, mechanisms.Unit{}, 1, 1, 0}); !errors.Is(err, check.ErrConfig) {
		t.Errorf("no unit: %v", err)
	}
}
