package main

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/mechanisms"
)

const data = "../../testdata/cps1988.csv.gz"

// The claim that the README makes for this program. Splits and noise are
// seeded, so this can't fail by chance.
func TestPrivateAccuracyIsWithinOnePointOfNonPrivate(t *testing.T) {
	const runs = 10
	var private, nonPrivate, majority float64
	for seed := range uint64(runs) {
		o, err := trial(data, 1, seed, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed + 1000)})
		if err != nil {
			t.Fatal(err)
		}
		private += metrics.Value(o.private, "accuracy") / runs
		nonPrivate += metrics.Value(o.nonPrivate, "accuracy") / runs
		majority += metrics.Value(o.constant, "accuracy") / runs
	}
	t.Logf("private %.4f, non-private %.4f, majority %.4f", private, nonPrivate, majority)
	if math.Abs(private-nonPrivate) > .01 {
		t.Errorf("private accuracy %.4f is more than a point away from the non-private %.4f", private, nonPrivate)
	}
	if nonPrivate < .73 || majority > .60 {
		t.Errorf("non-private %.4f and majority %.4f are not those of this survey", nonPrivate, majority)
	}
}

func TestRunPrintsTheGuarantee(t *testing.T) {
	var out strings.Builder
	if err := run(&out, data, 4, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ε = 4,", "δ = 2.96e-07", "replacing one of 22524 rows", "standardised GD: ", "log_loss", "calibration_slope", "non-private", "not for release"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "NOTE") {
		t.Error("the noise should come from the cryptographic source")
	}
}

func TestRunRefusesBadInput(t *testing.T) {
	if err := run(io.Discard, filepath.Join(t.TempDir(), "none.csv.gz"), 1, 1); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "-data") {
		t.Errorf("a missing file: %v", err)
	}
	if err := run(io.Discard, data, -1, 1); !errors.Is(err, dpglm.ErrBudget) {
		t.Errorf("a negative ε: %v", err)
	}
	if err := run(io.Discard, data, 1, 0); err == nil {
		t.Error("no repetitions should be an error")
	}
}
