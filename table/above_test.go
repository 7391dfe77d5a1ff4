package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// A label above a threshold is a number in the file: it must be one, and there.
func TestLabelsAboveAThreshold(t *testing.T) {
	schema := func(label string) string {
		return `{"version": 1, "label": "pay", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "pay", ` + label + `}]}`
	}
	s, err := ParseSchema([]byte(schema(`"kind": "binary", "above": 600`)))
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadCSV(strings.NewReader("x,pay\n1,600\n1,600.01\n0,-5\n"), s)
	if err != nil || !slices.Equal(read.Labels(), []float64{0, 1, 0}) || read.Label().String() != "pay > 600" || read.Label().Kind != Binary {
		t.Errorf("labels %v of %v (%v)", read.Labels(), read.Label(), err)
	}
	read, err = ReadCSV(strings.NewReader("x,pay\n1,600\n"), s)
	if err != nil || len(read.Warnings()) != 1 || !strings.Contains(read.Warnings()[0], "no row is positive (above 600)") {
		t.Errorf("warnings %q (%v)", read.Warnings(), err)
	}
	for text, says := range map[string]string{"much": `line 2, column "pay": "much" is not a number`, "": "a label is missing", "NaN": "a label is missing"} {
		if _, err := ReadCSV(strings.NewReader("x,pay\n1,"+text+"\n"), s); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
	l, err := ReadLIBSVM(strings.NewReader("3 1:1\n-3\n"), LIBSVM{Features: 1, Bound: 1, Label: Column{Kind: Binary, Above: new(float64)}})
	if err != nil || !slices.Equal(l.Labels(), []float64{1, 0}) || l.Label().Class != "label > 0" {
		t.Errorf("labels %v of %v (%v)", l.Labels(), l.Label(), err)
	}
	for _, c := range [][2]string{
		{`"kind": "binary", "above": 600, "positive": ["yes"]`, `"above" beside "positive"`},
		{`"kind": "numeric", "range": [0, 1], "above": 600`, "not for the kind numeric"},
		{`"kind": "binary", "above": "600"`, "must be a finite number"},
		{`"kind": "binary", "positive": ["y"], "negative": ["n"]}, {"name": "z", "kind": "binary", "above": 1`, "which is for the label"},
	} {
		if _, err := ParseSchema([]byte(schema(c[0]))); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	endless := math.Inf(1)
	s.Columns[1].Above = &endless
	if err := s.Validate(); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "finite") {
		t.Errorf("an infinite threshold: %v", err)
	}
}

// A schema that an encoder holds doesn't change with the caller's threshold.
func TestThresholdsAreCopied(t *testing.T) {
	threshold := 1.0
	s := Schema{Version: Version, Label: "y", Columns: []Column{{Name: "x", Kind: Numeric, Range: []float64{0, 1}}, {Name: "y", Kind: Binary, Above: &threshold}}}
	e, err := NewEncoder(s)
	if err != nil {
		t.Fatal(err)
	}
	threshold = 2
	if *e.Schema().LabelColumn().Above != 1 {
		t.Error("the threshold changed")
	}
	*e.Schema().LabelColumn().Above = 3
	if *e.Schema().LabelColumn().Above != 1 {
		t.Error("the threshold changed by a copy's")
	}
}

// Coefficients are those of Units, by name, the intercept last.
func TestCoefficientsHaveNames(t *testing.T) {
	threshold := 0.0
	e, err := NewEncoder(Schema{Version: Version, Label: "y", Columns: []Column{
		{Name: "x", Kind: Numeric, Range: []float64{0, 4}}, {Name: "g", Kind: Categorical, Levels: []string{"a", "b"}}, {Name: "y", Kind: Binary, Above: &threshold}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Coefficients([]float64{2, 3}, 5)
	if err != nil || len(c) != 3 || c[0].Name != "x" || c[0].Value != 1 || c[1].Levels[0] != "b" || c[1].Value != 3 || c[2].Name != Intercept || c[2].Value != 3 {
		t.Errorf("%+v (%v)", c, err)
	}
	if got := fmt.Sprint(c[0]); got != "x 1" {
		t.Errorf("printed %q", got)
	}
	if c, err := e.Coefficients([]float64{2}, 5); c != nil || err == nil {
		t.Errorf("too few weights: %v, %v", c, err)
	}
}
