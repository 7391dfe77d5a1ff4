//go:build unix

package beam_test

import (
	"flag"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
)

var cpuRows = flag.Int("cpurows", 0, "rows of TestCPU, of 50 columns; 0 leaves it out")

// cpu is the time that this process has computed for.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// With -cpurows 2000000 it compares what a fit computes on Prism with what it does on the same
// file in this process, for the documentation.
func TestCPU(t *testing.T) {
	if *cpuRows == 0 {
		t.Skip("-cpurows isn't given")
	}
	x, y := rows(*cpuRows, 50)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	x, y = nil, nil
	fit := func(d *dpglm.Dataset, err error) ([][]float64, time.Duration) {
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), seeded())
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights(), cpu(t)
	}
	wide := dpglm.Bounds{Feature: 8, Intercept: true}
	start := cpu(t)
	want, here := fit(dpglm.OpenRows(ctx, path, wide))
	got, there := fit(beam.OpenRows(ctx, path, wide, beam.Options{Runner: prism.Execute, Temp: t.TempDir()}))
	t.Logf("%d × 50: %v here, %v on Prism: %.2f times", *cpuRows, here-start, there-here, float64(there-here)/float64(here-start))
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Error("other bits")
	}
}
