package beam_test

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Prism says much
	beam.Init()
	os.Exit(m.Run())
}

func seeded() *dpglm.Env {
	return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)}
}

// rows are n rows of d columns with their labels.
func rows(n, d int) (*mat.Dense, []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, r.Float64()*2-1)
		}
		if x.At(i, 0)-x.At(i, 1) > r.NormFloat64()/2 {
			y[i] = 1
		}
	}
	return x, y
}

var bounds = dpglm.Bounds{Feature: 3, Label: 1, Intercept: true}

// opened is a file of rows, and a data set of it whose rows workers read.
func opened(t testing.TB, x mat.Matrix, y []float64) (path, temp string, d *dpglm.Dataset) {
	t.Helper()
	path, temp = filepath.Join(t.TempDir(), "x.rows"), t.TempDir()
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	d, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: prism.Execute, Temp: temp, Pieces: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return path, temp, d
}

// nothingLeft reports what passes left behind.
func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v (%v)", left, err)
	}
}

// A fit on Prism is the one in memory, to the last bit, also where it reads copies of rows: these
// are gone when the data set is closed.
func TestPrismHasTheSameBits(t *testing.T) {
	x, y := rows(20_000, 12)
	memory, err := dpglm.NewDataset(x, y, bounds)
	if err != nil {
		t.Fatal(err)
	}
	_, temp, remote := opened(t, x, y)
	for name, fit := range map[string]func(d *dpglm.Dataset) (*dpglm.Model, error){
		"Auto": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			return dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), seeded())
		},
		"Noisy GD": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			return dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Poisson{}, Radius: 1}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 4, Clip: 0.5}, seeded())
		},
		"Grid search": func(d *dpglm.Dataset) (*dpglm.Model, error) {
			grid := dpglm.GridSearchConfig{Learner: dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Steps: 3}, K: 5}}
			return dpglm.GridSearch(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), grid, seeded())
		},
	} {
		want, err := fit(memory)
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := fit(remote)
		if err != nil {
			t.Fatal(name, err)
		}
		if !slices.EqualFunc(got.Weights(), want.Weights(), slices.Equal) {
			t.Errorf("%s: %v, want %v", name, got.Weights(), want.Weights())
		}
	}
	if err := remote.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, temp)
}

// A worker that can't read its rows fails the fit, with the planned ledger.
func TestWorkersThatFail(t *testing.T) {
	x, y := rows(20_000, 12)
	path, temp, d := opened(t, x, y)
	plan, err := dpglm.NoisyGDConfig{Steps: 4}.Plan(d.Shape(), dpglm.Problem{Loss: losses.Logistic{}, Radius: 1}, dpglm.GDP(1))
	if err != nil {
		t.Fatal(err)
	}
	env := seeded()
	env.Progress = func(done, _ int) {
		if done == 2 {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte{0x55}, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := plan.Run(ctx, d, env)
	var interrupted *dpglm.Interrupted
	if m != nil || !errors.As(err, &interrupted) || !strings.Contains(err.Error(), "checksum") {
		t.Fatalf("%v, %v", m, err)
	}
	if got, want := interrupted.Ledger.Mu(), plan.Ledger.Mu(); got != want {
		t.Errorf("a ledger of %g, want %g", got, want)
	}
	nothingLeft(t, temp)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: prism.Execute, Temp: temp}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []beam.Options{{}, {Runner: prism.Execute}, {Temp: t.TempDir()}, {Runner: prism.Execute, Temp: t.TempDir(), Pieces: -1}, {Runner: prism.Execute, Temp: "gs://bucket/tmp"}} {
		if _, err := beam.OpenRows(ctx, "x.rows", bounds, o); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	x, y := rows(100, 2)
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	cancelled, stop := context.WithCancel(ctx)
	stop()
	temp := t.TempDir()
	if _, err := beam.OpenRows(cancelled, path, bounds, beam.Options{Runner: prism.Execute, Temp: temp}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	nothingLeft(t, temp)
}
