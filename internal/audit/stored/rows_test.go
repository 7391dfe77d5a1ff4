package stored_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/losses"
	tables "github.com/dpglm/dpglm/table"
)

// some are all kinds of rows, or two where tests are to be short.
func some[T any](all []T) []T {
	if testing.Short() {
		return all[:2]
	}
	return all
}

// stored writes rows to a file and opens it.
func stored(t *testing.T, x mat.Matrix, y []float64, facts dpglm.Facts, more ...dpglm.RowDetail) *dpglm.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y, more...); err != nil {
		t.Fatal(err)
	}
	d, err := dpglm.OpenRows(ctx, path, facts, given.Ordered(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// storedLearners are those that rows in a file are tried with.
var storedLearners = []struct {
	name    string
	learner dpglm.Learner
	loss    losses.Loss
	long    bool // for two kinds of rows only
}{
	{"Auto", dpglm.AutoConfig{}, losses.Logistic{}, false},
	{"Auto", dpglm.AutoConfig{}, losses.Squared{}, false},
	{"StandardisedGD", dpglm.StandardisedGDConfig{}, losses.Poisson{}, false},
	{"StandardisedGD, ordinal", dpglm.StandardisedGDConfig{}, losses.Ordinal{Thresholds: []float64{-0.5, 0.5}}, true},
	{"NoisyGD", dpglm.NoisyGDConfig{Steps: 5, Clip: 0.5}, losses.Logistic{}, false},
	{"NoisyGD, moments", dpglm.NoisyGDConfig{Steps: 200, Clip: dpglm.NoClip}, losses.Squared{}, false},
	{"OutputPerturbation", dpglm.OutputPerturbationConfig{}, losses.Logistic{}, false},
	{"ObjectivePerturbation", dpglm.ObjectivePerturbationConfig{}, losses.Logistic{}, false},
	{"ObjectivePerturbation, smoothed", dpglm.ObjectivePerturbationConfig{}, losses.Hinge{}, true},
	{"FrankWolfe", dpglm.FrankWolfeConfig{Steps: 5}, losses.Logistic{}, false},
	{"FrankWolfe, within the ball", dpglm.FrankWolfeConfig{Output: dpglm.WithinBall, Steps: 9, EntryBound: 0.4, Clip: 0.3}, losses.Logistic{}, false},
	{"FrankWolfe, real labels", dpglm.FrankWolfeConfig{Output: dpglm.WithinBall, Steps: 9}, losses.Squared{}, true},
	{"FrankWolfe, projected", dpglm.JLConfig{Learner: dpglm.FrankWolfeConfig{Steps: 4}, K: 9}, losses.Logistic{}, true},
	{"FrankWolfe, searched", dpglm.GridSearchConfig{Learner: dpglm.FrankWolfeConfig{Steps: 3}}, losses.Logistic{}, true},
	{"JL", dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, K: 9}, losses.Logistic{}, false},
	{"JL, searched", dpglm.JLConfig{Learner: dpglm.GridSearchConfig{Learner: dpglm.StandardisedGDConfig{}}, K: 9, Map: dpglm.HadamardMap}, losses.Logistic{}, true},
	{"GridSearch", dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}}, losses.Logistic{}, false},
	{"GridSearch, projected", dpglm.GridSearchConfig{Learner: dpglm.JLConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, K: 9}}, losses.Logistic{}, true},
	{"Boost", dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{Steps: 5}, Chunks: 3}, losses.Logistic{}, false},
}

