package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/mechanisms"
)

// survey writes a file of people's health, of four levels in any case of their letters: that
// of the young, and of those with a job, is better. Some ages and towns are missing.
func survey(t *testing.T, rows int) string {
	t.Helper()
	r := rand.New(mechanisms.NewSeededSource(13))
	var b strings.Builder
	b.WriteString("age,town,job,health\n")
	for range rows {
		years := 18 + r.IntN(72)
		age, job, u := strconv.Itoa(years), r.IntN(2), r.Float64()
		if r.IntN(10) == 0 {
			age = ""
		}
		z := 2*float64(job) - 0.1*float64(years-50) + math.Log(u/(1-u))
		level := []string{"Bad", "bad", "BAD"}[r.IntN(3)]
		for k, name := range []string{"so-so", "Good", " excellent "} {
			if z > []float64{-1, 0.5, 2}[k] {
				level = name
			}
		}
		fmt.Fprintf(&b, "%s,%s,%d,%s\n", age, []string{"York", "hull", "", "Whitby"}[r.IntN(4)], job, level)
	}
	return write(t, "survey.csv", b.String())
}

// health is a schema of survey, its label with the keys given beside its levels.
func health(t *testing.T, keys string) string {
	t.Helper()
	return write(t, "health.json", `{"version": 1, "label": "health", "columns": [
		{"name": "age", "kind": "numeric", "range": [18, 90], "missing": "indicator"},
		{"name": "town", "kind": "categorical", "levels": ["York", "Hull", "else"], "other": "else", "fold_case": true, "missing": "level"},
		{"name": "job", "kind": "binary", "positive": ["1"], "negative": ["0"]},
		{"name": "health", "kind": "categorical", "levels": ["bad", "so-so", "good", "excellent"], "fold_case": true`+keys+`}]}`)
}

const ascending = `, "ordered": true, "shares": [20, 30, 30, 20]`

// levelsPrinted is what fit -json prints of a label of several levels.
type levelsPrinted struct {
	Weights      int
	Loss         string
	Method       string
	Radius       float64
	Coefficients []coefficient
	Private      map[string]float64
	NonPrivate   map[string]float64 `json:"non_private"`
	Constant     map[string]float64
	Levels       struct {
		Names     []string
		AUC       []float64
		Confusion [][]int
	}
}

// From one schema a label of several levels is fitted by softmax and, in order, by the ordinal
// loss: both beat the constant and nearly reach the model without privacy; figures agree
// with one another.
func TestFitsLevels(t *testing.T) {
	data := survey(t, 5000)
	for _, c := range []struct {
		keys               string
		args               []string
		loss, method       string
		weights, reference int
	}{
		{"", nil, "softmax", "softmax", 4 * 7, 0},
		{ascending + `, "reference": "good"`, []string{"-method", "softmax"}, "softmax", "softmax", 4 * 7, 2},
		{ascending, []string{"-loss", "ordinal"}, "ordinal", "auto", 7, -1},
		{"", []string{"-method", "oneagainstrest"}, "logistic, each level against the rest,", "oneagainstrest", 4 * 7, -1},
	} {
		out, _ := csvfit(t, append([]string{"fit", "-data", data, "-schema", health(t, c.keys), "-test", "0.2", "-json", "-epsilon", "2", "-insecure-noise-seed", "3"}, c.args...)...)
		var p levelsPrinted
		if err := json.Unmarshal([]byte(out), &p); err != nil {
			t.Fatal(err)
		}
		if p.Loss != c.loss || p.Method != c.method || p.Weights != c.weights || len(p.Coefficients) != c.weights || p.Radius != 0 {
			t.Errorf("%v: %+v", c.args, p)
		}
		above := 0.03
		if c.method == oneAgainstRest { // four models share the budget
			above = 0.06
		}
		if !(p.Private["log_loss"] < p.NonPrivate["log_loss"]+above && p.NonPrivate["log_loss"] < p.Constant["log_loss"]-0.2) || !(p.Private["auc"] > 0.7) || p.Constant["auc"] != 0.5 {
			t.Errorf("%v: private %v, non-private %v, constant %v", c.args, p.Private, p.NonPrivate, p.Constant)
		}
		var rows, right int
		var mean float64
		for k, of := range p.Levels.Confusion {
			for j, n := range of {
				if rows += n; j == k {
					right += n
				}
			}
			mean += p.Levels.AUC[k] / 4
		}
		if rows != 1000 || math.Abs(float64(right)/1000-p.Private["accuracy"]) > 1e-9 || math.Abs(mean-p.Private["auc"]) > 1e-9 || !slices.Equal(p.Levels.Names, []string{"bad", "so-so", "good", "excellent"}) {
			t.Errorf("%v: %+v of accuracy %v", c.args, p.Levels, p.Private)
		}
		for _, of := range p.Coefficients {
			if c.reference >= 0 && (of.Class == p.Levels.Names[c.reference]) != (of.Value == 0) {
				t.Errorf("%v: %+v", c.args, of)
			}
		}
	}
}

