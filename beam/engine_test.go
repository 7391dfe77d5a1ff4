package beam_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	beamgo "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/beam"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

var ctx = context.Background()

func TestMain(m *testing.M) {
	flag.Parse()
	elsewhere = *jobopts.Endpoint != ""
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Prism says much
	os.Exit(m.Run())
}

// elsewhere tells that Beam's flag -endpoint is given. Prism sets it, too, when it runs for the first time.
var elsewhere bool

// execute is the runner that tests run on: the one at Beam's flag -endpoint, where that is given, or else Prism.
func execute(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
	if elsewhere {
		return universal.Execute(ctx, p)
	}
	return prism.Execute(ctx, p)
}

// onPrism skips a test that isn't about the runner at -endpoint.
func onPrism(t *testing.T) {
	if elsewhere {
		t.Skip("-endpoint is given")
	}
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
	d, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: execute, Temp: temp, Pieces: 4, Attempts: 2})
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

// fits are some of all learners, as weights.
var fits = map[string]func(d *dpglm.Dataset) ([][]float64, error){
	"Auto": func(d *dpglm.Dataset) ([][]float64, error) {
		return weights(dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), seeded()))
	},
	"Infer": func(d *dpglm.Dataset) ([][]float64, error) {
		i, err := dpglm.Infer(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(4, 1e-6), dpglm.InferConfig{}, seeded())
		if err != nil {
			return nil, err
		}
		list := i.Model().Weights()
		for _, c := range i.Coefficients() {
			list = append(list, []float64{c.Estimate, c.StandardError})
		}
		return list, nil
	},
	"Softmax": func(d *dpglm.Dataset) ([][]float64, error) {
		return weights(dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}, dpglm.ApproxDP(1, 1e-6), dpglm.SoftmaxConfig{}, seeded()))
	},
	"Noisy GD": func(d *dpglm.Dataset) ([][]float64, error) {
		return weights(dpglm.NoisyGD(ctx, d, dpglm.Problem{Loss: losses.Poisson{}, Radius: 1}, dpglm.GDP(1), dpglm.NoisyGDConfig{Steps: 4, Clip: 0.5}, seeded()))
	},
	"Frank–Wolfe": func(d *dpglm.Dataset) ([][]float64, error) {
		return weights(dpglm.FrankWolfe(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.GDP(2), dpglm.FrankWolfeConfig{Steps: 4}, seeded()))
	},
	"Grid search": func(d *dpglm.Dataset) ([][]float64, error) {
		grid := dpglm.GridSearchConfig{Learner: dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Steps: 3}, K: 5}}
		return weights(dpglm.GridSearch(ctx, d, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-6), grid, seeded()))
	},
}

func weights(m *dpglm.Model, err error) ([][]float64, error) {
	if err != nil {
		return nil, err
	}
	return m.Weights(), nil
}

