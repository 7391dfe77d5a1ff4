package classes_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	tables "github.com/dpglm/dpglm/table"
)

// outcomes is a schema with persons and a label of four levels.
const outcomes = `{
  "version": 1,
  "label": "outcome",
  "person": "patient",
  "max_rows": 2,
  "columns": [
    {"name": "patient", "kind": "id"},
    {"name": "age", "kind": "numeric", "range": [20, 100]},
    {"name": "ward", "kind": "categorical", "levels": ["medicine", "surgery", "other"], "other": "other"},
    {"name": "outcome", "kind": "categorical", "levels": ["home", "rehab", "long stay", "died"], "ordered": true, "shares": [50, 25, 15, 10], "reference": "rehab", "fold_case": true}
  ]
}`

// stays is a made-up table of so many persons with two rows each: levels follow a model of
// proportional odds, with the slope 0.05 for a year and 1 for surgery.
func stays(t testing.TB, schema string, persons int) *tables.Table {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	b.WriteString("outcome,age,ward,patient\n")
	for i := range 2 * persons {
		ward, age := r.IntN(3), 20+80*r.Float64()
		u := r.Float64()
		z := 0.05*(age-60) + []float64{0, 1, 0}[ward] + math.Log(u/(1-u))
		level := "Home"
		for k, name := range []string{"rehab", "LONG STAY", "died"} {
			if z > []float64{0, 1.1, 2.2}[k] {
				level = name
			}
		}
		fmt.Fprintf(&b, "%s,%.1f,%s,p%d\n", level, age, []string{"medicine", "surgery", "eyes"}[ward], i/2)
	}
	return given.ReadTable(t, schema, b.String())
}