// Predictions have a column for each level and the most likely one, by either model, and for
// rows without a label; what is printed names levels.
func TestLevelsFromFitToPredictions(t *testing.T) {
	data := survey(t, 3000)
	queries := write(t, "new.csv", "town;name;job;age\nYORK;A;1;20\nnowhere;B;0;89\n;C;0;\n")
	for _, c := range []struct {
		fit, show, page []string // what is printed, besides the arguments of the first
		args            []string
	}{
		{[]string{"softmax of health, ", "4 × 7 weights", `log-odds of each level against "bad"`, "The levels ascend by the schema: -loss ordinal"}, []string{"softmax model of health"},
			[]string{"Softmax regression of 4 levels", "<th scope=\"col\" class=\"number\">so-so</th>", "over that of “bad”", "4 × 7", "town = Hull <span class=\"unit\">against York</span>"}, nil},
		{[]string{"auto, ordinal loss of health,", "a higher level, of bad &lt; so-so"}, []string{"ordinal model of health", "of bad < so-so < good < excellent"},
			[]string{"Ordinal regression (proportional odds) of 4 levels", "expected in the proportions 20 : 30 : 30 : 20", "log-odds of a higher level"}, []string{"-loss", "ordinal"}},
	} {
		model, page := filepath.Join(t.TempDir(), "model.json"), filepath.Join(t.TempDir(), "report.html")
		fitted, _ := csvfit(t, slices.Concat([]string{"fit", "-data", data, "-schema", health(t, ascending), "-epsilon", "3", "-o", model, "-report", page, "-insecure-noise-seed", "1"}, c.args)...)
		shown, _ := csvfit(t, "show", "-model", model)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for name, printed := range map[string]struct {
			text string
			want []string
		}{"fit": {strings.ReplaceAll(fitted, "<", "&lt;"), c.fit}, "show": {shown, c.show}, "page": {string(text), c.page}} {
			for _, want := range printed.want {
				if !strings.Contains(printed.text, want) {
					t.Errorf("%v: %s lacks %q:\n%.3000s", c.args, name, want, printed.text)
				}
			}
		}
		out, _ := csvfit(t, "predict", "-model", model, "-data", queries)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || strings.Join(rows[0], ",") != "town,name,job,age,probability=bad,probability=so-so,probability=good,probability=excellent,class" || len(rows) != 4 {
			t.Fatalf("%v: %q", err, rows)
		}
		for _, row := range rows[1:] {
			sum, best, of := 0.0, 0.0, ""
			for k, field := range row[4:8] {
				p, err := strconv.ParseFloat(field, 64)
				if err != nil {
					t.Fatal(err)
				}
				if sum += p; p > best {
					best, of = p, []string{"bad", "so-so", "good", "excellent"}[k]
				}
			}
			if !(math.Abs(sum-1) < 1e-5) || row[8] != of {
				t.Errorf("%v: %q", c.args, row)
			}
		}
		if rows[1][8] != "excellent" || rows[2][8] != "bad" {
			t.Errorf("%v: the young are %s, the old %s", c.args, rows[1][8], rows[2][8])
		}
	}
}