// Rows in a file give the bits of those in memory, and so do sums that workers made of blocks:
// of any learner, whatever the rows.
func TestStoredRowsHaveTheSameBits(t *testing.T) {
	const n, d = 4000, 40
	for kind, f := range some(given.Forms(n, d)) {
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		remote, _ := onWorkers(t, f)
		others := map[string]*dpglm.Dataset{"file": stored(t, f.X, f.Y, f.Facts, f.More...), "workers": remote}
		for where, other := range others {
			if got, want := other.Shape(), memory.Shape(); got != want {
				t.Fatalf("%s, %s: %+v, want %+v", f.Name, where, got, want)
			}
		}
		for _, c := range storedLearners {
			if c.long && kind > 0 && kind != 4 {
				continue
			}
			if c.long && !sample.Nth(2, kind/4, c.name) || !c.long && !sample.Nth(6, kind, c.name) { // each learner once at least
				continue
			}
			plan, err := c.learner.Plan(memory.Shape(), dpglm.Problem{Loss: c.loss, Radius: 2}, dpglm.ApproxDP(4, 1e-6))
			if err != nil {
				if len(f.More) > 1 { // losses that can't have offsets
					continue
				}
				t.Fatalf("%s, %s: %v", f.Name, c.name, err)
			}
			want, err := plan.Run(ctx, memory, given.Seeded(7))
			if err != nil {
				t.Fatalf("%s, %s: %v", f.Name, c.name, err)
			}
			for where, other := range others {
				got, err := plan.Run(ctx, other, given.Seeded(7))
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", f.Name, c.name, where, err)
				}
				sameBits(t, f.Name+", "+c.name+", "+where, got.Weights()[0], want.Weights()[0])
			}
		}
	}
}

func sameBits(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
		t.Errorf("%s: %x, want %x", name, got, want)
	}
}

// Splits, evaluations, inference and predictors ask other questions of a data set.
func TestStoredRowsAnswerAllQuestions(t *testing.T) {
	for i, f := range some(given.Forms(4000, 6)) {
		if !sample.Nth(3, i) {
			continue
		}
		memory, err := dpglm.NewDataset(f.X, f.Y, f.Facts, append(f.More[:len(f.More):len(f.More)], given.Ordered(1))...)
		if err != nil {
			t.Fatal(err)
		}
		remote, scratch := onWorkers(t, f)
		asked := []map[string][]float64{}
		for _, d := range []*dpglm.Dataset{memory, stored(t, f.X, f.Y, f.Facts, f.More...), remote} {
			asked = append(asked, storedAnswers(t, f.Name, d))
		}
		if len(asked[0]) < 6 {
			t.Fatalf("%s: only %d answers", f.Name, len(asked[0]))
		}
		for name, want := range asked[0] {
			sameBits(t, f.Name+", "+name, asked[1][name], want)
			sameBits(t, f.Name+", "+name+" of workers", asked[2][name], want)
		}
		if err := remote.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v (%v)", f.Name, left, err)
		}
	}
}

