package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// Figures of rows held out come with intervals, for every kind of label, within the budget
// of the fit, and apart from those for the curator.
func TestEvaluates(t *testing.T) {
	data := people(t, 3000)
	for _, c := range []struct {
		label, kind string
		figure      string
		least       float64
	}{
		{"rich", rich, "AUC", 0.9},
		{"pay", pay, "R²", 0.6},
		{"visits", visits, "R²", 0.4},
	} {
		args := []string{"fit", "-data", data, "-schema", schema(t, c.label, c.kind), "-epsilon", "8", "-delta", "1e-5",
			"-evaluate", "0.3", "-insecure-noise-seed", "1", "-test", "0.1"}
		var object struct {
			TrainingRows   int `json:"training_rows"`
			EvaluationRows int `json:"evaluation_rows"`
			TestRows       int `json:"test_rows"`
			Guarantee      string
			Evaluation     *dpglm.Evaluation
			Ledger         *dpglm.Ledger
		}
		text, _ := csvfit(t, append(args, "-json")...)
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if object.TrainingRows != 1890 || object.EvaluationRows != 810 || object.TestRows != 300 || !strings.Contains(object.Guarantee, "one of 2700 rows") {
			t.Errorf("%s: %+v", c.label, object)
		}
		v, _ := object.Evaluation.Figure(c.figure)
		if !(v.Low < v.Value && v.Value <= 1 && v.Value > c.least) {
			t.Errorf("%s: %+v", c.label, v)
		}
		if !object.Ledger.Within(8, 1e-5) || object.Ledger.Within(7.9, 1e-5) || !strings.Contains(object.Ledger.String(), "evaluation: ") {
			t.Errorf("%s: %v", c.label, object.Ledger)
		}
		out, _ := csvfit(t, args...)
		_, figures, found := strings.Cut(out, "\nevaluation, private")
		figures, curators, both := strings.Cut(figures, "\nhold-out")
		if value := strconv.FormatFloat(v.Value, 'g', 4, 64); !found || !both || !strings.Contains(figures, value) || !strings.Contains(curators, "not for release") {
			t.Errorf("%s, %s:\n%s", c.label, value, out)
		}
	}
}

// A budget's file is charged for fit and evaluation before either, as the disjoint parts
// that they are: each may spend all of it, and nothing is left.
func TestEvaluationSpendsOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "budget.json")
	csvfit(t, "budget", "-file", file, "-name", "people", "-epsilon", "2", "-delta", "1e-4")
	args := []string{"fit", "-data", people(t, 500), "-schema", schema(t, "pay", pay), "-epsilon", "2", "-delta", "1e-4", "-evaluate", "0.2", "-budget", file, "-name", "people"}
	csvfit(t, append(args, "-o", filepath.Join(dir, "a.json"))...)
	spent, _ := csvfit(t, "budget", "-file", file)
	if !strings.Contains(spent, "parallel") || !strings.Contains(spent, "evaluation: ") {
		t.Errorf("spent:\n%s", spent)
	}
	checkExit(t, "again", append(args, "-o", filepath.Join(dir, "b.json")), 1, "budget")
}