// alike fails where a fit on workers has other bits than in memory.
func alike(t *testing.T, name string, memory, remote *dpglm.Dataset) {
	t.Helper()
	want, err := fits[name](memory)
	if err != nil {
		t.Fatal(name, err)
	}
	got, err := fits[name](remote)
	if err != nil {
		t.Fatal(name, err)
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// A fit on workers is the one in memory, to the last bit, also where it reads copies of rows: these
// are gone when the data set is closed.
func TestSameBits(t *testing.T) {
	x, y := rows(20_000, 12)
	memory, err := dpglm.NewDataset(x, y, bounds)
	if err != nil {
		t.Fatal(err)
	}
	_, temp, remote := opened(t, x, y)
	for name := range fits {
		t.Run(name, func(t *testing.T) { alike(t, name, memory, remote) })
	}
	if err := remote.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, temp)
}

// So has one of persons with several rows each, which lie apart in the file.
func TestSameBitsOfPersons(t *testing.T) {
	const n = 6000
	x, y := rows(n, 5)
	persons := dpglm.Persons{Of: make([]int, n), MaxRows: 4}
	for i := range n {
		persons.Of[i] = i * 7919 % (n / 3)
	}
	memory, err := dpglm.NewDataset(x, y, bounds, persons)
	if err != nil {
		t.Fatal(err)
	}
	dir, temp := t.TempDir(), t.TempDir()
	for k, lo := range []int{0, n/3 + 1} { // persons have rows in both files
		part, hi := persons, []int{n/3 + 1, n}[k]
		part.Of = part.Of[lo:hi]
		if err := dpglm.WriteRows(ctx, filepath.Join(dir, fmt.Sprint(k, ".rows")), x.Slice(lo, hi, 0, 5), y[lo:hi], part); err != nil {
			t.Fatal(err)
		}
	}
	remote, err := beam.OpenRows(ctx, filepath.Join(dir, "*.rows"), bounds, beam.Options{Runner: execute, Temp: temp, Pieces: 3, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	alike(t, "Auto", memory, remote)
	if err := remote.Close(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, temp)
}

// written is when a file was.
func written(t *testing.T, name string) time.Time {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// A pass whose pipeline failed is run again for the pieces that are missing, and no more than these, and a fit has the same bits; one that always fails
// makes the fit fail, and so does one that ends without its pieces.
func TestPassesSurvive(t *testing.T) {
	onPrism(t)
	x, y := rows(20_000, 12)
	memory, err := dpglm.NewDataset(x, y, bounds)
	if err != nil {
		t.Fatal(err)
	}
	path, temp := filepath.Join(t.TempDir(), "x.rows"), t.TempDir()
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	var runs int
	var ended time.Time // a pipeline that lost something
	var again []string
	fails := func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		switch runs++; runs {
		case 3: // a job that isn't begun
			return nil, errors.New("no workers")
		case 4, 5: // one that loses what half of the workers wrote, with and without saying so
			kept, _ := filepath.Glob(filepath.Join(temp, "dpglm-*", "000002"))
			_, err := prism.Execute(ctx, p)
			if runs == 5 {
				if after, _ := filepath.Glob(filepath.Join(temp, "dpglm-*", "000002")); len(kept) != 1 || !slices.Equal(after, kept) || written(t, kept[0]).After(ended) {
					t.Errorf("a piece that was there, %v, is made again: %v", kept, after)
				}
			}
			ended = time.Now()
			lost, globErr := filepath.Glob(filepath.Join(temp, "dpglm-*", "00000[13]"))
			if err = errors.Join(err, globErr); err != nil {
				return nil, err
			}
			for _, name := range lost {
				os.Remove(name)
			}
			if runs == 4 {
				return nil, errors.New("a worker is lost")
			}
			return nil, nil
		default:
			return prism.Execute(ctx, p)
		}
	}
	o := beam.Options{Runner: fails, Temp: temp, Pieces: 3, Attempts: 2, Retrying: func(err error, there, pieces int) {
		again = append(again, fmt.Sprintf("%d of %d: %v", there, pieces, err))
	}}
	remote, err := beam.OpenRows(ctx, path, bounds, o)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	alike(t, "Noisy GD", memory, remote)
	want := []string{
		"0 of 3: a pass of the runner: no workers", "2 of 3: a pass of the runner: a worker is lost",
		"2 of 3: a pass of the runner has ended without 1 of its 3 pieces",
	}
	if !slices.Equal(again, want) {
		t.Errorf("%q, want %q", again, want)
	}
	o.Runner = func(context.Context, *beamgo.Pipeline) (beamgo.PipelineResult, error) { return nil, nil }
	if _, err := beam.OpenRows(ctx, path, bounds, o); err == nil || !strings.Contains(err.Error(), "without 3 of its 3 pieces") {
		t.Errorf("a runner that does nothing: %v", err)
	}
	nothingLeft(t, temp)
}

// What a pass writes can't be read without its key: neither the point of a question, nor sums.
func TestWhatIsWrittenIsSealed(t *testing.T) {
	onPrism(t)
	x, y := rows(2000, 3)
	path, temp := filepath.Join(t.TempDir(), "x.rows"), t.TempDir()
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	looks := func(ctx context.Context, p *beamgo.Pipeline) (beamgo.PipelineResult, error) {
		r, err := prism.Execute(ctx, p)
		list, _ := filepath.Glob(filepath.Join(temp, "*", "*"))
		for _, name := range list {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			w.Write(text)
			w.Close()
			// What is random has no names in it, and can't be packed.
			if files[filepath.Base(name)] = true; bytes.Contains(text, []byte(path)) || len(text) > 200 && packed.Len() < len(text) {
				t.Errorf("%s can be read: %d bytes for %d", name, packed.Len(), len(text))
			}
		}
		return r, err
	}
	remote, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: looks, Temp: temp, Pieces: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	if _, err := fits["Noisy GD"](remote); err != nil {
		t.Fatal(err)
	}
	if !files["question"] || !files["000000"] {
		t.Errorf("only %v were seen", files)
	}
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
	if _, err := beam.OpenRows(ctx, path, bounds, beam.Options{Runner: execute, Temp: temp}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestOptions(t *testing.T) {
	onPrism(t)
	for _, o := range []beam.Options{{}, {Runner: prism.Execute}, {Temp: t.TempDir()}, {Runner: prism.Execute, Temp: t.TempDir(), Pieces: -1}, {Runner: prism.Execute, Temp: t.TempDir(), Attempts: -1}, {Runner: prism.Execute, Temp: "gs://bucket/tmp"}} {
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
