package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
)

// steps are what JSON says of coefficients for the steps of a schema.
type steps struct {
	Coefficients []coefficient
	Inference    struct {
		PerStep struct {
			Coefficients []dpglm.Coefficient
			Exponentials struct {
				Ratios []struct{ Value, Low, High float64 }
			}
			Effects []dpglm.Coefficient `json:"marginal_effects"`
		} `json:"per_step"`
	}
}

// withStep is a schema of people with a step of ten years.
func withStep(t *testing.T, name, label string) string {
	t.Helper()
	text, err := os.ReadFile(schema(t, name, label))
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "stepped.json", strings.Replace(string(text), "[20, 69]", `[20, 69], "per": 10`, 1))
}

// tenfold reports whether a coefficient, its error and its interval are ten times another's, of the same z.
func tenfold(per, unit dpglm.Coefficient) bool {
	near := func(a, b float64) bool { return math.Abs(a-10*b) <= 1e-9*math.Abs(a) }
	return per.Name == unit.Name+" (per 10)" && near(per.Estimate, unit.Estimate) && near(per.StandardError, unit.StandardError) &&
		near(per.Low, unit.Low) && near(per.High, unit.High) && per.Z == unit.Z && per.P == unit.P
}

// Coefficients, intervals, ratios and marginal effects are printed, and are in JSON, for the schema's step beside
// those per unit; and the stored inference has them again.
func TestStepsOfInference(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	fitted, _ := csvfit(t, "fit", "-data", people(t, 3000), "-schema", withStep(t, "visits", visits), "-epsilon", "8", "-delta", "1e-4", "-insecure-noise-seed", "1", "-method", "infer", "-o", path)
	_, read, err := readModel(path)
	if err != nil {
		t.Fatal(err)
	}
	unit := read.one.Coefficients()[0]
	per, ok := unit.PerStep()
	if !ok || !tenfold(per, unit) || unit.Step != 10 || per.Step != 0 {
		t.Errorf("%+v of %+v", per, unit)
	}
	one, ten := unit.Exp(), per.Exp()
	for _, pair := range [][2]float64{{ten.Value, one.Value}, {ten.Low, one.Low}, {ten.High, one.High}} {
		if math.Abs(pair[0]/math.Pow(pair[1], 10)-1) > 1e-9 {
			t.Errorf("%+v is not the tenth power of %+v", ten, one)
		}
	}
	effects, err := read.one.MarginalEffects()
	if err != nil {
		t.Fatal(err)
	}
	risen, _ := effects[0].PerStep()
	if !tenfold(risen, effects[0]) {
		t.Errorf("effects %+v of %+v", risen, effects[0])
	}
	shown, _ := csvfit(t, "show", "-model", path)
	for _, out := range []string{fitted, shown} {
		for _, want := range []string{fmt.Sprintf("%.4g [%.4g, %.4g]\n", ten.Value, ten.Low, ten.High), fmt.Sprintf("\nage (per 10)  %.4g ", risen.Estimate)} {
			if strings.Count(out, "\nage (per 10)  ") != 2 || !strings.Contains(out, want) {
				t.Errorf("the output lacks %q:\n%s", want, out)
			}
		}
	}
	var object steps
	shown, _ = csvfit(t, "show", "-model", path, "-json")
	if err := json.Unmarshal([]byte(shown), &object); err != nil {
		t.Fatal(err)
	}
	found := object.Inference.PerStep
	if len(found.Coefficients) != 1 || found.Coefficients[0] != per || len(found.Effects) != 1 || !tenfold(found.Effects[0], effects[0]) || len(found.Exponentials.Ratios) != 1 || found.Exponentials.Ratios[0].High != ten.High {
		t.Errorf("JSON has %+v", found)
	}
}

// Models without intervals, and of several classes with and without, show steps, too.
func TestStepsOfModels(t *testing.T) {
	data := people(t, 3000)
	for _, c := range []struct {
		name, label, method string
		lines               int
	}{
		{"rich", rich, "auto", 1},
		{"town2", towns, "softmax", 2}, // coefficients, and ratios
		{"town2", towns, "infer", 2},   // a table for each level but the reference
	} {
		facts, file := withStep(t, c.name, c.label), filepath.Join(t.TempDir(), "m.json")
		if c.name == "town2" {
			text, err := os.ReadFile(facts)
			if err != nil {
				t.Fatal(err)
			}
			facts = write(t, "towns.json", strings.NewReplacer(`{"name": "town", "kind": "categorical", "levels": ["york", "hull", "leeds"]},`, "", "town2", "town").Replace(string(text)))
		}
		out, _ := csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "8", "-insecure-noise-seed", "1", "-method", c.method, "-o", file)
		if n := strings.Count(out, "\nage (per 10) "); n != c.lines {
			t.Errorf("%s: %d lines:\n%s", c.method, n, out)
		}
		var object steps
		shown, _ := csvfit(t, "show", "-model", file, "-json")
		if err := json.Unmarshal([]byte(shown), &object); err != nil {
			t.Fatal(err)
		}
		for _, k := range object.Coefficients {
			if (k.Per != nil) != (k.Name == "age") {
				t.Errorf("%s: %+v", c.method, k)
			}
			if k.Per != nil && (k.Per.Step != 10 || k.Per.Value != 10*k.Value || k.Per.Ratio == nil || *k.Per.Ratio != math.Exp(k.Per.Value)) {
				t.Errorf("%s: %+v, per step %+v", c.method, k, *k.Per)
			}
		}
	}
}

const towns = `"kind": "categorical", "levels": ["york", "hull", "leeds"]`

// Models of schemas that differ in steps alone are of the same features: their weights and predictions are the
// same, a fit begins at one of the other, and rows that were stored with one are read with the other.
func TestStepsChangeNoFit(t *testing.T) {
	data, dir := people(t, 2000), t.TempDir()
	plain, stepped := schema(t, "rich", rich), withStep(t, "rich", rich)
	var predicted []string
	for name, facts := range map[string]string{"plain.json": plain, "stepped.json": stepped} {
		path := filepath.Join(dir, name)
		csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "1", "-insecure-noise-seed", "1", "-o", path)
		out, _ := csvfit(t, "predict", "-model", path, "-data", data)
		predicted = append(predicted, out)
	}
	if predicted[0] != predicted[1] {
		t.Error("predictions depend on steps")
	}
	csvfit(t, "fit", "-data", data, "-schema", stepped, "-prior", filepath.Join(dir, "plain.json"), "-epsilon", "1", "-insecure-noise-seed", "1", "-o", filepath.Join(dir, "next.json"))
	rows := filepath.Join(dir, "people.rows")
	csvfit(t, "store", "-data", data, "-schema", plain, "-o", rows)
	for facts, note := range map[string]bool{plain: false, stepped: true} {
		out, said := csvfit(t, "fit", "-data", rows, "-schema", facts, "-epsilon", "1", "-insecure-noise-seed", "1", "-o", filepath.Join(t.TempDir(), "m.json"))
		if strings.Contains(said, "other steps") != note || strings.Contains(out, "(per 10)") {
			t.Errorf("%q, and\n%s", said, out)
		}
	}
}
