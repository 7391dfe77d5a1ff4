package hazards

import (
	"math"
	"strings"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

const kinds = `{"version": 1, "label": "died", "person": "id", "max_rows": 1, "decimal": ",", "missing": ["-9"], "followup": {"end": "years", "cuts": [0.5, 1, 4]}, "columns": [
	{"name": "id", "kind": "id"}, {"name": "note", "kind": "ignored"},
	{"name": "pay", "kind": "numeric", "range": [100, 10000], "log": true, "thousands": "."},
	{"name": "age", "kind": "numeric", "range": [30, 91], "square": true, "missing": "indicator"},
	{"name": "size", "kind": "numeric", "range": [0, 8], "knots": [2, 4], "missing": "constant", "constant": "3"},
	{"name": "since", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2020-01-31", "layouts": ["02.01.2006"]},
	{"name": "town", "kind": "categorical", "levels": ["york", "hull", "leeds"], "reference": "hull", "missing": "level"},
	{"name": "smokes", "kind": "binary", "positive": ["yes"], "negative": ["no"], "fold_case": true},
	{"name": "ward", "kind": "onehot", "levels": ["a", "b"]},
	{"name": "died", "kind": "binary", "positive": ["1"], "negative": ["0"]}], "interactions": [["age", "town"], ["smokes", "period"]]}`

const rows = `id;pay;age;size;since;town;smokes;ward=a;ward=b;years;died
1;1.000,5;40;1;02.01.2020;york;no;1;0;3;1
2;200;50,5;;03.01.2020;hull;YES;0;0;2;0
3;300;-9;2,5;04.01.2020;;no;0;1;0,7;1
`

// model is a fit of a few rows, mostly noise.
func model(t *testing.T, schema string) *dpglm.Model {
	t.Helper()
	s, err := table.ParseSchema([]byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	read, err := table.ReadCSV(strings.NewReader(rows), s)
	if err != nil {
		t.Fatal(err)
	}
	data, err := dpglm.NewTableDataset(read)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dpglm.NoisyGD(t.Context(), data, dpglm.Problem{Loss: losses.Poisson{}, Radius: 1}, dpglm.ApproxDP(1, 1e-2), dpglm.NoisyGDConfig{}, &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(1)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Columns of each kind have a place in the baseline, in the file's own writing, and survival is what hazards leave.
func TestBaselineOfAllKinds(t *testing.T) {
	m := model(t, kinds)
	b, err := NewBaseline(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "pay 1000, age 60,5, size 4, since 16.01.2020, town hull, smokes no, ward none of those listed"; b.Text != want {
		t.Errorf("the record is %q, want %q", b.Text, want)
	}
	left := 1.0
	for k, ends := range [][2]float64{{0.5, 1}, {1, 4}} {
		left *= math.Exp(-b.Hazard[k] * (ends[1] - ends[0]))
		if s := b.Survival[k]; b.Periods[k] != ends || math.Abs(s.Value/left-1) > 1e-12 || s.Low != s.Value || s.High != s.Value || b.Hazards[k].Value != b.Hazard[k] || !(b.Hazard[k] > 0) {
			t.Errorf("period %v: %+v after %+v, want %g", b.Periods[k], s, b.Hazards[k], left)
		}
	}
	if _, err := NewBaseline(model(t, strings.Replace(kinds, `["-9"]`, `["-9", "1000"]`, 1)), nil); err == nil || !strings.Contains(err.Error(), "pay") {
		t.Errorf("a middle that stands for a missing value: %v", err)
	}
	if b, err := NewBaseline(model(t, strings.Replace(strings.Replace(kinds, "[0.5, 1, 4]", "[0, 4]", 1), `, ["smokes", "period"]`, "", 1)), nil); b != nil || err != nil {
		t.Errorf("one period: %+v, %v", b, err)
	}
}