// Methods and losses that can't do levels are refused before the data are read, with what
// can.
func TestMethodsThatCantDoLevels(t *testing.T) {
	data, plain, ordered := survey(t, 40), health(t, ""), health(t, ascending)
	for _, c := range []struct {
		schema string
		args   []string
		says   string
	}{
		{plain, []string{"-method", "noisygd"}, `-method noisygd is for one score a row, and the label has 4 levels: leave out -method`},
		{ordered, []string{"-method", "objpert"}, "add -loss ordinal"},
		{plain, []string{"-loss", "logistic"}, `-loss logistic is for one number or class a row, and "health" has several levels`},
		{plain, []string{"-loss", "softmax"}, "softmax is a method"},
		{plain, []string{"-loss", "ordinal"}, `add "ordered": true to it`},
		{plain, []string{"-loss", "cubic"}, `"cubic" is not one of absolute`},
		{ordered, []string{"-loss", "ordinal", "-method", "softmax"}, "softmax has a loss of its own"},
		{ordered, []string{"-loss", "ordinal", "-method", "oneagainstrest"}, "oneagainstrest has a loss of its own"},
		{schema(t, "rich", rich), []string{"-method", "oneagainstrest"}, "-method oneagainstrest is for a label of three levels or more"},
		{plain, []string{"-radius", "2"}, "-radius 2 is for methods of one score: leave it out for softmax"},
		{plain, []string{"-radius", "2", "-method", "oneagainstrest"}, "-radius 2 is for methods of one score: leave it out for oneagainstrest"},
		{plain, []string{"-method", "sofmax"}, "outputpert, softmax, standardised"},
		{schema(t, "rich", rich), []string{"-method", "softmax"}, "three levels or more"},
		{schema(t, "visits", visits), []string{"-loss", "ordinal"}, `and "visits" is count`},
	} {
		for _, command := range [][]string{{"fit", "-data", data, "-test", "0.5"}, {"plan", "-rows", "99"}} {
			checkExit(t, c.says, slices.Concat(command, []string{"-schema", c.schema, "-epsilon", "1"}, c.args), 2, c.says)
		}
	}
	checkExit(t, "LIBSVM", []string{"fit", "-test", "0.5", "-epsilon", "1", "-data", write(t, "a.libsvm", "1 1:1\n2 2:1\n3 1:1\n"),
		"-schema", write(t, "l.json", `{"features": 2, "bound": 1, "label": {"kind": "categorical", "levels": ["1", "2", "3"]}}`)}, 2, "write it as CSV")
}

// Levels without an order have intervals by -method infer, of each against the reference; the file keeps them, show and
// the page have them, and questions for one score are refused.
func TestInfersLevels(t *testing.T) {
	dir := t.TempDir()
	model, report := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	fitted, _ := csvfit(t, "fit", "-data", survey(t, 4000), "-schema", health(t, ""), "-epsilon", "8", "-delta", "1e-5", "-method", "infer", "-o", model, "-report", report, "-insecure-noise-seed", "1")
	m, found, err := readModel(model)
	if err != nil || found.classes == nil || len(m.Levels()) != 4 {
		t.Fatal(found, err)
	}
	shown, _ := csvfit(t, "show", "-model", model)
	for _, out := range []string{fitted, shown} {
		if !strings.Contains(out, found.classes.String()) || strings.Count(out, "odds ratio") != 3 || strings.Count(out, " together: Wald") != 3 {
			t.Error(out)
		}
	}
	page, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(page); !strings.Contains(text, "of each level against the reference, among the rows of both") || strings.Contains(text, "without intervals") {
		t.Error("the page has no intervals")
	}
	var object struct{ Inference *dpglm.ClassInference }
	text, _ := csvfit(t, "show", "-model", model, "-json")
	if err := json.Unmarshal([]byte(text), &object); err != nil || object.Inference.String() != found.classes.String() {
		t.Errorf("%v: %s", err, text)
	}
	checkExit(t, "a contrast of several scores", []string{"show", "-model", model, "-contrast", "town:Hull:York"}, 2, "one score")
	checkExit(t, "intervals of levels", []string{"predict", "-model", model, "-data", survey(t, 10), "-interval"}, 2, "m.json has levels, whose probabilities have no intervals: leave it out")
}