// storedAnswers are those of questions beside fits.
func storedAnswers(t *testing.T, name string, d *dpglm.Dataset) map[string][]float64 {
	t.Helper()
	out, problem, b := map[string][]float64{}, dpglm.Problem{Loss: losses.Logistic{}, Radius: 2}, dpglm.ApproxDP(8, 1e-6)
	train, held, err := d.Split(0.3, 5)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(ctx, train, problem, b, given.Seeded(1))
	if err != nil {
		t.Fatal(name, err)
	}
	out["split"] = m.Weights()[0]
	if _, again, err := train.Split(0.2, 6); err != nil {
		t.Fatal(err)
	} else if m, err := dpglm.Auto(ctx, again, problem, b, given.Seeded(1)); err != nil {
		t.Fatal(err)
	} else {
		out["part of a part"] = m.Weights()[0]
	}
	offsets := d.Shape().OffsetRange != [2]float64{}
	if !offsets { // of classes
		e, err := dpglm.Evaluate(ctx, held, m, b, dpglm.EvaluateConfig{}, given.Seeded(2))
		if err != nil {
			t.Fatal(name, err)
		}
		out["evaluation"] = []float64{given.FigureOf(e, "AUC").Value, given.FigureOf(e, "log-loss").Value, given.FigureOf(e, "Brier score").Value}
	}
	for of, d := range map[string]*dpglm.Dataset{"inference": d, "inference on a part": train} {
		in, err := dpglm.Infer(ctx, d, problem, b, dpglm.InferConfig{}, given.Seeded(3))
		if err != nil {
			t.Fatal(name, err)
		}
		out[of] = slices.Concat(in.Model().Weights()[0], in.Covariance().RawSymmetric().Data)
	}
	for kind, c := range map[string]dpglm.PredictorConfig{"vote": dpglm.VoteConfig{Queries: 20}, "average": dpglm.AverageConfig{Queries: 20}, "stable": dpglm.StableConfig{Queries: 20}, "descent": dpglm.DescentConfig{Queries: 20, Steps: 3}} {
		p, err := dpglm.NewPredictor(ctx, d, problem, dpglm.PureDP(20), c, given.Seeded(5))
		if err != nil {
			continue // not for rows of that kind
		}
		for i := range 20 {
			x := make([]float64, 6)
			x[i%6] = 0.5
			v, err := p.Answer(ctx, x)
			if err != nil {
				t.Fatal(name, err)
			}
			out[kind] = append(out[kind], v)
		}
	}
	if !offsets {
		classes, err := dpglm.Softmax(ctx, d, dpglm.Problem{Loss: losses.Logistic{}, Classes: 2}, b, dpglm.SoftmaxConfig{}, given.Seeded(4))
		if err == nil {
			out["softmax"] = slices.Concat(classes.Weights()...)
			e, err := dpglm.Evaluate(ctx, held, classes, b, dpglm.EvaluateConfig{}, given.Seeded(6))
			if err != nil {
				t.Fatal(name, err)
			}
			out["evaluation of classes"] = append(given.EvaluatedNumbers(e), given.FigureOf(e, "accuracy").Low, given.FigureOf(e, "log-loss").Low)
		} else if d.Shape().PersonRows == 0 {
			t.Fatal(name, err)
		}
	}
	if !offsets {
		rest, err := dpglm.OneAgainstRest(ctx, d, given.OfClasses(problem, 2), b, dpglm.OneAgainstRestConfig{}, given.Seeded(7))
		if err != nil {
			t.Fatal(name, err)
		}
		out["one against the rest"] = slices.Concat(rest.Weights()...)
	}
	return out
}

// A learner that reads the rows of two classes refuses rows in a file before it spends anything, inside others too: Plan.Check says so, which whoever
// keeps a budget asks before a run is charged, and not the run alone.
func TestStoredRowsHaveNoPairs(t *testing.T) {
	x, y := mat.NewDense(50, 3, nil), make([]float64, 50)
	d := stored(t, x, y, dpglm.Bounds{Feature: 1})
	pairs := dpglm.InferConfig{}
	p, b := dpglm.Problem{Loss: losses.Logistic{}, Classes: 3}, dpglm.GDP(1)
	for _, l := range []dpglm.Learner{pairs,
		dpglm.BoostConfig{Learner: pairs, Chunks: 2},
		dpglm.GridSearchConfig{Learner: pairs},
		dpglm.JLConfig{Learner: pairs, K: 2},
	} {
		plan, err := l.Plan(d.Shape(), p, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Check(ctx, d); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), "in memory") {
			t.Errorf("%T, before it runs: %v", l, err)
		}
		_, err = plan.Run(ctx, d, given.Seeded(1))
		var spent *dpglm.Interrupted
		if !errors.Is(err, dpglm.ErrConfig) || errors.As(err, &spent) || !strings.Contains(err.Error(), "in memory") {
			t.Errorf("%T: %v", l, err)
		}
	}
}

