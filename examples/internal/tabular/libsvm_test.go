package tabular

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const tiny = "1 1:0.5 3:-2 # a comment\n\n-1\n0 2:1e3"

func TestReadLIBSVM(t *testing.T) {
	for _, c := range []struct{ features, cols int }{{0, 3}, {3, 3}, {7, 7}} {
		x, y, err := ReadLIBSVM(strings.NewReader(tiny), c.features)
		if err != nil {
			t.Fatal(err)
		}
		if x.Cols != c.cols || !slices.Equal(x.Indptr, []int{0, 2, 2, 3}) || !slices.Equal(x.Indices, []int{0, 2, 1}) ||
			!slices.Equal(x.Values, []float64{.5, -2, 1000}) || !slices.Equal(y, []float64{1, -1, 0}) {
			t.Errorf("%d features: %+v, labels %v", c.features, x, y)
		}
	}
}

func TestCSRTakesRows(t *testing.T) {
	x, _, err := ReadLIBSVM(strings.NewReader(tiny), 0)
	if err != nil {
		t.Fatal(err)
	}
	part := x.Take([]int{2, 1, 0})
	if !slices.Equal(part.Indptr, []int{0, 1, 1, 3}) || !slices.Equal(part.Indices, []int{1, 0, 2}) || !slices.Equal(part.Values, []float64{1000, .5, -2}) {
		t.Errorf("%+v", part)
	}
	if n, d := part.Dims(); n != 3 || d != 3 {
		t.Errorf("%d×%d", n, d)
	}
}

func TestReadLIBSVMFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.libsvm.gz")
	whole := zipped(t, tiny)
	for _, c := range []struct {
		content []byte
		kind    error
	}{{whole, nil}, {whole[:len(whole)-4], ErrGzip}, {[]byte(tiny), ErrGzip}} {
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadLIBSVMFile(path, 0); !errors.Is(err, c.kind) {
			t.Errorf("%v, want %v", err, c.kind)
		}
	}
}

func TestReadLIBSVMRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		features   int
		kind       error
		says       string
	}{
		{"empty", "\n# nothing\n", 0, ErrRow, ""},
		{"no feature anywhere", "1\n0\n", 0, ErrRow, ""},
		{"unsorted", "1 1:1\n1 4:1 2:1\n", 0, ErrIndex, "line 2, pair 2"},
		{"repeated", "1 2:1 2:1\n", 0, ErrIndex, "line 1, pair 2"},
		{"index 0", "1 0:1\n", 0, ErrIndex, "out of range"},
		{"negative index", "1 -3:1\n", 0, ErrIndex, "out of range"},
		{"beyond the features", "1 1:1\n0 5:1\n", 4, ErrIndex, "line 2, pair 1"},
		{"index of a corrupt file", "1 999999999999:1\n", 0, ErrIndex, "out of range"},
		{"negative features", "1 1:1\n", -1, ErrIndex, "number of features"},
		{"overflowing index", "1 99999999999999999999:1\n", 0, ErrIndex, "whole number"},
		{"query id", "1 qid:3 1:1\n", 0, ErrIndex, "whole number"},
		{"no colon", "1 3\n", 0, ErrNumber, "pair 1"},
		{"label", "yes 1:1\n", 0, ErrNumber, "line 1, label"},
		{"NaN label", "nan 1:1\n", 0, ErrNumber, "line 1, label"},
		{"NaN", "1 1:NaN\n", 0, ErrNumber, "line 1, pair 1"},
		{"infinity", "1 1:1 2:inf\n", 0, ErrNumber, "line 1, pair 2"},
	} {
		_, _, err := ReadLIBSVM(strings.NewReader(c.text), c.features)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.kind, c.says)
		}
	}
}
