package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// With this variable set the test binary is csvfit itself, so that exit codes
// can be tested.
const asProgram = "CSVFIT_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// write makes a file, gzipped if its name ends in .gz, and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	if strings.HasSuffix(name, ".gz") {
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		b.WriteString(text)
	}
	return writeRaw(t, name, b.Bytes())
}

func writeRaw(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// people writes a CSV whose pay, in [0, 100], rises with age and is higher in
// one of three towns and in one of two sectors. Visits, at most 20, grow
// exponentially with age.
func people(t *testing.T, rows int) string {
	r := rand.New(mechanisms.NewSeededSource(11))
	var b strings.Builder
	b.WriteString("id,age,town,sector=a,sector=b,pay,rich,visits\n")
	for i := range rows {
		age, town, sector := 20+r.IntN(50), r.IntN(3), r.IntN(2)
		pay := float64(age) + 10*r.Float64()
		if town == 2 {
			pay += 12
		}
		pay += 8 * float64(sector)
		rich := "no"
		if pay > 55 {
			rich = "yes"
		}
		visits := 0
		for range 20 {
			if r.Float64() < math.Exp(float64(age-69)/25) {
				visits++
			}
		}
		fmt.Fprintf(&b, "%d,%d,%s,%d,%d,%.2f,%s,%d\n", i, age, []string{"leeds", "hull", "york"}[town], 1-sector, sector, pay, rich, visits)
	}
	return write(t, "people.csv.gz", b.String())
}

const columns = `"numeric": {"age": [20, 69]}, "categorical": {"town": ["york", "hull", "leeds"]}, "onehot_prefixes": ["sector="]`

// printed is what -json prints.
type printed struct {
	TrainingRows int     `json:"training_rows"`
	TestRows     int     `json:"test_rows"`
	Weights      int     `json:"weights"`
	FeatureBound float64 `json:"feature_bound"`
	Epsilon      float64
	Delta        float64
	Guarantee    string
	Warnings     []string
	Ledger       dpglm.Ledger
	Private      map[string]float64
	NonPrivate   map[string]float64 `json:"non_private"`
	Constant     map[string]float64
	Note         string
}

func runJSON(t *testing.T, args ...string) (printed, string) {
	t.Helper()
	var out, warnings bytes.Buffer
	if err := run(context.Background(), append(args, "-json"), &out, &warnings); err != nil {
		t.Fatal(err)
	}
	var p printed
	d := json.NewDecoder(&out)
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	if d.More() || !strings.Contains(p.Note, "not for release") {
		t.Errorf("want one object with a note, got %+v", p)
	}
	return p, warnings.String()
}

func TestFitsACSVWithASchema(t *testing.T) {
	data := people(t, 3000)
	rich := `{"label": "rich", "positive": "yes", ` + columns + `}`
	pay := `{"label": "pay", "label_bound": 100, ` + columns + `}`
	tested := map[string]bool{}
	for _, c := range []struct {
		name, loss, schema string
		args               []string
		metric             string
		least              float64
		kinked             bool
	}{
		{"label as text", "logistic", rich, nil, "accuracy", .94, false},
		{"label above a threshold", "logistic", `{"label": "pay", "threshold": 55, ` + columns + `}`, nil, "auc", .98, false},
		{"label by flag", "squared", `{"label_bound": 100, ` + columns + `}`, []string{"-label", "pay"}, "r2", .9, false},
		{"bound by flag", "squared", `{"label": "pay", ` + columns + `}`, []string{"-label-bound", "100"}, "r2", .9, false},
		{"range of labels", "squared", `{"label": "pay", "label_range": [0, 100], ` + columns + `}`, nil, "r2", .9, false},
		{"range of counts", "poisson", `{"label": "visits", "label_range": [0, 20], ` + columns + `}`, []string{"-method", "objpert"}, "deviance_explained", .75, false},
		{"squared hinge", "squaredhinge", rich, nil, "accuracy", .94, false},
		{"smoothed hinge", "smoothedhinge", rich, nil, "accuracy", .94, false},
		{"hinge", "hinge", rich, nil, "accuracy", .94, true},
		{"Huber", "huber", pay, nil, "r2", .9, false},
		{"absolute", "absolute", pay, nil, "r2", .9, true},
		{"quantile", "quantile", pay, nil, "r2", .85, true},
		{"counts", "poisson", `{"label": "visits", "label_bound": 20, ` + columns + `}`, nil, "deviance_explained", .75, false},
	} {
		tested[c.loss] = true
		args := append([]string{"-data", data, "-schema", write(t, "schema.json", c.schema), "-loss", c.loss,
			"-epsilon", "2", "-delta", "1e-5", "-insecure-noise-seed", "5"}, c.args...)
		p, warnings := runJSON(t, args...)
		if p.TrainingRows != 2400 || p.TestRows != 600 || p.Weights != 7 || p.FeatureBound != 2 {
			t.Errorf("%s: shape %+v", c.name, p)
		}
		if p.Private[c.metric] < c.least {
			t.Errorf("%s: private %v, want at least %v", c.name, p.Private, c.least)
		}
		switch {
		case c.kinked && p.NonPrivate != nil:
			t.Errorf("%s: non-private %v, want none", c.name, p.NonPrivate)
		case !c.kinked && (p.NonPrivate[c.metric] < c.least || p.Private[c.metric] > p.NonPrivate[c.metric]+.02):
			t.Errorf("%s: private %v, non-private %v, want at least %v", c.name, p.Private, p.NonPrivate, c.least)
		}
		if eps, err := p.Ledger.Epsilon(1e-5); err != nil || eps > 2 || eps < 1.99 {
			t.Errorf("%s: the ledger says ε = %v, %v, want 2", c.name, eps, err)
		}
		if !strings.Contains(p.Guarantee, "VOID") || strings.Contains(p.Guarantee, "COVERING") {
			t.Errorf("%s: guarantee %q should only say that the noise is seeded", c.name, p.Guarantee)
		}
		if !strings.Contains(warnings, "left out: id, ") || strings.Contains(warnings, "WARNING") {
			t.Errorf("%s: on stderr: %s", c.name, warnings)
		}
	}
	for _, name := range task.Losses() {
		if !tested[name] {
			t.Errorf("loss %s is not tested", name)
		}
	}
}

// The report says why there is no model to compare with.
func TestKinkedLossHasNoBaseline(t *testing.T) {
	var out bytes.Buffer
	err := run(context.Background(), []string{"-data", people(t, 100), "-label", "pay", "-loss", "quantile", "-schema-from-data", "-epsilon", "5"}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"quantile(0.9) loss", "mean_loss", "not fitted: the loss has a kink"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
}

func TestSchemaFromDataIsLoud(t *testing.T) {
	p, warnings := runJSON(t, "-data", people(t, 500), "-label", "pay", "-loss", "squared", "-schema-from-data", "-epsilon", "1")
	for _, fact := range []string{"the columns' ranges and levels", "the bound on the labels"} {
		if !strings.Contains(warnings, "WARNING: "+fact) || !strings.Contains(p.Guarantee, fact) {
			t.Errorf("%s: not in %q or %q", fact, warnings, p.Guarantee)
		}
	}
	if p.Weights != 11 || strings.Contains(p.Guarantee, "VOID") || p.Ledger.CallerNoise() {
		t.Errorf("%+v", p)
	}
	if want := 1. / 8000; p.TrainingRows != 400 || p.Delta < want*.999 || p.Delta > want*1.001 {
		t.Errorf("default δ = %v, want 400^-1.5", p.Delta)
	}
}

func TestFitsLIBSVM(t *testing.T) {
	r := rand.New(mechanisms.NewSeededSource(12))
	var b strings.Builder
	for range 2000 {
		label := 2*r.IntN(2) - 1
		fmt.Fprintf(&b, "%d %d:1 %d:1\n", label, 2+label, 4+r.IntN(6)) // column 1 or 3 gives it away
	}
	data := write(t, "a.libsvm.gz", b.String())
	p, warnings := runJSON(t, "-data", data, "-bound", "1.5", "-features", "12", "-epsilon", "1")
	if p.Weights != 13 || p.Private["accuracy"] < .99 || p.NonPrivate["accuracy"] != 1 || warnings != "" || strings.Contains(p.Guarantee, "COVERING") {
		t.Errorf("%+v, on stderr %q", p, warnings)
	}
	p, warnings = runJSON(t, "-data", data, "-schema-from-data", "-epsilon", "1")
	for _, fact := range []string{"the number of features", "the bound on the features"} {
		if !strings.Contains(warnings, "WARNING: "+fact) || !strings.Contains(p.Guarantee, fact) {
			t.Errorf("%s: not in %q or %q", fact, warnings, p.Guarantee)
		}
	}
	if p.Weights != 10 || p.FeatureBound*p.FeatureBound < 2.999 || p.FeatureBound*p.FeatureBound > 3.001 {
		t.Errorf("%+v", p)
	}
}

// The command of the package comment, on the survey that comes with the project.
func TestFitsTheSurvey(t *testing.T) {
	p, warnings := runJSON(t, "-data", "../../testdata/cps1988.csv.gz", "-schema", "cps1988.json", "-epsilon", "4", "-insecure-noise-seed", "1")
	if p.TrainingRows != 22524 || p.Weights != 13 || p.Private["accuracy"] < .71 || p.NonPrivate["accuracy"] < .72 || warnings != "" {
		t.Errorf("%+v, on stderr %q", p, warnings)
	}
}

func TestTheSeedIsForTheSplitOnly(t *testing.T) {
	args := []string{"-data", people(t, 200), "-label", "pay", "-loss", "squared", "-schema-from-data", "-epsilon", "1", "-seed", "3"}
	a, _ := runJSON(t, args...)
	b, _ := runJSON(t, args...)
	if a.NonPrivate["rmse"] != b.NonPrivate["rmse"] || a.Private["rmse"] == b.Private["rmse"] {
		t.Errorf("non-private %v and %v should be equal, private %v and %v should not", a.NonPrivate, b.NonPrivate, a.Private, b.Private)
	}
	args = append(args, "-insecure-noise-seed", "0")
	a, _ = runJSON(t, args...)
	b, _ = runJSON(t, args...)
	if a.Private["rmse"] != b.Private["rmse"] {
		t.Errorf("with seeded noise %v and %v should be equal", a.Private, b.Private)
	}
}

func TestPrintsAReport(t *testing.T) {
	var out, warnings bytes.Buffer
	err := run(context.Background(), []string{"-data", write(t, "a.csv", "u,v,y\n.1,.2,1\n.3,.4,0\n.5,.6,1\n.7,.8,0\n.9,1,1\n"),
		"-label", "y", "-bound", "1", "-epsilon", "3", "-delta", "1e-3"}, &out, &warnings)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 training rows, 1 held out, 3 weights", "auto, logistic loss", "ε = 3, δ = 0.001", "standardised GD: ", "accuracy", "log_loss", "non-private", "not for release"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
	if warnings.Len() > 0 {
		t.Errorf("on stderr: %s", &warnings)
	}
}

// Each bad input gives a message on stderr that says where it is wrong, nothing
// on stdout, and exit code 1.
func TestBadInput(t *testing.T) {
	csv := func(text string) string { return write(t, "a.csv", text) }
	good := csv("a,town,g=1,g=2,y\n1,york,1,0,1\n2,leeds,0,1,0\n3,york,0,1,0\n4,york,0,1,0\n5,york,0,1,0\n")
	withSchema := func(schema string) []string { return []string{"-data", good, "-schema", write(t, "s.json", schema)} }
	libsvm := func(text string, more ...string) []string {
		return append([]string{"-data", write(t, "a.libsvm", text), "-bound", "1"}, more...)
	}
	bounded := func(path string) []string { return []string{"-data", path, "-label", "y", "-bound", "1"} }
	for _, c := range []struct {
		name string
		args []string
		kind error
		says string
	}{
		{"duplicate columns", bounded(csv("a,a,y\n1,2,1\n")), tabular.ErrHeader, `"a"`},
		{"ragged", bounded(csv("a,y\n1,1\n2\n")), tabular.ErrRow, "row 2 has 1 fields"},
		{"not a number", bounded(csv("a,y\n1,1\nx,0\n")), tabular.ErrNumber, `row 2, column "a"`},
		{"NaN", bounded(csv("a,y\n1,1\nNaN,0\n")), tabular.ErrNumber, `row 2, column "a"`},
		{"NaN label", bounded(csv("a,y\n1,nan\n")), tabular.ErrNumber, `row 1, column "y"`},
		{"mistyped number", []string{"-data", csv("a,y\n1,1\n2o,0\n"), "-label", "y", "-schema-from-data"}, tabular.ErrNumber, `row 2, column "a"`},
		{"label not binary", bounded(csv("a,y\n1,1\n2,7\n3,7\n4,7\n5,7\n")), dpglm.ErrLabel, "0 or 1"},
		{"wrong gzip", bounded(writeRaw(t, "a.csv.gz", []byte("a,y\n1,1\n"))), tabular.ErrGzip, "not gzip"},
		{"hidden gzip", bounded(writeRaw(t, "a.csv", []byte("\x1f\x8b\x08rest"))), tabular.ErrGzip, "does not end in .gz"},
		{"missing file", bounded(filepath.Join(t.TempDir(), "none.csv")), os.ErrNotExist, "none.csv"},
		{"unknown ending", bounded("a.parquet"), nil, ".libsvm"},
		{"missing label", bounded(csv("a,b\n1,1\n")), tabular.ErrColumn, `"y"`},
		{"one row", bounded(csv("a,y\n1,1\n")), nil, "-test"},

		{"unsorted indices", libsvm("1 2:1 1:1\n"), tabular.ErrIndex, "line 1, pair 2"},
		{"index 0", libsvm("1 0:1\n"), tabular.ErrIndex, "line 1, pair 1"},
		{"index out of range", libsvm("1 1:1\n0 3:1\n", "-features", "2"), tabular.ErrIndex, "line 2, pair 1"},
		{"NaN value", libsvm("1 1:nan\n"), tabular.ErrNumber, "line 1, pair 1"},
		{"schema for LIBSVM", []string{"-data", "a.libsvm", "-schema", "s.json"}, nil, "-bound"},

		{"no group columns", withSchema(`{"label": "y", "numeric": {"a": [0, 1]}, "onehot_prefixes": ["h="]}`), task.ErrSchema, `"h=" is empty`},
		{"no levels", withSchema(`{"label": "y", "categorical": {"town": []}}`), tabular.ErrLevel, `"town"`},
		{"level not in the schema", withSchema(`{"label": "y", "categorical": {"town": ["york"]}}`), tabular.ErrLevel, `row 2, column "town"`},
		{"level twice", withSchema(`{"label": "y", "categorical": {"town": ["york", "leeds", "york"]}}`), tabular.ErrColumn, `"town=york"`},
		{"unknown column", withSchema(`{"label": "y", "numeric": {"b": [0, 1]}}`), task.ErrSchema, `"b"`},
		{"two roles", withSchema(`{"label": "y", "numeric": {"g=1": [0, 1]}, "onehot_prefixes": ["g="]}`), task.ErrSchema, `"g=1"`},
		{"label as feature", withSchema(`{"label": "y", "numeric": {"y": [0, 1]}}`), task.ErrSchema, `"y"`},
		{"prefix of a prefix", withSchema(`{"label": "y", "onehot_prefixes": ["g", "g="]}`), task.ErrSchema, `"g="`},
		{"empty prefix", withSchema(`{"label": "y", "onehot_prefixes": [""]}`), task.ErrSchema, "empty"},
		{"empty range", withSchema(`{"label": "y", "numeric": {"a": [1, 1]}}`), dpglm.ErrBound, `"a"`},
		{"no features", withSchema(`{"label": "y"}`), tabular.ErrColumn, "no feature"},
		{"no label", withSchema(`{"numeric": {"a": [0, 1]}}`), task.ErrSchema, "-label"},
		{"two labels", append(withSchema(`{"label": "y"}`), "-label", "a"), task.ErrSchema, `"a"`},
		{"two label bounds", append(withSchema(`{"label": "y", "label_bound": 1}`), "-label-bound", "2"), task.ErrSchema, "-label-bound is 2"},
		{"label range and bound", withSchema(`{"label": "y", "label_range": [0, 1], "label_bound": 1}`), task.ErrSchema, "excludes"},
		{"label range and flag", append(withSchema(`{"label": "y", "label_range": [0, 1]}`), "-label-bound", "2"), task.ErrSchema, "label_bound, 2, excludes"},
		{"empty label range", append(withSchema(`{"label": "y", "label_range": [1, 1], "numeric": {"a": [0, 1]}}`), "-loss", "squared"), dpglm.ErrBound, "LabelRange"},
		{"counts from 1", append(withSchema(`{"label": "y", "label_range": [1, 5], "numeric": {"a": [0, 1]}}`), "-loss", "poisson", "-method", "noisygd"), dpglm.ErrBound, "begin at 0"},
		{"two label rules", withSchema(`{"label": "y", "threshold": 1, "positive": "1"}`), task.ErrSchema, "exclude"},
		{"unknown field", withSchema(`{"label": "y", "ranges": {}}`), task.ErrSchema, "ranges"},
		{"two objects", withSchema(`{"label": "y"} {}`), task.ErrSchema, "one JSON object"},

		{"nothing public", []string{"-data", good, "-label", "y"}, nil, "-schema-from-data"},
		{"two sources of facts", append(bounded(good), "-schema-from-data"), nil, "exactly one"},
		{"negative bound", []string{"-data", csv("a,y\n1,1\n2,0\n3,0\n"), "-label", "y", "-bound", "-1"}, dpglm.ErrBound, "-1"},
		{"negative count", append(bounded(csv("a,y\n1,-1\n2,-1\n3,-1\n4,-1\n5,-1\n")), "-loss", "poisson", "-label-bound", "5"), baseline.ErrLabel, "negative"},
		{"no label bound", append(bounded(csv("a,y\n1,1\n2,0\n3,0\n")), "-loss", "squared"), dpglm.ErrBound, "label bound"},
		{"negative radius", append(bounded(csv("a,y\n1,1\n2,0\n3,0\n")), "-radius", "-1"), dpglm.ErrBound, "Radius"},
		{"unknown loss", append(bounded(good), "-loss", "cubic"), nil, "poisson, quantile"},
		{"unknown method", append(bounded(good), "-method", "magic"), nil, "noisygd"},
		{"test share", append(bounded(good), "-test", "1"), nil, "-test"},
		{"unknown flag", append(bounded(good), "-x"), nil, "-x"},
		{"stray argument", append(bounded(good), "file"), nil, `"file"`},
	} {
		args := append([]string{"-epsilon", "1"}, c.args...)
		err := run(context.Background(), args, io.Discard, io.Discard)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.kind, c.says)
		}
		checkExit(t, c.name, args, c.says)
	}
}

