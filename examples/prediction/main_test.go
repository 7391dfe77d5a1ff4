package main

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

const data = "../../testdata/cps1988.csv.gz"

// What the program says: from few rows one answer beats the released model and
// one of a thousand is far worse; from many rows at ε = 1 ten answers are as good.
// Seeded, so that this can't fail by chance.
func TestWhenAnsweringWins(t *testing.T) {
	defer func(k []int) { counts = k }(counts)
	counts = []int{1, 10, 1000}
	few, err := measure(data, setting{1000, 1}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	many, err := measure(data, setting{22524, 1}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(2)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("few rows %.3f, many %.3f", *few, *many)
	if few.vote[0] < few.released || few.vote[2] > few.released-0.1 {
		t.Errorf("few rows: votes %.3f, released %.3f", few.vote, few.released)
	}
	if many.vote[1] < many.released-0.01 || many.vote[2] > many.released-0.01 {
		t.Errorf("many rows: votes %.3f, released %.3f", many.vote, many.released)
	}
	for _, r := range []*result{few, many} {
		for k := 1; k < len(counts); k++ {
			if r.stable[k] > r.stable[k-1]+0.02 {
				t.Errorf("stable: %d answers do better than %d: %.3f", counts[k], counts[k-1], r.stable)
			}
		}
	}
}

func TestRunPrintsTheTable(t *testing.T) {
	defer func(s []setting, k []int) { settings, counts = s, k }(settings, counts)
	settings, counts = []setting{{1000, 1}}, []int{1, 2}
	var out strings.Builder
	if err := run(&out, data, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"n = 1000, ε = 1", "answers       1       2\n", "vote", "stable", "not for release"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
}

func TestRunRefusesAMissingFile(t *testing.T) {
	err := run(io.Discard, filepath.Join(t.TempDir(), "none.csv.gz"), nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "-data") {
		t.Errorf("%v", err)
	}
}
