package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

// printed is what fit -json prints.
type printed struct {
	TrainingRows int     `json:"training_rows"`
	TestRows     int     `json:"test_rows"`
	Weights      int     `json:"weights"`
	FeatureBound float64 `json:"feature_bound"`
	Label        string
	Epsilon      float64
	Delta        float64
	Guarantee    string
	Warnings     []string
	Ledger       dpglm.Ledger
	Coefficients []coefficient
	Private      map[string]float64
	NonPrivate   map[string]float64 `json:"non_private"`
	Constant     map[string]float64
	Note         string
}

// fitJSON fits with a fifth of the rows held out.
func fitJSON(t *testing.T, args ...string) (printed, string) {
	t.Helper()
	out, warnings := csvfit(t, append([]string{"fit", "-test", "0.2", "-json"}, args...)...)
	var p printed
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	if d.More() || !strings.Contains(p.Note, "not for release") {
		t.Errorf("want one object with a note, got %+v", p)
	}
	return p, warnings
}

// csvfit runs a command that must succeed.
func csvfit(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, warnings bytes.Buffer
	if err := run(context.Background(), args, &out, &warnings); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String(), warnings.String()
}

func TestFitsForEveryLoss(t *testing.T) {
	data, tested := people(t, 3000), map[string]bool{}
	for _, c := range []struct {
		name, loss, label, kind string
		args                    []string
		metric                  string
		least                   float64
		kinked                  bool
	}{
		{"label as text", "logistic", "rich", rich, nil, "accuracy", .94, false},
		{"label above a threshold", "logistic", "pay", `"kind": "binary", "above": 55`, nil, "auc", .98, false},
		{"range of labels", "squared", "pay", pay, nil, "r2", .9, false},
		{"counts by another method", "poisson", "visits", visits, []string{"-method", "objpert"}, "deviance_explained", .75, false},
		{"squared hinge", "squaredhinge", "rich", rich, nil, "accuracy", .94, false},
		{"smoothed hinge", "smoothedhinge", "rich", rich, nil, "accuracy", .94, false},
		{"hinge", "hinge", "rich", rich, nil, "accuracy", .94, true},
		{"Huber", "huber", "pay", pay, nil, "r2", .9, false},
		{"absolute", "absolute", "pay", pay, nil, "r2", .9, true},
		{"quantile", "quantile", "pay", pay, nil, "r2", .8, true},
		{"counts", "poisson", "visits", visits, nil, "deviance_explained", .75, false},
		{"spread counts", "negbinomial", "visits", visits, nil, "deviance_explained", .7, false},
		{"amounts", "gamma", "pay", pay, nil, "r2", .85, false},
		{"probit", "probit", "rich", rich, nil, "accuracy", .94, false},
	} {
		tested[c.loss] = true
		p, warnings := fitJSON(t, append([]string{"-data", data, "-schema", schema(t, c.label, c.kind), "-loss", c.loss,
			"-epsilon", "2", "-delta", "1e-5", "-insecure-noise-seed", "5"}, c.args...)...)
		if p.TrainingRows != 2400 || p.TestRows != 600 || p.Weights != 5 || p.FeatureBound != 2 || len(p.Coefficients) != 5 || p.Coefficients[4].Name != "(Intercept)" {
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
		if !strings.Contains(p.Guarantee, "VOID") {
			t.Errorf("%s: guarantee %q should say that the noise is seeded", c.name, p.Guarantee)
		}
		if !strings.Contains(warnings, `left out: "id", `) || strings.Contains(warnings, "WARNING") {
			t.Errorf("%s: on stderr: %s", c.name, warnings)
		}
	}
	tested[ordinal] = true // by TestFitsLevels
	for _, name := range task.Losses() {
		if !tested[name] {
			t.Errorf("loss %s is not tested", name)
		}
	}
}

// The report says why there is no model to compare with.
func TestKinkedLossHasNoBaseline(t *testing.T) {
	out, _ := csvfit(t, "fit", "-test", "0.2", "-data", people(t, 100), "-schema", schema(t, "pay", pay), "-loss", "quantile", "-epsilon", "5")
	for _, want := range []string{"quantile(0.9) loss", "mean_loss", "not fitted: the loss has a kink"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// libsvm writes rows of which column 1 or 3 gives the label away, and their schema.
func libsvm(t *testing.T, rows int) (data, schema string) {
	r := rand.New(mechanisms.NewSeededSource(12))
	var b strings.Builder
	for range rows {
		label := 2*r.IntN(2) - 1
		fmt.Fprintf(&b, "%d %d:1 %d:1\n", label, 2+label, 4+r.IntN(6))
	}
	return write(t, "a.libsvm.gz", b.String()), write(t, "s.json", `{"features": 12, "bound": 1.5, "label": {"kind": "binary", "positive": ["1"], "negative": ["-1"]}}`)
}

func TestFitsLIBSVM(t *testing.T) {
	data, schema := libsvm(t, 2000)
	p, warnings := fitJSON(t, "-data", data, "-schema", schema, "-epsilon", "1", "-insecure-noise-seed", "1")
	if p.Weights != 13 || p.Private["accuracy"] < .99 || p.NonPrivate["accuracy"] != 1 || warnings != "" {
		t.Errorf("%+v, on stderr %q", p, warnings)
	}
}

// The command of the package comment, on the survey that comes with the project.
func TestFitsTheSurvey(t *testing.T) {
	p, warnings := fitJSON(t, "-data", "../../testdata/cps1988.csv.gz", "-schema", "cps1988.json", "-epsilon", "4", "-insecure-noise-seed", "1")
	if p.TrainingRows != 22524 || p.Weights != 9 || p.Label != "wage > 600" || p.Private["accuracy"] < .71 || p.NonPrivate["accuracy"] < .72 || warnings != "" {
		t.Errorf("%+v, on stderr %q", p, warnings)
	}
}

// Noise of the library's own source is another one in each fit: two scores agree in all
// digits with probability below 1e-9.
func TestTheSeedIsForTheSplitOnly(t *testing.T) {
	args := []string{"-data", people(t, 200), "-schema", schema(t, "pay", pay), "-epsilon", "1", "-seed", "3"}
	a, _ := fitJSON(t, args...)
	b, _ := fitJSON(t, args...)
	if a.NonPrivate["rmse"] != b.NonPrivate["rmse"] || a.Private["rmse"] == b.Private["rmse"] {
		t.Errorf("non-private %v and %v should be equal, private %v and %v should not", a.NonPrivate, b.NonPrivate, a.Private, b.Private)
	}
	if want := 1. / 2023.857; a.TrainingRows != 160 || a.Delta < want*.999 || a.Delta > want*1.001 {
		t.Errorf("default δ = %v, want 160^-1.5", a.Delta)
	}
	args = append(args, "-insecure-noise-seed", "0")
	a, _ = fitJSON(t, args...)
	b, _ = fitJSON(t, args...)
	if a.Private["rmse"] != b.Private["rmse"] {
		t.Errorf("with seeded noise %v and %v should be equal", a.Private, b.Private)
	}
}

func TestPrintsAReport(t *testing.T) {
	out, _ := csvfit(t, "fit", "-test", "0.2", "-data", people(t, 5), "-schema", schema(t, "rich", rich), "-epsilon", "3", "-delta", "1e-3")
	for _, want := range []string{"4 training rows, 1 held out, 5 weights", "auto, logistic loss of rich = yes", "ε = 3, δ = 0.001", "standardised GD: ", "town=hull", "accuracy", "log_loss", "non-private", "not for release"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

// A budget for groups is spent on groups, of persons where the schema names them; the ledger
// is that which was planned.
func TestFitsForGroups(t *testing.T) {
	var b strings.Builder
	b.WriteString("who,x,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i/2, i%10, i%10/5)
	}
	data := write(t, "visits.csv", b.String())
	facts := `{"version": 1, "label": "y", %s "columns": [{"name": "who", "kind": %q}, {"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`
	rows, persons := fmt.Sprintf(facts, "", "ignored"), fmt.Sprintf(facts, `"person": "who", "max_rows": 2,`, "id")
	secret, somebody := fmt.Sprintf(facts, `"at_most": 500,`, "ignored"), fmt.Sprintf(facts, `"person": "who", "max_rows": 2, "at_most": 300,`, "id")
	alike := fmt.Sprintf(facts, `"person": "who", "max_rows": 2, "persons_alike": true,`, "id")
	labels := fmt.Sprintf(facts, `"private": ["y"],`, "ignored")
	p, _ := fitJSON(t, "-schema", write(t, "s.json", secret), "-data", data, "-epsilon", "1", "-evaluate", "0.25")
	if p.TrainingRows+p.TestRows != 400 || p.TestRows != 100 { // a quarter of 400 places are evaluated on
		t.Errorf("of at most 500 rows %d train and %d test", p.TrainingRows, p.TestRows)
	}
	for _, c := range []struct{ schema, count, group, guarantee, ledger, said string }{
		{rows, "400", "1", "replacing one of 400 rows", "unit: one row", ""},
		{rows, "400", "2", "replacing up to 2 of 400 rows", "unit: any 2 rows", ""},
		{persons, "200", "1", "replacing one of 200 persons", "unit: one person", `is for a person ("who") with all rows, of which at most 2 count`},
		{persons, "200", "1", "replacing one of 200 persons", "n = 200, each row counts alike", "each row counts alike"},
		{alike, "200", "1", "replacing one of 200 persons", "n = 200, each person counts alike", "each person counts alike"},
		{persons, "200", "3", "replacing up to 3 of 200 persons", "unit: any 3 persons", "all rows"},
		{labels, "400", "1", "replacing the labels of one of 400 rows; who is in the table, and all else about them, is public", "unit: one label (replace-one)", ""},
		{labels, "400", "2", "replacing the labels of up to 2 of 400 rows", "unit: any 2 labels (replace-one), n = 400; who is in the table, and all else", ""},
		{secret, "500", "1", "one more or less of at most 500 rows", "unit: one row (add/remove), n secret, at most 500; as replace-one at most (ε = 2", ""},
		{somebody, "300", "2", "up to 2 more or less of at most 300 persons", "unit: any 2 persons", "all rows"},
	} {
		args := []string{"-schema", write(t, "s.json", c.schema), "-epsilon", "1", "-delta", "1e-5", "-group", c.group}
		model := filepath.Join(t.TempDir(), "m.json")
		out, said := csvfit(t, append([]string{"fit", "-data", data, "-o", model}, args...)...)
		if !strings.Contains(out, c.guarantee) || !strings.Contains(out, c.ledger) || !strings.Contains(said, c.said) {
			t.Errorf("group %s:\n%s\non stderr %s", c.group, out, said)
		}
		planned, _ := csvfit(t, append([]string{"plan", "-rows", c.count}, args...)...)
		planned, _, _ = strings.Cut(planned, "NOTE: the budget")
		if _, ledger, _ := strings.Cut(planned, "\n"); !strings.Contains(out, strings.TrimSpace(ledger)) {
			t.Errorf("group %s: planned\n%s\nand did\n%s", c.group, planned, out)
		}
	}
}

// What standard error says of rows and persons is what the method does, as the ledger has it.
func TestMethodsOfPersonsSayWhatCounts(t *testing.T) {
	var b strings.Builder
	b.WriteString("who,x,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%d\n", i/2, i%10, i%10/5)
	}
	data := write(t, "visits.csv", b.String())
	schema := write(t, "s.json", `{"version": 1, "label": "y", "person": "who", "max_rows": 2, "columns": [{"name": "who", "kind": "id"}, {"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`)
	for method, counts := range map[string]string{"auto": "each row counts alike", "objpert": "each person counts alike"} {
		out, said := csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", "1", "-delta", "1e-5", "-method", method, "-o", filepath.Join(t.TempDir(), "m.json"))
		if !strings.Contains(out, counts) || !strings.Contains(said, counts) || strings.Count(said, "alike") != 1+strings.Count(said, "persons_alike") {
			t.Errorf("%s:\n%s\non stderr %s", method, out, said)
		}
	}
}

// Of persons the same share is the same number for the curator as for publication, one that isn't whole rounded up.
func TestSharesOfPersons(t *testing.T) {
	text := "who,x,y\n"
	for i := range 400 {
		text += fmt.Sprintf("%d,%d,%d\n", i/2, i%10, i%10/5)
	}
	data := write(t, "visits.csv", text)
	for _, stated := range []string{"", `"persons": 200, `, `"at_most": 200, `} {
		facts := write(t, "s.json", `{"version": 1, "label": "y", "person": "who", "max_rows": 2, `+stated+`"columns": [{"name": "who", "kind": "id"}, {"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`)
		for _, flag := range []string{"-test", "-evaluate"} {
			out, _ := csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "1", "-delta", "1e-5", flag, "0.061", "-o", filepath.Join(t.TempDir(), "m.json"))
			if !strings.Contains(out, "187 training persons, 13 held out") {
				t.Errorf("%s %s:\n%s", stated, flag, out)
			}
		}
	}
}

// A budget that is most likely a mistake is said to be one, before it is spent.
func TestWarnsAboutBudgets(t *testing.T) {
	args := []string{"-data", people(t, 500), "-schema", schema(t, "pay", pay)}
	for _, c := range []struct {
		epsilon, delta string
		want           []string
	}{
		{"10", "1e-5", nil},
		{"10.5", "1e-5", []string{"so large a budget"}},
		{"1", "0.0025", []string{"no smaller than 1/n"}}, // 1/n is 1/400
		{"1e-5", "0.002", []string{"swapped", "labels lie in [0, 100] by the schema"}},
		{"1e-5", "0.5", []string{"no smaller than 1/n", "swapped"}},
		{"0.2", "1e-5", []string{"labels lie in [0, 100] by the schema"}},
	} {
		p, stderr := fitJSON(t, append(args, "-epsilon", c.epsilon, "-delta", c.delta)...)
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
		loss, label, kind string
		names             []string
	}{
		{"logistic", "rich", rich, []string{"log_loss", "auc", "calibration_slope", "mean_error", "accuracy"}},
		{"probit", "rich", rich, []string{"log_loss", "auc", "calibration_slope", "mean_error", "accuracy"}},
		{"gamma", "pay", pay, []string{"r2", "rmse", "mean_error", "mean_loss"}},
		{"squaredhinge", "rich", rich, []string{"accuracy", "auc", "mean_loss"}},
		{"poisson", "visits", visits, []string{"deviance", "deviance_explained", "mean_error"}},
		{"squared", "pay", pay, []string{"r2", "rmse", "mean_error", "mean_loss"}},
	} {
		args := []string{"fit", "-test", "0.2", "-data", data, "-schema", schema(t, c.label, c.kind), "-loss", c.loss, "-epsilon", "4"}
		var object struct {
			Private, Constant map[string]*float64
			NonPrivate        map[string]*float64 `json:"non_private"`
		}
		out, _ := csvfit(t, append(args, "-json")...)
		if err := json.Unmarshal([]byte(out), &object); err != nil {
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
		if slope, ok := object.Constant["calibration_slope"]; slope != nil || ok != (c.names[0] == "log_loss") {
			t.Errorf("%s: a constant's slope is %v", c.loss, slope)
		}
		out, _ = csvfit(t, args...)
		if head := "hold-out     " + c.names[0]; !strings.Contains(out, head) || strings.Contains(out, "–") != (c.names[0] == "log_loss") {
			t.Errorf("%s: want %q, and a dash for a slope only:\n%s", c.loss, head, out)
		}
	}
}

func TestACancelledRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, []string{"fit", "-test", "0.2", "-data", people(t, 100), "-schema", schema(t, "pay", pay), "-epsilon", "1"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