// Where labels alone are private all levels are inferred together, and neither text nor page speaks of the rows of two.
func TestInfersLevelsOfPrivateLabels(t *testing.T) {
	dir := t.TempDir()
	facts := write(t, "labels.json", strings.Replace(read(t, health(t, "")), `"label": "health",`, `"label": "health", "private": ["health"],`, 1))
	model, report := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
	fitted, _ := csvfit(t, "fit", "-data", survey(t, 4000), "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-method", "infer", "-o", model, "-report", report, "-insecure-noise-seed", "1")
	_, found, err := readModel(model)
	if err != nil || found.classes == nil || !strings.Contains(fitted, found.classes.String()) || strings.Count(fitted, " together: Wald") != 3 {
		t.Fatal(fitted, err)
	}
	page := read(t, report)
	if !strings.Contains(page, "of each level against the reference.") || strings.Contains(page+fitted, "among the rows of both") || !strings.Contains(fitted, "inference of classes together") {
		t.Error("another inference is spoken of")
	}
}

// The best methods for levels are compared on the same rows, with and without an order.
func TestComparesMethodsForLevels(t *testing.T) {
	data := survey(t, 2000)
	out, _ := csvfit(t, "compare", "-data", data, "-schema", health(t, ascending), "-epsilon", "2")
	for _, name := range []string{"constant", "non-private", softmax, oneAgainstRest} {
		if !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("no %s in\n%s", name, out)
		}
	}
	out, _ = csvfit(t, "compare", "-data", data, "-schema", health(t, ascending), "-epsilon", "2", "-loss", "ordinal", "-methods", "auto,softmax", "-json")
	var compared struct {
		HoldOut []struct {
			Method  string
			Metrics map[string]float64
		} `json:"hold_out"`
	}
	if err := json.Unmarshal([]byte(out), &compared); err != nil || len(compared.HoldOut) != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	for _, row := range compared.HoldOut[2:] {
		if !(row.Metrics["log_loss"] < compared.HoldOut[0].Metrics["log_loss"]) {
			t.Errorf("%s: %v, the constant has %v", row.Method, row.Metrics, compared.HoldOut[0].Metrics)
		}
	}
	for _, methods := range []string{"auto,noisygd", "noisygd"} {
		checkExit(t, methods, []string{"compare", "-data", data, "-schema", health(t, ""), "-epsilon", "2", "-methods", methods}, 2, "is for one score a row")
	}
}

// The survey's regions, of which wages and towns tell little, are fitted about as well as
// without privacy.
func TestFitsTheSurveysRegions(t *testing.T) {
	out, _ := csvfit(t, "fit", "-data", "../../testdata/cps1988.csv.gz", "-schema", "cps1988-region.json", "-test", "0.2", "-json", "-epsilon", "1", "-insecure-noise-seed", "3")
	var p levelsPrinted
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if !(p.Private["log_loss"] < p.NonPrivate["log_loss"]+0.01 && p.Private["log_loss"] < p.Constant["log_loss"]-0.02) {
		t.Errorf("private %v, non-private %v, constant %v", p.Private, p.NonPrivate, p.Constant)
	}
}