// A threshold is that of rows in memory, too, also where workers read them.
func TestStoredThreshold(t *testing.T) {
	x, y := mat.NewDense(3000, 1, nil), make([]float64, 3000)
	for i := range y {
		x.Set(i, 0, float64(i*7919%3000)/3000)
		if x.At(i, 0) > 0.4 {
			y[i] = 1
		}
	}
	var got [3][]float64
	memory, err := dpglm.NewDataset(x, y, dpglm.Bounds{Feature: 1})
	if err != nil {
		t.Fatal(err)
	}
	there, _ := onWorkers(t, given.Form{X: x, Y: y, Facts: dpglm.Bounds{Feature: 1}})
	for k, d := range []*dpglm.Dataset{memory, stored(t, x, y, dpglm.Bounds{Feature: 1}), there} {
		p, err := dpglm.NewPredictor(ctx, d, dpglm.Problem{}, dpglm.PureDP(5), dpglm.ThresholdConfig{Queries: 50}, given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			v, err := p.Answer(ctx, []float64{float64(i) / 50})
			if err != nil {
				t.Fatal(err)
			}
			got[k] = append(got[k], v)
		}
	}
	sameBits(t, "threshold", got[1], got[0])
	sameBits(t, "threshold by workers", got[2], got[0])
}

// A file that is damaged while a fit reads it ends the fit, with the planned ledger and without
// a model; so does one that is closed.
func TestStoredRowsThatFail(t *testing.T) {
	x, y := given.Separable(20_000, 20, 1)
	for name, harm := range map[string]func(t *testing.T, path string, d *dpglm.Dataset){
		"damaged": func(t *testing.T, path string, _ *dpglm.Dataset) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte{0x55}, 2<<20); err != nil {
				t.Fatal(err)
			}
		},
		"cut": func(t *testing.T, path string, _ *dpglm.Dataset) {
			if err := os.Truncate(path, 1<<20); err != nil {
				t.Fatal(err)
			}
		},
		"closed": func(t *testing.T, _ string, d *dpglm.Dataset) {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		path := filepath.Join(t.TempDir(), "x.rows")
		if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
			t.Fatal(err)
		}
		d, err := dpglm.OpenRows(ctx, path, dpglm.Bounds{Feature: 1, Label: 1})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := dpglm.NoisyGDConfig{Steps: 6}.Plan(d.Shape(), logistic, dpglm.GDP(1))
		if err != nil {
			t.Fatal(err)
		}
		env := given.Seeded(1)
		env.Progress = func(done, _ int) {
			if done == 3 {
				harm(t, path, d)
			}
		}
		m, err := plan.Run(ctx, d, env)
		var interrupted *dpglm.Interrupted
		if !errors.As(err, &interrupted) || !errors.Is(err, dpglm.ErrRowFile) || m != nil {
			t.Fatalf("%s: %v, %v", name, m, err)
		}
		if got, want := interrupted.Ledger.Mu(), plan.Ledger.Mu(); got != want {
			t.Errorf("%s: a ledger of %g, want %g", name, got, want)
		}
		d.Close()
	}
}

