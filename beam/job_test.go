package beam_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	beamgo "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
)

// Beam makes a file for each job in the directory for temporary files, and leaves it there. No
// pass does, whether it ends, fails or is cancelled, nor does one whose runner isn't there; and
// files of that name that another process made stay.
func TestNothingStaysInTheTemporaryDirectory(t *testing.T) {
	onPrism(t)
	of := t.TempDir()
	t.Setenv("TMPDIR", of)
	left := func() []string {
		names, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	others := filepath.Join(os.TempDir(), "beamloopbackworker-123")
	if err := os.WriteFile(others, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x, y := rows(2000, 3)
	path, _, d := opened(t, x, y)
	before := left()
	fit := func(ctx context.Context, progress func()) error {
		env := seeded()
		env.Progress = func(done, _ int) {
			if done == 2 {
				progress()
			}
		}
		_, err := dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Radius: 1}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 4}, env)
		return err
	}
	if err := fit(ctx, func() {}); err != nil {
		t.Fatal(err)
	}
	cancelled, stop := context.WithCancel(ctx)
	if err := fit(cancelled, stop); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	during, stop := context.WithCancel(ctx)
	runner := func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		stop()
		return prism.Execute(ctx, p)
	}
	if _, err := beam.OpenRows(during, path, bounds, beam.Options{Runner: runner, Temp: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a pass: %v", err)
	}
	endpoint := *jobopts.Endpoint
	*jobopts.Endpoint = "localhost:1"
	defer func() { *jobopts.Endpoint = endpoint }()
	away, stop := context.WithCancel(ctx)
	runner = func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		go stop()
		return prism.Execute(ctx, p)
	}
	if _, err := beam.OpenRows(away, path, bounds, beam.Options{Runner: runner, Temp: t.TempDir()}); err == nil {
		t.Error("a runner that isn't there has answered")
	}
	if after := left(); !slices.Equal(after, before) || !slices.Contains(after, others) {
		t.Errorf("%v, before %v", after, before)
	}
}
