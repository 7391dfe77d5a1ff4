package table

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// stepped has steps of each kind of column that may have one, and columns that have none.
const stepped = `{
  "version": 1,
  "label": "ill",
  "columns": [
    {"name": "age", "kind": "numeric", "range": [20, 100], "per": 10, "missing": "indicator"},
    {"name": "dose", "kind": "numeric", "range": [0, 4], "per": 0.5},
    {"name": "height", "kind": "numeric", "range": [1, 2]},
    {"name": "admitted", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2020-12-31", "per": 365.25},
    {"name": "ward", "kind": "categorical", "levels": ["medicine", "icu"]},
    {"name": "ill", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
  ],
  "interactions": [
    ["age", "dose"],
    ["height", "dose"],
    ["ward", "age"]
  ]
}
`

// A step is written as it was read, names the features of its column, and is a factor of their coefficients.
func TestSteps(t *testing.T) {
	s := parse(t, stepped)
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, string(raw)); s.String() != stepped || !reflect.DeepEqual(got, s) || !reflect.DeepEqual(s.clone(), s) {
		t.Errorf("%v is read as %v", s, got)
	}
	want := map[string]float64{"age (per 10)": 10, "dose (per 0.5)": 0.5, "admitted (per 365.25)": 365.25, "age:dose (per 5)": 5, "height:dose (per 0.5)": 0.5, "age:ward=icu (per 10)": 10}
	e := encoder(t, stepped)
	weights := make([]float64, len(e.Features()))
	for j := range weights {
		weights[j] = float64(j + 1)
	}
	list, err := e.Coefficients(weights, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		per, ok := c.PerStep()
		if !ok {
			if c.StepName() != "" {
				t.Errorf("%v is named %q", c, c.StepName())
			}
			continue
		}
		if step := want[per.Name]; step == 0 || math.Abs(per.Value-step*c.Value) > 1e-12*math.Abs(per.Value) {
			t.Errorf("%v, of %v", per, c)
		}
		if _, again := per.PerStep(); again {
			t.Errorf("%v has a step once more", per)
		}
		delete(want, per.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}

// Encoded rows don't depend on steps.
func TestStepsChangeNoFeature(t *testing.T) {
	s := parse(t, stepped)
	with := encoder(t, s.String())
	for i := range s.Columns {
		s.Columns[i].Per = 0
	}
	without := encoder(t, s.String())
	record := map[string]string{"age": "", "dose": "3", "height": "1.7", "admitted": "2020-03-01", "ward": "icu"}
	if a, b := named(t, with, record), named(t, without, record); !reflect.DeepEqual(a, b) || with.Bound() != without.Bound() {
		t.Errorf("%v with steps, %v without", a, b)
	}
}

func TestStepsBeyondNumbers(t *testing.T) {
	for _, per := range []float64{-10, math.NaN(), math.Inf(1), 1e61} {
		s := parse(t, stepped)
		s.Columns[0].Per = per
		says(t, "step", s.Validate(), ErrSchema, `column "age": "per" is`, "positive number")
	}
}