func checkExit(t *testing.T, name string, args []string, says string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := exec.Command(os.Args[0], args...)
	program.Env = append(os.Environ(), asProgram+"=1")
	program.Stdout, program.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := program.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%s: %v, want exit code 1", name, err)
	}
	if stdout.Len() > 0 || !strings.Contains(stderr.String(), "csvfit: ") || !strings.Contains(stderr.String(), says) {
		t.Errorf("%s: stdout %q, stderr %q", name, &stdout, &stderr)
	}
}

func TestPrivacyParametersAreNotGuessed(t *testing.T) {
	path := write(t, "a.csv", "a,y\n1,1\n2,0\n3,0\n4,1\n5,1\n")
	for _, c := range []struct {
		args []string
		kind error
		says string
	}{
		{nil, nil, "-epsilon is missing"},
		{[]string{"-epsilon", "0"}, dpglm.ErrBudget, "epsilon"},
		{[]string{"-epsilon", "1", "-delta", "0"}, dpglm.ErrBudget, "delta"},
		{[]string{"-epsilon", "nan"}, dpglm.ErrBudget, "epsilon"},
	} {
		args := append([]string{"-data", path, "-label", "y", "-bound", "9"}, c.args...)
		err := run(context.Background(), args, io.Discard, io.Discard)
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %v with %q", c.args, err, c.kind, c.says)
		}
	}
}

