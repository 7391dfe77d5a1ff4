package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
)

// From a header to predictions: a schema to fill in, a plan, a model in a file, what it
// says, and its predictions for a file whose columns come in another order.
func TestFromHeaderToPredictions(t *testing.T) {
	data, dir := people(t, 2000), t.TempDir()
	empty, model, output := filepath.Join(dir, "schema.json"), filepath.Join(dir, "model.json"), filepath.Join(dir, "out.csv")
	if _, said := csvfit(t, "init", "-data", data, "-o", empty); !strings.Contains(said, "replace each FILL IN") {
		t.Errorf("init says %q", said)
	}
	text, err := os.ReadFile(empty)
	if shown, _ := csvfit(t, "init", "-data", data); err != nil || string(text) != shown || strings.Count(shown, "FILL IN") != 9 || strings.Contains(shown, "york") {
		t.Errorf("%v: schema to fill in\n%s", err, text)
	}
	filled := schema(t, "rich", rich)
	planned, _ := csvfit(t, "plan", "-schema", filled, "-rows", "2000", "-epsilon", "2")
	fitted, _ := csvfit(t, "fit", "-data", data, "-schema", filled, "-epsilon", "2", "-o", model, "-insecure-noise-seed", "1")
	_, ledger, _ := strings.Cut(planned, "\n")
	if !strings.Contains(fitted, strings.TrimSpace(ledger)) || !strings.Contains(fitted, "0 held out") || strings.Contains(fitted, "log_loss") {
		t.Errorf("planned\n%s\nand did\n%s", planned, fitted)
	}
	shown, _ := csvfit(t, "show", "-model", model)
	for _, want := range []string{"logistic model of rich = yes", "ε = 2", "age  ", "town=hull", "sector=b", "(Intercept)", "predicts from age, town, sector", `"label": "rich"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the model doesn't show %q:\n%s", want, shown)
		}
	}
	queries := write(t, "new.csv", "\ufeffname;sector;town;age\n\"A;B\";b;york;69\nC;a;hull;20\n")
	csvfit(t, "predict", "-model", model, "-data", queries, "-o", output)
	text, err = os.ReadFile(output)
	if streamed, _ := csvfit(t, "predict", "-model", model, "-data", queries); err != nil || streamed != string(text) {
		t.Errorf("%v: predictions\n%s, on standard output\n%s", err, text, streamed)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0], ",") != "name,sector,town,age,probability,class" || rows[1][0] != "A;B" || rows[1][5] != "yes" || rows[2][5] != "no" {
		t.Fatalf("%v: predictions %q", err, rows)
	}
	m, _, err := readModel(model)
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Encode(map[string]string{"age": "69", "town": "york", "sector": "b"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Means(x)
	if got, _ := strconv.ParseFloat(rows[1][4], 64); err != nil || math.Abs(got-p[0]) > 1e-6 {
		t.Errorf("probability %v in the file, %v (%v) by the library", got, p, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".csvfit-*")); err != nil || len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
}

// More rows than are predicted at a time come out in their order.
func TestPredictsFilesOfAnyLength(t *testing.T) {
	const rows = 5*batch + 7 // more chunks than are in work
	data, model := people(t, rows), filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", data, "-schema", schema(t, "pay", pay), "-epsilon", "2", "-o", model, "-insecure-noise-seed", "1")
	out, _ := csvfit(t, "predict", "-model", model, "-data", data)
	read, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(read) != rows+1 || read[0][7] != "prediction" {
		t.Fatalf("%v: %d rows, %q", err, len(read), read[0])
	}
	m, _, err := readModel(model)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range read[1:] {
		x, err := m.EncodeRows(read[0], row)
		if err != nil {
			t.Fatal(err)
		}
		mean, err := m.Means(x)
		if got, _ := strconv.ParseFloat(row[7], 64); err != nil || row[0] != strconv.Itoa(i) || math.Abs(got-mean[0]) > 1e-5*math.Abs(mean[0]) {
			t.Fatalf("row %d is %q, want %v (%v)", i, row, mean, err)
		}
	}
}

// What is predicted has a name that says what it is, also for models of other losses.
func TestNamesOfPredictions(t *testing.T) {
	data := people(t, 300)
	for _, c := range []struct{ label, kind, loss, want, value string }{
		{"rich", rich, "hinge", "class", "yes no"},
		{"rich", rich, "logistic", "probability,class", "yes no"},
		{"pay", `"kind": "binary", "above": 55`, "logistic", "probability,class", "1 0"},
		{"visits", visits, "poisson", "prediction", ""},
		{"rich", rich, "probit", "probability,class", "yes no"},
		{"pay", pay, "gamma", "prediction", ""},
	} {
		model := filepath.Join(t.TempDir(), "model.json")
		csvfit(t, "fit", "-data", data, "-schema", schema(t, c.label, c.kind), "-loss", c.loss, "-epsilon", "3", "-o", model)
		out, _ := csvfit(t, "predict", "-model", model, "-data", data)
		lines := strings.Split(out, "\n")
		last := lines[1][strings.LastIndex(lines[1], ",")+1:]
		if !strings.HasSuffix(lines[0], ",visits,"+c.want) || c.value != "" && !strings.Contains(c.value, last) {
			t.Errorf("%+v: %s\n%s", c, lines[0], lines[1])
		}
	}
}

// Columns that were swapped, where both are numbers, are no error, but they are said.
func TestPredictSaysWhatWasClamped(t *testing.T) {
	facts := write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "age", "kind": "numeric", "range": [18, 100]},
		{"name": "pay", "kind": "numeric", "range": [1000, 9000]}, {"name": "y", "kind": "binary", "above": 0}]}`)
	model := filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", write(t, "a.csv", "age,pay,y\n20,2000,0\n30,3000,1\n40,4000,1\n"), "-schema", facts, "-epsilon", "1", "-o", model)
	_, said := csvfit(t, "predict", "-model", model, "-data", write(t, "b.csv", "pay,age\n\n20,2000\n30,30\n"))
	for _, want := range []string{`column "age": 1 of 2 values lie outside the range [18, 100]`, `first "2000" in line 3`, `column "pay": 2 of 2 values`, "swapped columns"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if _, said := csvfit(t, "predict", "-model", model, "-data", write(t, "b.csv", "pay,age\n2000,20\n")); said != "" {
		t.Errorf("%q about nothing", said)
	}
}

func TestPredictsLIBSVM(t *testing.T) {
	data, schema := libsvm(t, 500)
	model := filepath.Join(t.TempDir(), "model.json")
	csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", "4", "-o", model, "-insecure-noise-seed", "1")
	out, _ := csvfit(t, "predict", "-model", model, "-data", write(t, "b.libsvm", "0 1:1 5:1\n0 3:1 5:1\n"))
	lines := strings.Fields(out)
	if len(lines) != 3 || lines[0] != "probability,class" || !strings.HasSuffix(lines[1], ",0") || !strings.HasSuffix(lines[2], ",1") {
		t.Errorf("%q", lines)
	}
}

// Fits spend from a budget in a file, and none that it has no room for is run.
func TestSpendsABudget(t *testing.T) {
	dir := t.TempDir()
	budget, model := filepath.Join(dir, "budget.json"), filepath.Join(dir, "model.json")
	csvfit(t, "budget", "-file", budget, "-name", "people", "-epsilon", "2", "-delta", "1e-4")
	args := []string{"fit", "-data", people(t, 300), "-schema", schema(t, "rich", rich), "-delta", "1e-5", "-budget", budget, "-name", "people"}
	csvfit(t, append(args, "-epsilon", "1.5", "-o", model)...)
	shown, _ := csvfit(t, "budget", "-file", budget)
	if !strings.Contains(shown, "to "+model) || !strings.Contains(shown, "ε = 1.5") {
		t.Errorf("the budget shows\n%s", shown)
	}
	second := filepath.Join(dir, "second.json")
	checkExit(t, "spent", append(args, "-epsilon", "2", "-o", second), 1, "budget")
	if _, err := os.Stat(second); err == nil {
		t.Error("a model was trained beyond the budget")
	}
	checkExit(t, "other data", append(args, "-epsilon", "0.1", "-o", second, "-name", "patients"), 1, `data = "patients" must be those that the budget is for, "people"`)
	persons := filepath.Join(dir, "persons.json")
	csvfit(t, "budget", "-file", persons, "-name", "people", "-unit", "person", "-epsilon", "2", "-delta", "1e-4")
	checkExit(t, "another unit", append(args, "-epsilon", "0.1", "-o", second, "-budget", persons), 2, "and a fit by this schema one row (replace-one): make a budget by csvfit budget -unit")
	checkExit(t, "another unit", append(args, "-epsilon", "0.1", "-o", second, "-budget", persons), 2, "protects one person (replace-one)")
	checkExit(t, "no name", append(args[:len(args)-2:len(args)-2], "-epsilon", "0.1", "-o", second), 2, "-budget and -name go together")
	checkExit(t, "no such neighbours", []string{"budget", "-file", second, "-name", "people", "-neighbours", "friends", "-epsilon", "2", "-delta", "1e-4"}, 2, "must be replace-one or add/remove")
	checkExit(t, "no such unit", []string{"budget", "-file", second, "-name", "people", "-unit", "household", "-epsilon", "2", "-delta", "1e-4"}, 2, "must be row, person or label")
	checkExit(t, "made twice", []string{"budget", "-file", budget, "-name", "people", "-epsilon", "2", "-delta", "1e-4"}, 1, "budget.json")
	checkExit(t, "half a budget", []string{"budget", "-file", budget, "-name", "people", "-epsilon", "2"}, 2, "go together")
	checkExit(t, "no budget", []string{"budget"}, 2, "-file is missing")
}

// Methods are scored on the same rows.
func TestComparesMethods(t *testing.T) {
	args := []string{"compare", "-data", people(t, 500), "-schema", schema(t, "rich", rich), "-epsilon", "4", "-methods", "auto,objpert"}
	out, _ := csvfit(t, args...)
	for _, want := range []string{"400 training rows, 100 held out, each fit at ε = 4", "constant", "non-private", "auto", "objpert", "log_loss", "not for release"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	out, _ = csvfit(t, append(args, "-json", "-loss", "hinge")...)
	var object struct {
		HoldOut []struct {
			Method  string
			Metrics map[string]float64
			Reason  string
		} `json:"hold_out"`
	}
	if err := json.Unmarshal([]byte(out), &object); err != nil || len(object.HoldOut) != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	for i, method := range []string{"constant", "non-private", "auto", "objpert"} {
		if r := object.HoldOut[i]; r.Method != method || (r.Metrics == nil) != (i == 1) || (r.Reason == "") != (r.Metrics != nil) {
			t.Errorf("%+v", r)
		}
	}
	if out, _ = csvfit(t, append(args, "-radius", "-1")...); strings.Count(out, "Problem.Radius = -1") != 2 {
		t.Errorf("methods that can't be used don't say why:\n%s", out)
	}
}

// Scripts get what people do.
func TestJSON(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.json")
	filled := schema(t, "rich", rich)
	planned, _ := csvfit(t, "plan", "-schema", filled, "-rows", "300", "-epsilon", "2", "-json")
	fitted, _ := csvfit(t, "fit", "-data", people(t, 300), "-schema", filled, "-epsilon", "2", "-o", model, "-json")
	shown, _ := csvfit(t, "show", "-model", model, "-json")
	var plan, fit, show struct {
		Label        string
		Rows         int
		Ledger       *dpglm.Ledger
		Coefficients []coefficient
		Model        string
		Private      map[string]float64
	}
	for text, into := range map[string]any{planned: &plan, fitted: &fit, shown: &show} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	if plan.Ledger.String() != fit.Ledger.String() || show.Ledger.String() != fit.Ledger.String() || plan.Rows != 300 || fit.Private != nil || fit.Model != model {
		t.Errorf("planned\n%s\ndid\n%s\nand shows\n%s", planned, fitted, shown)
	}
	if len(show.Coefficients) != 5 || show.Label != "rich = yes" || show.Coefficients[0].Value != fit.Coefficients[0].Value {
		t.Errorf("%s", shown)
	}
}

// A fit of stored rows is that of the file which they came from.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	rows, schema := filepath.Join(dir, "cps.rows"), "cps1988.json"
	data := filepath.Join("..", "..", "testdata", "cps1988.csv.gz")
	out := func(args ...string) string {
		t.Helper()
		var stdout, stderr strings.Builder
		if err := run(context.Background(), args, &stdout, &stderr); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr.String())
		}
		return stdout.String()
	}
	cancelled, stop := context.WithCancel(context.Background())
	stop()
	if err := run(cancelled, []string{"store", "-data", data, "-schema", schema, "-o", rows}, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	out("store", "-data", data, "-schema", schema, "-o", rows)
	var models [2]string
	for k, from := range []string{data, rows} {
		path := filepath.Join(dir, fmt.Sprint(k, ".json"))
		out("fit", "-data", from, "-schema", schema, "-epsilon", "1", "-insecure-noise-seed", "3", "-o", path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		models[k] = string(text)
	}
	if models[0] != models[1] {
		t.Errorf("%s\nis not\n%s", models[1], models[0])
	}
	for _, args := range [][]string{
		{"store", "-data", data, "-schema", schema, "-o", filepath.Join(dir, "x.csv")},
		{"store", "-data", rows, "-schema", schema, "-o", filepath.Join(dir, "x.rows")},
		{"fit", "-data", rows, "-schema", schema, "-epsilon", "1", "-test", "0.2"},
		{"compare", "-data", rows, "-schema", schema, "-epsilon", "1"},
		{"fit", "-data", rows, "-schema", "cps1988-wage.json", "-loss", "squared", "-epsilon", "1", "-o", filepath.Join(dir, "x.json")},
	} {
		var stdout, stderr strings.Builder
		if err := run(context.Background(), args, &stdout, &stderr); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	for _, command := range []string{"fit", "compare", "store", "predict", "init"} {
		var stdout, stderr strings.Builder
		args := []string{command, "-data", rows + ".gz"}
		switch command {
		case "fit":
			args = append(args, "-schema", schema, "-epsilon", "1", "-o", filepath.Join(dir, "x.json"))
		case "compare":
			args = append(args, "-schema", schema, "-epsilon", "1")
		case "store":
			args = append(args, "-schema", schema, "-o", filepath.Join(dir, "x.rows"))
		}
		if err := run(context.Background(), args, &stdout, &stderr); err == nil || !strings.Contains(err.Error()+stderr.String(), "unpack") {
			t.Errorf("%v: %v\n%s", args, err, stderr.String())
		}
	}
}