func staysData(t testing.TB, schema string, persons int) *dpglm.Dataset {
	t.Helper()
	data, err := dpglm.NewTableDataset(stays(t, schema, persons))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func staysModel(t testing.TB, b dpglm.Budget) *dpglm.Model {
	t.Helper()
	m, err := dpglm.Softmax(t.Context(), staysData(t, outcomes, 5000), dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, b, dpglm.SoftmaxConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ordinalModel(t testing.TB, b dpglm.Budget) *dpglm.Model {
	t.Helper()
	data := staysData(t, outcomes, 5000)
	loss, err := losses.OrdinalFromFractions(50, 25, 15, 10)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Auto(t.Context(), data, dpglm.Problem{Loss: loss}, b, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The old and surgery's patients are worse off, by both models of the same table; a record's
// probabilities are those of its row, by name, and persons are what is protected.
func TestLevelsOfATable(t *testing.T) {
	records := []map[string]string{{"age": "90", "ward": "surgery"}, {"ward": "moon base", "age": "25", "outcome": "?"}}
	classes, ordinal := staysModel(t, dpglm.ApproxDP(4, 1e-6)), ordinalModel(t, dpglm.ApproxDP(4, 1e-6))
	x, err := classes.EncodeRows([]string{"ward", "age"}, []string{"surgery", "90"}, []string{"eyes", "25"})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]struct {
		predict func(...map[string]string) ([]dpglm.LevelPrediction, error)
		of      func(mat.Matrix) (*mat.Dense, error)
		levels  []string
		ledger  *dpglm.Ledger
	}{
		"softmax": {classes.PredictLevels, classes.Probabilities, classes.Levels(), classes.Ledger()},
		"ordinal": {ordinal.PredictLevels, ordinal.Probabilities, ordinal.Levels(), ordinal.Ledger()},
	} {
		if want := []string{"home", "rehab", "long stay", "died"}; !slices.Equal(m.levels, want) {
			t.Errorf("%s: levels %q", name, m.levels)
		}
		if claim, _ := m.ledger.Claim(); claim.PersonRows == 0 || m.ledger.Unit() != mechanisms.OnePerson() || claim.Rows != 5000 {
			t.Errorf("%s: %v", name, m.ledger)
		}
		p, err := m.predict(records...)
		rows, errRows := m.of(x)
		if err != nil || errRows != nil || p[0].Level != "died" || p[1].Level != "home" {
			t.Fatalf("%s: %+v (%v, %v)", name, p, err, errRows)
		}
		for i, of := range p {
			for k, level := range m.levels {
				if of.Probabilities[level] != rows.At(i, k) || len(of.Probabilities) != 4 {
					t.Errorf("%s: %v of %v", name, of, rows.RawRowView(i))
				}
			}
			if total := floats.Sum(rows.RawRowView(i)); !(math.Abs(total-1) < 1e-12) {
				t.Errorf("%s: probabilities %v", name, rows.RawRowView(i))
			}
		}
	}
	if text := ordinal.String(); !strings.HasPrefix(text, "ordinal model of 4 weights") || !strings.HasPrefix(ordinal.Loss(), "ordinal[0 1.09") {
		t.Errorf("%s, %s", text, ordinal.Loss())
	}
	if classes.Label() != "outcome" || ordinal.Label() != "outcome" || classes.Encoder().Label().Column != "outcome" {
		t.Errorf("%q, %q", classes.Label(), ordinal.Label())
	}
}

// Coefficients of classes are in the columns' units, and differences from the reference's:
// with them, the record's log-odds come out. Those of levels that ascend are what the rows
// were made with, within five standard errors or so of 10,000 rows.
func TestCoefficientsOfLevels(t *testing.T) {
	m := staysModel(t, dpglm.GDP(1000))
	list := coefficientsOfClasses(t, m)
	if m.Reference() != 1 || len(list) != 4 {
		t.Fatalf("%v, reference %d", list, m.Reference())
	}
	record := map[string]string{"age": "70", "ward": "surgery"}
	p, err := m.PredictLevels(record)
	if err != nil {
		t.Fatal(err)
	}
	for k, of := range list {
		z := 0.0
		for _, c := range of {
			z += map[string]float64{"age": 70, "ward=surgery": 1, tables.Intercept: 1}[c.Name] * c.Value
		}
		odds := math.Log(p[0].Probabilities[m.Levels()[k]] / p[0].Probabilities["rehab"])
		if !(math.Abs(z-odds) < 1e-9) || of[0].Name != "age" || len(of) != 4 || of[2].Class != m.Levels()[k] {
			t.Errorf("%s: %g by %v, log-odds %g", m.Levels()[k], z, of, odds)
		}
	}
	of, err := ordinalModel(t, dpglm.GDP(1000)).Coefficients()
	if err != nil || !(math.Abs(of[0].Value-0.05) < 0.005) || !(math.Abs(of[1].Value-1) < 0.25) {
		t.Errorf("%v (%v)", of, err)
	}
	plain := softmaxOf(t, 500, dpglm.GDP(300))
	for k, of := range coefficientsOfClasses(t, plain) {
		want := floats.SubTo(make([]float64, 4), plain.Weights()[k], plain.Weights()[0])
		for j, c := range of {
			if c.Value != want[j] || plain.Reference() != 0 || c.Name != []string{"x1", "x2", "x3", tables.Intercept}[j] {
				t.Errorf("class %d: %v, weights differ by %g", k, c, want[j])
			}
		}
	}
	if got := plain.Levels(); !slices.Equal(got, []string{"0", "1", "2", "3"}) || plain.Label() != "label" || plain.Encoder() != nil {
		t.Errorf("%q of %s", got, plain.Label())
	}
}

func coefficientsOfClasses(t *testing.T, m *dpglm.Model) [][]tables.Coefficient {
	t.Helper()
	list, err := m.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(list, len(list)/m.Classes()))
}

// Stored models say the same of records; levels that contradict schema or loss are refused.
func TestModelsOfLevelsAsJSON(t *testing.T) {
	record := map[string]string{"age": "70", "ward": "surgery"}
	classes, ordinal := staysModel(t, dpglm.GDP(1)), ordinalModel(t, dpglm.GDP(1))
	for _, c := range []struct {
		model, back interface {
			PredictLevels(...map[string]string) ([]dpglm.LevelPrediction, error)
		}
		changes [][2]string
	}{
		{classes, new(dpglm.Model), [][2]string{
			{`"levels":["home","rehab","long stay","died"],"sum"`, `"levels":["home","rehab","died","long stay"],"sum"`},
			{`,"levels":["home","rehab","long stay","died"],"sum"`, `,"sum"`},
			{`"died"],"reference"`, `"died","lost"],"reference"`},
			{`"shares":[50,25,15,10]`, `"shares":[50,25,15]`},
		}},
		{ordinal, new(dpglm.Model), [][2]string{
			{`"levels":["home","rehab","long stay","died"],"sum"`, `"levels":["home","rehab","died","long stay"],"sum"`},
			{`"thresholds":[0,`, `"thresholds":[-1,`}, {`"thresholds":[0,`, `"thresholds":[`}, {`"thresholds":`, `"levels":`},
			{`"loss":"ordinal[0`, `"loss":"ordinal[-1`}, {`"link":"identity"`, `"link":"log"`},
		}},
	} {
		text, err := json.Marshal(c.model)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, c.back); err != nil {
			t.Fatal(err)
		}
		want, err := c.model.PredictLevels(record)
		got, errBack := c.back.PredictLevels(record)
		if err != nil || errBack != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v (%v), stored %v (%v)", want, err, got, errBack)
		}
		if of, first := strings.Index(string(text), `"weights":[[`), strings.Index(string(text), "],["); of > 0 { // a class too few
			cut := string(text[:of+len(`"weights":[`)]) + string(text[first+2:])
			if err := json.Unmarshal(resealed.JSON([]byte(cut)), c.back); !errors.Is(err, dpglm.ErrModel) {
				t.Errorf("a class too few: %v", err)
			}
		}
		for _, change := range c.changes {
			changed := strings.Replace(string(text), change[0], change[1], 1)
			if err := json.Unmarshal(resealed.JSON([]byte(changed)), c.back); changed == string(text) || !errors.Is(err, dpglm.ErrModel) {
				t.Errorf("%s: %v", change[1], err)
			}
		}
	}
}

// What doesn't suit a label's levels is refused before anything is spent, with what would.
func TestLossesThatDontSuitLevels(t *testing.T) {
	data := staysData(t, outcomes, 50)
	unordered := staysData(t, strings.Replace(outcomes, `"ordered": true, "shares": [50, 25, 15, 10], `, "", 1), 50)
	for _, c := range []struct {
		data *dpglm.Dataset
		loss losses.Loss
		says string
	}{
		{data, losses.Logistic{}, `"outcome" has 4 levels by the table's schema: they are Problem.Classes or, where they ascend, for losses.OrdinalFromFractions`},
		{data, losses.Poisson{}, "they are Problem.Classes"},
		{data, losses.Squared{}, "they are Problem.Classes"},
		{data, losses.Ordinal{Thresholds: []float64{0, 1}}, "must have 3 thresholds for the 4 levels"},
		{unordered, losses.Ordinal{Thresholds: []float64{0, 1, 2}}, `must say so of "outcome" by "ordered"`},
	} {
		_, err := dpglm.Auto(t.Context(), c.data, dpglm.Problem{Loss: c.loss}, dpglm.GDP(1), nil)
		if !errors.Is(err, dpglm.ErrLabel) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.loss.Name(), err)
		}
	}
	if _, err := dpglm.Softmax(t.Context(), data, dpglm.Problem{Loss: losses.Logistic{}, Classes: 5}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, nil); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), `must be 4, the levels of "outcome"`) {
		t.Errorf("five classes: %v", err)
	}
	m := given.ClinicModel(t)
	if _, err := m.PredictLevels(map[string]string{"age": "70", "days": "10", "ward": "surgery"}); !errors.Is(err, dpglm.ErrConfig) || m.Levels() != nil {
		t.Errorf("levels of a model of yes and no: %v", err)
	}
	var none *dpglm.Model
	_, errEncode := none.Encode(nil)
	_, errRows := none.EncodeRows(nil)
	_, errCoefficients := none.Coefficients()
	_, errOrdinal := new(dpglm.Model).Probabilities(nil)
	for _, err := range []error{errEncode, errRows, errCoefficients, errOrdinal} {
		if !errors.Is(err, dpglm.ErrModel) || none.Levels() != nil || none.Label() != "label" || none.Encoder() != nil {
			t.Errorf("no model: %v", err)
		}
	}
	if _, err := softmaxOf(t, 100, dpglm.GDP(1)).Encode(map[string]string{"x1": "1"}); !errors.Is(err, dpglm.ErrModel) {
		t.Errorf("records of a matrix: %v", err)
	}
}