// Coefficients of -method infer have errors and intervals.
func TestInfers(t *testing.T) {
	args := []string{"fit", "-data", people(t, 3000), "-schema", schema(t, "pay", pay), "-epsilon", "8", "-delta", "1e-4", "-method", "infer", "-test", "0.1", "-insecure-noise-seed", "1"}
	out, _ := csvfit(t, args...)
	for _, want := range []string{"std err", "[2.5%", "squared regression, n = 2700", "sector=b"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	text, _ := csvfit(t, append(args, "-json")...)
	var object struct {
		Coefficients []coefficient
		Inference    struct {
			Coefficients []struct {
				Name          string
				Estimate      float64
				StandardError *float64 `json:"standard_error"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &object); err != nil || len(object.Inference.Coefficients) != 5 {
		t.Fatalf("%v: %s", err, text)
	}
	if age := object.Inference.Coefficients[0]; age.StandardError == nil || age.Estimate < 0.8 || age.Estimate > 1.2 || age.Name != object.Coefficients[0].Name {
		t.Errorf("%+v", age)
	}
}

// The file of a model with intervals holds them: show prints what fit printed, and predict
// finds the model in it.
func TestIntervalsAreKept(t *testing.T) {
	data, path := people(t, 3000), filepath.Join(t.TempDir(), "m.json")
	printed, _ := csvfit(t, "fit", "-data", data, "-schema", schema(t, "pay", pay), "-epsilon", "8", "-delta", "1e-4", "-method", "infer", "-o", path, "-insecure-noise-seed", "1")
	text, err := os.ReadFile(path)
	var found dpglm.Inference
	if err := errors.Join(err, json.Unmarshal(text, &found)); err != nil {
		t.Fatal(err)
	}
	shown, _ := csvfit(t, "show", "-model", path)
	if !strings.Contains(printed, found.String()) || !strings.Contains(shown, found.String()) {
		t.Errorf("%s\nwas printed\n%s\nand is shown as\n%s", &found, printed, shown)
	}
	test, err := found.Wald(dpglm.AllZero("town=hull", "town=leeds")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{printed, shown} {
		if !strings.Contains(out, fmt.Sprintf("\nlevels of \"town\" together: %v\n", test)) || strings.Count(out, " together: Wald") != 1 {
			t.Errorf("%v is missing, or there are others, in\n%s", test, out)
		}
	}
	var object struct{ Inference *dpglm.Inference }
	shown, _ = csvfit(t, "show", "-model", path, "-json")
	if err := json.Unmarshal([]byte(shown), &object); err != nil || object.Inference == nil || object.Inference.String() != found.String() {
		t.Errorf("%v: %s", err, shown)
	}
	if predicted, _ := csvfit(t, "predict", "-model", path, "-data", data); strings.Count(predicted, "\n") != 3001 {
		t.Errorf("%.200s", predicted)
	}
}

// The page for reviewers doesn't depend on rows that are held out for the curator alone,
// on how long the fit took, or, but for the command's hash, on where files are: with these rows'
// labels turned around it is the same to the byte, and the curator's figures aren't.
func TestReportKeepsTheCuratorsFigures(t *testing.T) {
	const rows, share, seed = 600, 0.25, 7
	read, err := csv.NewReader(strings.NewReader(unzipped(t, people(t, rows)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	filled := schema(t, "rich", rich)
	report := func(held func(fields []string)) (page, printed string) {
		var b strings.Builder
		w := csv.NewWriter(&b)
		test := map[int]bool{}
		for _, i := range task.Split(rows, share, seed) {
			test[i+1] = true // after the header
		}
		for i, fields := range read {
			fields = append([]string(nil), fields...)
			if test[i] {
				held(fields)
			}
			if err := w.Write(fields); err != nil {
				t.Fatal(err)
			}
		}
		w.Flush()
		path := filepath.Join(t.TempDir(), "report.html")
		printed, _ = csvfit(t, "fit", "-data", write(t, "people.csv", b.String()), "-schema", filled, "-epsilon", "3", "-method", "infer",
			"-evaluate", "0.3", "-test", "0.25", "-seed", "7", "-insecure-noise-seed", "1", "-report", path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return commandHash.ReplaceAllString(string(text), ""), printed
	}
	a, printedA := report(func([]string) {})
	b, printedB := report(func(fields []string) {
		fields[1], fields[5] = "20", map[string]string{"yes": "no", "no": "yes"}[fields[5]]
	})
	if a != b {
		t.Error("the page depends on rows that were held out for the curator")
	}
	_, figuresA, _ := strings.Cut(printedA, "hold-out ")
	if _, figuresB, _ := strings.Cut(printedB, "hold-out "); figuresA == figuresB {
		t.Error("the curator's figures should differ")
	}
	if !strings.Contains(a, "Void.") || !strings.Contains(a, "rich = yes") || !strings.Contains(a, "people.csv") {
		t.Error("the page lacks its label, its data's name, or that noise was seeded")
	}
}

// A report stands for the model, of every method, needs no seed, and is only there when it
// is complete.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	data, filled := people(t, 400), schema(t, "rich", rich)
	for _, method := range task.Methods() {
		path := filepath.Join(dir, method+".html")
		out, _ := csvfit(t, "fit", "-data", data, "-schema", filled, "-epsilon", "2", "-evaluate", "0.3", "-method", method, "-report", path)
		text, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(text), "Void.") || !strings.Contains(out, path) {
			t.Errorf("%s: %v:\n%s", method, err, out)
		}
		if strings.Contains(string(text), "<b>without intervals</b>") == (method == "infer") {
			t.Errorf("%s: the page should say whether there are intervals", method)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(task.Methods()) {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// What -report predicts for other ε, by -mean, doesn't depend on the rows, but on how many
// there are, and it costs nothing.
func TestReportsPredict(t *testing.T) {
	data, filled := people(t, 400), schema(t, "rich", rich)
	section := func(data string, more ...string) (found string, ledger string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "report.html")
		out, _ := csvfit(t, append([]string{"fit", "-data", data, "-schema", filled, "-epsilon", "2", "-report", path}, more...)...)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, is := strings.Cut(string(text), `aria-labelledby="prediction">`); is {
			found, _, _ = strings.Cut(after, "</section>")
		}
		_, ledger, _ = strings.Cut(out, "releases, as planned")
		ledger, _, _ = strings.Cut(ledger, "\n\n")
		return found, ledger
	}
	lines := strings.SplitAfter(unzipped(t, data), "\n")
	others := lines[0] + strings.Repeat(lines[1], 400)
	none, before := section(data)
	a, after := section(data, "-mean", "0.5")
	b, _ := section(write(t, "others.csv", others), "-mean", "0.5")
	if none != "" || a == "" || a != b || before != after || !strings.Contains(a, "400 rows") || strings.Count(a, "<svg") != 2 {
		t.Errorf("without -mean %q; with it\n%s\nof other rows\n%s\nledgers %q and %q", none, a, b, before, after)
	}
	if c, _ := section(write(t, "fewer.csv", lines[0]+strings.Repeat(lines[1], 300)), "-mean", "0.5"); c == a {
		t.Error("300 rows have the prediction of 400")
	}
}