// A budget that is most likely a mistake is said to be one, before it is spent.
func TestWarnsAboutBudgets(t *testing.T) {
	args := []string{"-data", people(t, 500), "-label", "pay", "-loss", "squared", "-schema",
		write(t, "s.json", `{"label_bound": 100, `+columns+`}`)}
	for _, c := range []struct {
		epsilon, delta string
		want           []string
	}{
		{"10", "1e-5", nil},
		{"10.5", "1e-5", []string{"so large a budget"}},
		{"1", "0.0025", []string{"no smaller than 1/n"}}, // 1/n is 1/400
		{"1e-5", "0.002", []string{"swapped"}},
		{"1e-5", "0.5", []string{"no smaller than 1/n", "swapped"}},
	} {
		p, stderr := runJSON(t, append(args, "-epsilon", c.epsilon, "-delta", c.delta)...)
		if len(p.Warnings) != len(c.want) || strings.Count(stderr, "WARNING") != len(c.want) {
			t.Errorf("ε = %s, δ = %s: warnings %q and %q, want %q", c.epsilon, c.delta, p.Warnings, stderr, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(p.Warnings[i], want) || !strings.Contains(stderr, "csvfit: WARNING: "+p.Warnings[i]) {
				t.Errorf("ε = %s, δ = %s: %q and %q, want %q", c.epsilon, c.delta, p.Warnings[i], stderr, want)
			}
		}
	}
}

// Every kind of label has its metrics, the private model's beside the others'. What
// isn't defined, such as the slope of equal scores, is null and a dash.
func TestMetrics(t *testing.T) {
	data := people(t, 500)
	for _, c := range []struct {
		loss, label string
		names       []string
	}{
		{"logistic", `"label": "rich", "positive": "yes"`, []string{"log_loss", "auc", "calibration_slope", "mean_error", "accuracy"}},
		{"squaredhinge", `"label": "rich", "positive": "yes"`, []string{"accuracy", "auc", "mean_loss"}},
		{"poisson", `"label": "visits", "label_bound": 20`, []string{"deviance", "deviance_explained", "mean_error"}},
		{"squared", `"label": "pay", "label_bound": 100`, []string{"r2", "rmse", "mean_error", "mean_loss"}},
	} {
		args := []string{"-data", data, "-schema", write(t, "s.json", "{"+c.label+", "+columns+"}"), "-loss", c.loss, "-epsilon", "4"}
		var object struct {
			Private, Constant map[string]*float64
			NonPrivate        map[string]*float64 `json:"non_private"`
		}
		var out bytes.Buffer
		if err := run(context.Background(), append(args, "-json"), &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
		for _, model := range []map[string]*float64{object.Private, object.NonPrivate, object.Constant} {
			if len(model) != len(c.names) {
				t.Errorf("%s: %d metrics, want %q", c.loss, len(model), c.names)
			}
			for _, name := range c.names {
				if v, ok := model[name]; !ok || v == nil && name != "calibration_slope" {
					t.Errorf("%s: no %s", c.loss, name)
				}
			}
		}
		if slope, ok := object.Constant["calibration_slope"]; slope != nil || ok != (c.loss == "logistic") {
			t.Errorf("%s: a constant's slope is %v", c.loss, slope)
		}
		out.Reset()
		if err := run(context.Background(), args, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		if head := "hold-out     " + c.names[0]; !strings.Contains(out.String(), head) || strings.Contains(out.String(), "–") != (c.loss == "logistic") {
			t.Errorf("%s: want %q, and a dash for a slope only:\n%s", c.loss, head, &out)
		}
	}
}

func TestHelpIsNoError(t *testing.T) {
	program := exec.Command(os.Args[0], "-h")
	program.Env = append(os.Environ(), asProgram+"=1")
	if out, err := program.CombinedOutput(); err != nil || !strings.Contains(string(out), "-epsilon") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestACancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, []string{"-data", people(t, 100), "-label", "pay", "-loss", "squared", "-schema-from-data", "-epsilon", "1"}, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
