package failing_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table/party"
)

// closed opens a file, trains so often, of which all but the first time on a part that is closed, too, and closes it.
func closed(t *testing.T, path string, e dpglm.Engine, fits int) error {
	t.Helper()
	facts := given.Forms(100, 3)[6].Facts
	open := func() (*dpglm.Dataset, error) { return dpglm.OpenRows(t.Context(), path, facts) }
	if e != nil {
		open = func() (*dpglm.Dataset, error) { return dpglm.OpenRowsOn(t.Context(), path, facts, e) }
	}
	d, err := open()
	if err != nil {
		t.Fatal(err)
	}
	of := []*dpglm.Dataset{d}
	if fits > 1 {
		train, held, err := d.Split(0.3, 1)
		if err != nil {
			t.Fatal(err)
		}
		of = append(of, train, held)
	}
	for _, d := range of[:min(fits, len(of))] {
		if _, err := dpglm.NoisyGD(t.Context(), d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 1}, given.Seeded(1)); err != nil {
			t.Error(err)
		}
	}
	for i, d := range slices.Backward(of[:min(max(fits, 1), len(of))]) {
		if err := d.Close(); err != nil {
			t.Errorf("closing %d of %s: %v", i, path, err)
		}
	}
	return errClosed
}

var errClosed = errors.New("closed as it should be")

// Files that are refused, and those of what was closed or has failed, aren't left open.
func TestFilesAreClosed(t *testing.T) {
	const descriptors = "/proc/self/fd"
	if _, err := os.Stat(descriptors); err != nil {
		t.Skip("not counted: this system doesn't list open files: ", err)
	}
	open := func() int {
		list, err := os.ReadDir(descriptors)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what is forgotten
	f, dir := given.Forms(100, 3)[6], t.TempDir()
	plain, detailed, wrong, bounded := filepath.Join(dir, "plain"), filepath.Join(dir, "detailed"), filepath.Join(dir, "wrong"), filepath.Join(dir, "bounded")
	write := func(path string, y []float64, more ...dpglm.RowDetail) {
		if err := dpglm.WriteRows(t.Context(), path, f.X, y, more...); err != nil {
			t.Fatal(err)
		}
	}
	write(plain, f.Y)
	write(detailed, f.Y, f.More...)
	write(bounded, f.Y, dpglm.AddRemove{AtMost: 200})
	bad := append([]float64{math.Inf(1)}, f.Y[1:]...)
	write(wrong, bad)
	damaged := filepath.Join(dir, "damaged")
	raw, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, raw[:len(raw)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	workers := given.Workers{Count: 2, Dir: t.TempDir()}
	narrow := dpglm.Schema{Columns: []string{"a"}, Numeric: map[string][2]float64{"a": {0, 1}}}
	for name, do := range map[string]func() error{
		"closed":                       func() error { return closed(t, plain, nil, 1) },
		"closed, persons":              func() error { return closed(t, detailed, nil, 1) },
		"closed unread, persons":       func() error { return closed(t, detailed, nil, 0) },
		"closed, by workers":           func() error { return closed(t, plain, workers, 1) },
		"closed, persons, after parts": func() error { return closed(t, detailed, nil, 2) },
		"other columns":                func() error { return given.Failure(dpglm.OpenRows(t.Context(), plain, narrow)) },
		"other columns, by workers":    func() error { return given.Failure(dpglm.OpenRowsOn(t.Context(), plain, narrow, workers)) },
		"wrong labels":                 func() error { return given.Failure(dpglm.OpenRows(t.Context(), wrong, f.Facts)) },
		"wrong labels, by workers":     func() error { return given.Failure(dpglm.OpenRowsOn(t.Context(), wrong, f.Facts, workers)) },
		"damaged":                      func() error { return given.Failure(dpglm.OpenRows(t.Context(), damaged, f.Facts)) },
		"damaged, by workers":          func() error { return given.Failure(dpglm.OpenRowsOn(t.Context(), damaged, f.Facts, workers)) },
		"a party's details":            func() error { return given.Failure(party.Open(detailed, given.AnyPlan)) },
		"a party's secret number":      func() error { return given.Failure(party.Open(bounded, given.AnyPlan)) },
		"a party's damage":             func() error { return given.Failure(party.Open(damaged, given.AnyPlan)) },
		"a party without a plan":       func() error { return given.Failure(party.Open(plain, nil)) },
	} {
		do() // workers may keep the files that they read last
		before := open()
		err := do()
		if after := open(); err == nil || after != before {
			t.Errorf("%s: %d files are open, and %d before (%v)", name, after, before, err)
		}
	}
}
