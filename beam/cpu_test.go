//go:build unix

package beam_test

import (
	"context"
	"flag"
	"math"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	beamgo "github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
)

var (
	cpuRows    = flag.Int("cpurows", 0, "rows of TestCPU; 0 leaves it out")
	cpuColumns = flag.Int("cpucolumns", 50, "and their columns")
)

// cpu is the time that this process has computed for.
func cpu(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// With -cpurows 2000000 it compares what a fit computes and how long it takes on a runner, Prism where no other is given, with
// the same file in this process, for the documentation. Workers elsewhere compute there.
func TestCPU(t *testing.T) {
	if *cpuRows == 0 {
		t.Skip("-cpurows isn't given")
	}
	x, y := rows(*cpuRows, *cpuColumns)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	x, y = nil, nil
	type spent struct{ cpu, all time.Duration }
	fit := func(open func() (*dpglm.Dataset, error)) ([][]float64, spent) {
		began, at := time.Now(), cpu(t)
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		m, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), seeded())
		if err != nil {
			t.Fatal(err)
		}
		return m.Weights(), spent{cpu(t) - at, time.Since(began)}
	}
	wide := dpglm.Bounds{Feature: math.Sqrt(float64(*cpuColumns)) + 1, Intercept: true}
	want, here := fit(func() (*dpglm.Dataset, error) { return dpglm.OpenRows(ctx, path, wide) })
	passes := 0
	counted := func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		passes++
		return execute(ctx, p)
	}
	got, there := fit(func() (*dpglm.Dataset, error) {
		return beam.OpenRows(ctx, path, wide, beam.Options{Runner: counted, Temp: t.TempDir()})
	})
	t.Logf("%d × %d, %d passes: computes %v here, %v there: %.2f times; takes %v here, %v there: %.2f s a pass more", *cpuRows, *cpuColumns, passes,
		here.cpu, there.cpu, float64(there.cpu)/float64(here.cpu), here.all, there.all, (there.all-here.all).Seconds()/float64(passes))
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Error("other bits")
	}
}