// Files that aren't for the facts given, or for none, are refused, as are rows and labels that
// a matrix would be refused for: by the same errors.
func TestOpenRowsRefuses(t *testing.T) {
	x, y := given.Separable(1000, 4, 1)
	x.Set(700, 2, math.NaN())
	path := filepath.Join(t.TempDir(), "x.rows")
	if err := dpglm.WriteRows(ctx, path, x, y); err != nil {
		t.Fatal(err)
	}
	bounds := dpglm.Bounds{Feature: 1, Label: 1}
	_, want := dpglm.NewDataset(x, y, bounds)
	if _, err := dpglm.OpenRows(ctx, path, bounds); err == nil || err.Error() != want.Error() {
		t.Errorf("NaN: %v, want %v", err, want)
	}
	if err := dpglm.WriteRows(ctx, path, x, y); !errors.Is(err, dpglm.ErrRowFile) {
		t.Errorf("a second file: %v", err)
	}
	if err := dpglm.WriteRows(ctx, path+"2", x, y[1:]); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("a label too few: %v", err)
	}
	if err := dpglm.WriteRows(ctx, path+"2", x, y, dpglm.Weights{Of: y[1:], Max: 1}); !errors.Is(err, dpglm.ErrShape) {
		t.Errorf("a weight too few: %v", err)
	}
	for _, facts := range []dpglm.Facts{nil, dpglm.Bounds{}, dpglm.Schema{Columns: []string{"a"}}} {
		if _, err := dpglm.OpenRows(ctx, path, facts); err == nil {
			t.Errorf("opened with %+v", facts)
		}
	}
	if _, err := dpglm.OpenRows(ctx, path+"2", bounds); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := dpglm.OpenRows(ctx, "rows_test.go", bounds); !errors.Is(err, dpglm.ErrRowFile) {
		t.Errorf("another file: %v", err)
	}
	good, bad := stored(t, given.Sparsely(mat.DenseCopyOf(x.Slice(0, 600, 0, 4))), y[:600], bounds), make([]float64, 600)
	if _, err := dpglm.NoisyGD(ctx, good, dpglm.Problem{Loss: losses.Poisson{}, Radius: 1}, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil); err != nil {
		t.Error(err)
	}
	bad[77] = -2
	data, err := dpglm.NewDataset(mat.DenseCopyOf(x.Slice(0, 600, 0, 4)), bad, bounds)
	if err != nil {
		t.Fatal(err)
	}
	of := stored(t, mat.DenseCopyOf(x.Slice(0, 600, 0, 4)), bad, bounds)
	for _, l := range []losses.Loss{losses.Poisson{}, losses.Logistic{}} {
		p := dpglm.Problem{Loss: l, Radius: 1}
		_, want := dpglm.NoisyGD(ctx, data, p, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil)
		if _, err := dpglm.NoisyGD(ctx, of, p, dpglm.GDP(1), dpglm.NoisyGDConfig{}, nil); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", l.Name(), err, want)
		}
	}
}

// A table that goes to a file from its reader is the one that would be kept in memory.
func TestWrittenTables(t *testing.T) {
	schema := tables.Schema{
		Version: tables.Version,
		Columns: []tables.Column{
			{Name: "id", Kind: tables.ID}, {Name: "x", Kind: tables.Numeric, Range: []float64{0, 10}},
			{Name: "visits", Kind: tables.Count, Cap: 4}, {Name: "days", Kind: tables.Numeric, Range: []float64{1, 300}},
		},
		Label: "visits", Person: "id", MaxRows: 2, Exposure: "days",
	}
	var csv strings.Builder
	csv.WriteString("id,x,visits,days\n")
	for i := range 2000 {
		fmt.Fprintf(&csv, "p%d,%d,%d,%d\n", i*i%900, i%11, i%6, 1+i%365)
	}
	read, err := tables.ReadCSV(strings.NewReader(csv.String()), schema)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := dpglm.NewTableDataset(read, given.Ordered(1))
	if err != nil {
		t.Fatal(err)
	}
	src, err := tables.NewCSV(strings.NewReader(csv.String()), 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.rows")
	warnings, err := tables.Write(ctx, path, src, schema)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(warnings, read.Warnings()) {
		t.Errorf("%q, want %q", warnings, read.Warnings())
	}
	file, err := dpglm.OpenRows(ctx, path, nil, given.Ordered(1))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if file.Shape() != memory.Shape() {
		t.Errorf("%+v, want %+v", file.Shape(), memory.Shape())
	}
	var weights [2][]float64
	for k, d := range []*dpglm.Dataset{memory, file} {
		m, err := dpglm.Auto(ctx, d, dpglm.Problem{Loss: losses.Poisson{}}, dpglm.GDP(5), given.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		weights[k] = m.Weights()[0]
		if m.Encoder() == nil {
			t.Error("the model has no schema")
		}
	}
	sameBits(t, "table", weights[1], weights[0])
	if _, err := dpglm.OpenRows(ctx, path, dpglm.Bounds{Feature: 1}); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("facts beside a schema: %v", err)
	}
}