// A private evaluation names the levels, holds rows of its own and spends no more than the
// fit; all of its figures are on the page, and the curator's aren't.
func TestEvaluatesLevels(t *testing.T) {
	data, filled, page := survey(t, 4000), health(t, ""), filepath.Join(t.TempDir(), "report.html")
	args := []string{"fit", "-data", data, "-schema", filled, "-epsilon", "3", "-delta", "1e-6", "-evaluate", "0.25", "-test", "0.2", "-insecure-noise-seed", "1"}
	out, _ := csvfit(t, append(args, "-report", page)...)
	for _, want := range []string{"2400 training rows, 1600 held out", "(ε = 3, δ = 1e-06)", "class so-so: rate", "mean AUC", "its figures may be published"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	budget := filepath.Join(t.TempDir(), "budget.json")
	csvfit(t, "budget", "-file", budget, "-name", "people", "-epsilon", "3", "-delta", "1e-6")
	out, _ = csvfit(t, append(args, "-json", "-budget", budget, "-name", "people")...)
	spent, _ := csvfit(t, "budget", "-file", budget)
	var p struct {
		levelsPrinted
		Evaluated  int `json:"evaluation_rows"`
		Evaluation dpglm.Evaluation
	}
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.Evaluated != 800 || p.Evaluation.Rows != 800 {
		t.Fatalf("%v: %+v", err, p)
	}
	if planned := strings.Split(p.Evaluation.Ledger.String(), "\n")[1]; !strings.Contains(spent, planned) {
		t.Errorf("%s was released, and entered\n%s", planned, spent)
	}
	if of, _ := p.Evaluation.Figure("mean AUC"); !(of.Low < p.Private["auc"] && p.Private["auc"] < of.High) || p.Evaluation.Classes[1] != "so-so" {
		t.Errorf("%+v, held out %v", p.Evaluation, p.Private)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	logLoss, _ := p.Evaluation.Figure("log-loss")
	for _, want := range []string{"Of each level", "<dd>800</dd>", fmt.Sprintf("%.2f", logLoss.Value)} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if secret := fmt.Sprintf("%.4f", p.Private["log_loss"]); strings.Contains(string(text), secret) {
		t.Errorf("the page has the curator's %s", secret)
	}
	out, _ = csvfit(t, append(args, "-method", "oneagainstrest", "-report", filepath.Join(t.TempDir(), "rest.html"))...)
	for _, want := range []string{"oneagainstrest, logistic loss of health, ", "4 classes, each against the rest: ", "log-odds of each level against the rest", "class so-so: rate", "evaluation of classes: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _ = csvfit(t, "fit", "-data", data, "-schema", health(t, ascending), "-epsilon", "3", "-delta", "1e-6", "-test", "0.2", "-loss", "ordinal", "-evaluate", "0.25", "-insecure-noise-seed", "1", "-json", "-report", filepath.Join(t.TempDir(), "ordinal.html"))
	p.Evaluation = dpglm.Evaluation{}
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.Evaluated != 800 || p.Evaluation.Rows != 800 || !strings.Contains(p.Evaluation.Ledger.String(), "evaluation of levels") {
		t.Fatalf("%v: %+v", err, p)
	}
	if of, _ := p.Evaluation.Figure("mean AUC"); !(of.Low < p.Private["auc"] && p.Private["auc"] < of.High) || p.Evaluation.Classes[1] != "so-so" || p.Loss != ordinal {
		t.Errorf("%+v, held out %v", p.Evaluation, p.Private)
	}
}

// Forecasts are for levels that ascend.
func TestForecastsOfLevels(t *testing.T) {
	common := []string{"plan", "-rows", "500", "-epsilon", "1", "-expect", "-schema"}
	out, _ := csvfit(t, append(common, health(t, ascending), "-loss", "ordinal")...)
	if !strings.Contains(out, "by made-up rows") {
		t.Error(out)
	}
	checkExit(t, "softmax", append(common, health(t, "")), 2, "softmax has one for each level")
}
