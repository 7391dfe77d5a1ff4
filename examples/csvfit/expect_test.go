package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
)

// A plan forecasts, at the ε that was given and around it, and finds the ε that buys what
// is asked for, by the text as by JSON.
func TestPlansForecast(t *testing.T) {
	_, facts := visitsOn(t)
	common := []string{"plan", "-schema", facts, "-rows", "1000", "-mean", "0.4"}
	with := func(more ...string) string {
		out, said := csvfit(t, append(append([]string{}, common...), more...)...)
		if said != "" {
			t.Errorf("%v says %q", more, said)
		}
		return out
	}
	text := with("-epsilon", "1", "-expect", "-method", "infer")
	if !strings.Contains(text, "by made-up rows") || !strings.Contains(text, "width ratio") || !strings.Contains(text, "together") {
		t.Error(text)
	}
	type forecast struct {
		Label float64 `json:"label_mean"`
		At    []struct {
			Epsilon float64
			Lost    float64  `json:"gain_lost"`
			Width   *float64 `json:"width_ratio"`
		}
	}
	var planned struct {
		Epsilon  float64
		Forecast *forecast
	}
	decode := func(text string, v any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
	}
	decode(with("-epsilon", "1", "-expect", "-json"), &planned)
	if f := planned.Forecast; f == nil || len(f.At) != 7 || f.At[0].Epsilon != 0.125 || f.At[3].Epsilon != 1 || f.At[6].Epsilon != 8 || !(f.At[0].Lost > f.At[6].Lost) || f.Label != 0.4 || f.At[3].Width != nil {
		t.Errorf("%+v", planned.Forecast)
	}
	planned.Forecast = nil
	plain, _ := csvfit(t, "plan", "-schema", facts, "-rows", "1000", "-epsilon", "1", "-json")
	if decode(plain, &planned); planned.Forecast != nil {
		t.Error("a forecast that nobody asked for")
	}
	var found struct {
		Epsilon, Delta float64
		Method         string
		Forecast       forecast
	}
	decode(with("-width", "2", "-json"), &found)
	met := false
	for _, e := range found.Forecast.At {
		met = met || e.Epsilon == found.Epsilon && e.Width != nil && *e.Width <= 2
	}
	if !met || found.Method != "infer" || found.Delta == 0 {
		t.Errorf("%+v", found)
	}
	if text := with("-lost", "0.05"); !strings.HasPrefix(text, "-epsilon ") || !strings.Contains(text, "-method auto") {
		t.Error(text)
	}
}

// A forecast of counts needs their mean, without which an evaluation is planned all the same, and an ε that promises nothing isn't found without a word.
func TestPlansSayWhatTheyTakeForGranted(t *testing.T) {
	visits := schema(t, "visits", `"kind": "count", "cap": 20`)
	for _, args := range [][]string{{"-width", "1.5"}, {"-epsilon", "1", "-expect"}, {"-lost", "0.1"}, {"-epsilon", "1", "-evaluate", "0.5", "-expect"}} {
		args = append([]string{"plan", "-schema", visits, "-rows", "300"}, args...)
		checkExit(t, strings.Join(args, " "), args, 2, "-mean is missing")
	}
	if text, _ := csvfit(t, "plan", "-schema", visits, "-rows", "300", "-epsilon", "1", "-evaluate", "0.5"); !strings.Contains(text, "150 are to evaluate on") ||
		!strings.Contains(text, "isn't forecast without -mean: a forecast of counts needs") || !strings.Contains(text, "└─ at most, evaluation: ") {
		t.Error(text)
	}
	if text, _ := csvfit(t, "plan", "-schema", visits, "-rows", "300", "-epsilon", "1", "-evaluate", "0.5", "-json"); !strings.Contains(text, `"how wide intervals will be isn't forecast without -mean`) || strings.Contains(text, "evaluation_forecast") {
		t.Error(text)
	}
	if text, _ := csvfit(t, "plan", "-schema", visits, "-rows", "100", "-width", "1.1", "-mean", "2"); !strings.Contains(text, "CAUTION: ε = ") {
		t.Error(text)
	}
}

// A plan with an evaluation spends what the fit with it does, forecasts intervals that are
// about as wide as they become, and says where it can't.
func TestPlansEvaluations(t *testing.T) {
	data := people(t, 3000)
	args := []string{"-schema", schema(t, "rich", rich), "-epsilon", "2", "-delta", "1e-5", "-evaluate", "0.3", "-json"}
	var planned struct {
		Rows       int
		Held       int `json:"evaluation_rows"`
		Ledger     *dpglm.Ledger
		Evaluation struct {
			Figures []struct {
				Name         string
				Width, Value float64
			}
		} `json:"evaluation_forecast"`
	}
	var fitted struct {
		Rows       int `json:"training_rows"`
		Held       int `json:"evaluation_rows"`
		Ledger     *dpglm.Ledger
		Evaluation *dpglm.Evaluation
	}
	decode := func(v any, args ...string) {
		t.Helper()
		text, _ := csvfit(t, args...)
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	decode(&planned, append([]string{"plan", "-rows", "3000", "-mean", "0.5"}, args...)...)
	decode(&fitted, append([]string{"fit", "-data", data, "-insecure-noise-seed", "1", "-o", filepath.Join(t.TempDir(), "m.json")}, args...)...)
	if planned.Rows != 2100 || planned.Held != 900 || planned.Rows != fitted.Rows || planned.Held != fitted.Held {
		t.Errorf("%d and %d rows, of the fit %d and %d", planned.Rows, planned.Held, fitted.Rows, fitted.Held)
	}
	before, err := planned.Ledger.Epsilon(1e-5)
	if after, err2 := fitted.Ledger.Epsilon(1e-5); err != nil || err2 != nil || before != after || !(before <= 2) {
		t.Errorf("ε = %v is planned and %v spent (%v, %v)", before, after, err, err2)
	}
	if f := planned.Evaluation.Figures; len(f) != 7 || f[0].Name != "accuracy" {
		t.Fatalf("%+v", f)
	}
	accuracy, _ := fitted.Evaluation.Figure("accuracy")
	if r := planned.Evaluation.Figures[0].Width / (accuracy.High - accuracy.Low); r < 0.5 || r > 2 {
		t.Errorf("accuracy %+v, forecast %+v", accuracy, planned.Evaluation.Figures[0])
	}
	text, _ := csvfit(t, append([]string{"plan", "-rows", "3000"}, args[:len(args)-1]...)...)
	for _, want := range []string{"900 are to evaluate on", "log-loss", "└─ at most, evaluation: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan lacks %q:\n%s", want, text)
		}
	}
	if several, _ := csvfit(t, "plan", "-rows", "3000", "-epsilon", "2", "-evaluate", "0.3", "-schema", "cps1988-region.json"); !strings.Contains(several, "isn't forecast") || !strings.Contains(several, "evaluation of classes") {
		t.Errorf("of classes:\n%s", several)
	}
}
