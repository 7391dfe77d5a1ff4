package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
)

// Counts with intervals: rate ratios stand beside coefficients, marginal effects below, contrasts and joint tests are
// those of the library, and predictions have the ends of their intervals. A model without intervals has ratios alone.
func TestEffects(t *testing.T) {
	data, dir := people(t, 3000), t.TempDir()
	path, plain := filepath.Join(dir, "m.json"), filepath.Join(dir, "plain.json")
	args := []string{"fit", "-data", data, "-schema", schema(t, "visits", visits), "-epsilon", "8", "-delta", "1e-4", "-insecure-noise-seed", "1"}
	csvfit(t, append(args, "-method", "infer", "-o", path)...)
	csvfit(t, append(args, "-o", plain)...)
	questions := []string{"-contrast", "town:hull:leeds", "-contrast", "town: hull : york", "-test", "town", "-test", "age, sector=b"}
	shown, _ := csvfit(t, append([]string{"show", "-model", path}, questions...)...)
	_, read, err := readModel(path)
	found := read.one
	if err != nil {
		t.Fatal(err)
	}
	contrast, err := found.Contrast("town", "hull", "leeds")
	if err != nil {
		t.Fatal(err)
	}
	test, err := found.Wald(dpglm.AllZero("town=hull", "town=leeds")...)
	if err != nil {
		t.Fatal(err)
	}
	effects, err := found.MarginalEffects()
	if err != nil {
		t.Fatal(err)
	}
	e := contrast.Exp()
	for _, want := range []string{"rate ratio", "average marginal effects, on the mean of visits", fmt.Sprintf("\nage         %.4g", effects[0].Estimate),
		fmt.Sprintf("\ntown all 0: %v\n", test), "\nage, sector=b all 0: Wald", "\n" + contrast.Name, fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Low, e.High)} {
		if !strings.Contains(shown, want) {
			t.Errorf("the output lacks %q:\n%s", want, shown)
		}
	}
	var object struct {
		Ratio        string
		Coefficients []coefficient
		Answers      answers
		Inference    struct {
			Exponentials struct{ Of string }
			Effects      []dpglm.Coefficient `json:"marginal_effects"`
		}
	}
	shown, _ = csvfit(t, append([]string{"show", "-model", path, "-json"}, questions...)...)
	if err := json.Unmarshal([]byte(shown), &object); err != nil || object.Ratio != "rate ratio" || object.Inference.Exponentials.Of != "rate ratio" ||
		len(object.Answers.Contrasts) != 2 || len(object.Answers.Tests) != 2 || object.Answers.Tests[0].P != test.P || len(object.Inference.Effects) != len(effects) {
		t.Errorf("%v: %+v", err, object)
	}
	for _, c := range object.Coefficients {
		if want := math.Exp(c.Value); (c.Name == dpglm.InterceptName) != (c.Ratio == nil) || c.Ratio != nil && math.Abs(*c.Ratio/want-1) > 1e-12 {
			t.Errorf("%+v", c)
		}
	}
	predicted, _ := csvfit(t, "predict", "-model", path, "-data", data, "-interval")
	rows, err := csv.NewReader(strings.NewReader(predicted)).ReadAll()
	if err != nil || len(rows) != 3001 {
		t.Fatal(len(rows), err)
	}
	last := len(rows[0]) - 1
	if got := strings.Join(rows[0][last-2:], ","); got != "prediction,low,high" {
		t.Errorf("columns %s", got)
	}
	for _, row := range rows[1:20] {
		mean, errMean := strconv.ParseFloat(row[last-2], 64)
		low, errLow := strconv.ParseFloat(row[last-1], 64)
		high, errHigh := strconv.ParseFloat(row[last], 64)
		if errMean != nil || errLow != nil || errHigh != nil || !(low < mean && mean < high) {
			t.Errorf("%v", row)
		}
	}
	if shown, _ := csvfit(t, "show", "-model", plain); !strings.Contains(shown, "  rate ratio\n") || strings.Contains(shown, "marginal") {
		t.Error(shown)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"show", "-model", plain, "-contrast", "town:hull:york"}, "-method infer"},
		{[]string{"show", "-model", path, "-contrast", "town:hull"}, "region:south:west"},
		{[]string{"show", "-model", path, "-contrast", "town:hull:paris"}, "paris"},
		{[]string{"show", "-model", path, "-test", "height"}, "height"},
		{[]string{"predict", "-model", plain, "-data", data, "-interval"}, "-method infer"},
	} {
		checkExit(t, c.says, c.args, 2, c.says)
	}
}