// An evaluation calls classes by the names of their levels.
func TestEvaluationsNameLevels(t *testing.T) {
	train, held, err := staysData(t, outcomes, 5000).Split(0.3, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.Softmax(t.Context(), train, dpglm.Problem{Loss: losses.Logistic{}, Classes: 4}, dpglm.GDP(1), dpglm.SoftmaxConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(t.Context(), held, m, dpglm.GDP(1), dpglm.EvaluateConfig{}, seeded(2))
	if err != nil || len(e.Classes) != 4 || e.Classes[2] != "long stay" || !strings.Contains(e.String(), "class long stay: rate") {
		t.Errorf("%v (%v)", e, err)
	}
}

// One model of each level against the rest has coefficients of its own, and the levels' names.
func TestLevelsAgainstTheRest(t *testing.T) {
	data := staysData(t, outcomes, 3000)
	m, err := dpglm.OneAgainstRest(t.Context(), data, given.OfClasses(logistic, 4), dpglm.GDP(100), dpglm.OneAgainstRestConfig{}, seeded(1))
	if err != nil || m.Reference() != -1 || m.Loss() != "logistic" || staysModel(t, dpglm.GDP(1)).Loss() != "softmax" {
		t.Fatalf("%v (%v), compared with %d", m, err, m.Reference())
	}
	p, err := m.PredictLevels(map[string]string{"age": "95", "ward": "surgery"})
	if err != nil || p[0].Level != "died" || len(p[0].Probabilities) != 4 {
		t.Errorf("%+v (%v)", p, err)
	}
	for k, of := range coefficientsOfClasses(t, m) {
		if w := m.Weights()[k]; of[1].Name != "ward=surgery" || of[1].Value != w[1] || (of[0].Value > 0) != (w[0] > 0) {
			t.Errorf("%s: %v, weights %v", m.Levels()[k], of, w)
		}
	}
	_, err = dpglm.OneAgainstRest(t.Context(), data, given.OfClasses(logistic, 3), dpglm.GDP(1), dpglm.OneAgainstRestConfig{}, nil)
	if !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), `Problem.Classes = 3 must be 4, the levels of "outcome"`) {
		t.Errorf("three classes: %v", err)
	}
}