// Where columns are left out of marginal effects it is printed which, with the effects of the others or without any.
func TestEffectsSayWhatIsLeftOut(t *testing.T) {
	data := people(t, 3000)
	for _, c := range []struct{ columns, interactions, says string }{
		{`"square": true`, `["town", "sector"]`, "\neffects of age, town, sector are left out: they stand in squares, logarithms, splines or products\n"},
		{`"square": true`, ``, "\neffects of age are left out: they stand in squares, logarithms, splines or products\n"},
		{`"log": true`, ``, "\neffects of age are left out: they stand in squares, logarithms, splines or products\n"},
		{`"per": 10`, ``, ""},
	} {
		text, err := os.ReadFile(schema(t, "visits", visits))
		if err != nil {
			t.Fatal(err)
		}
		facts := strings.Replace(string(text), "[20, 69]", "[20, 69], "+c.columns, 1)
		facts = strings.TrimSuffix(facts, "}") + `, "interactions": [` + c.interactions + "]}"
		out, _ := csvfit(t, "fit", "-data", data, "-schema", write(t, "derived.json", facts), "-epsilon", "8", "-delta", "1e-4", "-insecure-noise-seed", "1", "-method", "infer", "-o", filepath.Join(t.TempDir(), "m.json"))
		_, effects, ok := strings.Cut(out, "average marginal effects, on the mean of visits\n")
		effects, _, _ = strings.Cut(effects, "\n\n")
		if !ok || !strings.Contains("\n"+effects+"\n", c.says) || strings.Contains(effects, "left out") != (c.says != "") || strings.Contains(effects, "\nage") != (c.says == "") || strings.Contains(effects, "town=hull") != (c.interactions == "") {
			t.Errorf("%+v: %q", c, effects)
		}
	}
}

// A column's name stands for all coefficients that it alone makes, each once, and no product's; theirs stand for themselves.
func TestColumnsAreTestedWhole(t *testing.T) {
	var b strings.Builder
	b.WriteString("knotted,logged,squared,missing,level,y\n")
	for i := range 4000 {
		missing := fmt.Sprint(i % 7)
		if i%5 == 0 {
			missing = "NA"
		}
		fmt.Fprintf(&b, "%d,%d,%d,%s,%s,%d\n", i%11, 1+i%90, i%13, missing, "abc"[i%3:i%3+1], (i*i+i/3)%20)
	}
	facts := write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "knotted", "kind": "numeric", "range": [0, 10], "knots": [3, 6]},
		{"name": "logged", "kind": "numeric", "range": [1, 90], "log": true}, {"name": "squared", "kind": "numeric", "range": [0, 12], "square": true},
		{"name": "missing", "kind": "numeric", "range": [0, 6], "missing": "indicator"}, {"name": "level", "kind": "categorical", "levels": ["a", "b", "c"]},
		{"name": "y", "kind": "numeric", "range": [0, 20]}], "interactions": [["squared", "level"]]}`)
	model := filepath.Join(t.TempDir(), "m.json")
	csvfit(t, "fit", "-data", write(t, "d.csv", b.String()), "-schema", facts, "-epsilon", "1e5", "-method", "infer", "-insecure-noise-seed", "1", "-o", model)
	_, read, err := readModel(model)
	if err != nil {
		t.Fatal(err)
	}
	for names, all := range map[string][]string{
		"knotted": {"bs(knotted)1", "bs(knotted)2", "bs(knotted)3", "bs(knotted)4", "bs(knotted)5"},
		"logged":  {"log(logged)"}, "squared": {"squared", "squared^2"}, "missing": {"missing", "missing=missing"}, "level": {"level=b", "level=c"},
		"squared^2, squared": {"squared^2", "squared"}, "level=c,level": {"level=b", "level=c"}, "squared:level=b": {"squared:level=b"}, "missing=missing": {"missing=missing"},
		"logged,level": {"log(logged)", "level=b", "level=c"},
	} {
		want, err := read.one.Wald(dpglm.AllZero(all...)...)
		if err != nil {
			t.Fatal(err)
		}
		if shown, _ := csvfit(t, "show", "-model", model, "-test", names); !strings.Contains(shown, fmt.Sprintf(" all 0: %v\n", want)) {
			t.Errorf("%s: want %v\n%s", names, want, shown)
		}
	}
	for _, name := range []string{"y", "squared:level", ""} {
		checkExit(t, name, []string{"show", "-model", model, "-test", name}, 2, fmt.Sprintf("%q must be the name of a column or of the intercept", name))
	}
}
