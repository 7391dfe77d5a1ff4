package table

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// levelled is a schema whose label has the keys given beside its name and kind.
func levelled(keys string) string {
	return `{"version": 1, "label": "state", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "state", "kind": "categorical", ` + keys + `}]}`
}

// Labels of several levels read as their places, in the spellings that the schema allows.
func TestLabelsOfLevels(t *testing.T) {
	s := parse(t, levelled(`"levels": ["Well", "ill at home", "dead", "else"], "other": "else", "fold_case": true, "reference": "dead"`))
	read, err := ReadCSV(strings.NewReader("state,x\n WELL,0\nIll at Home,1\ndead,0\nmoved,1\ndead.,0\nelse,1\nwell,1\n"), s)
	if err != nil || !slices.Equal(read.Labels(), []float64{0, 1, 2, 3, 3, 3, 0}) {
		t.Fatalf("%v (%v)", read, err)
	}
	l := read.Label()
	if l.Kind != Categorical || l.String() != "state" || l.Range != [2]float64{0, 3} || !slices.Equal(l.Levels, s.Columns[1].Levels) || l.Reference != 2 || l.Ordered {
		t.Errorf("%+v", l)
	}
	if len(read.Encoder().Features()) != 1 || !slices.Equal(read.Encoder().Inputs(), []string{"x"}) {
		t.Errorf("features %v of %q", read.Encoder().Features(), read.Encoder().Inputs())
	}
	says(t, "a near text", warningsOf(read), ErrValue, `column "state": "dead." is not listed and reads as "else", though it is "dead" with other`)
	few, err := ReadCSV(strings.NewReader("state,x\nwell,0\ndead,1\nwell,1\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	says(t, "levels without rows", warningsOf(few), ErrValue, `label "state": no row has the level "ill at home" or "else"`)
}

// warningsOf is a table's warnings as an error, for says.
func warningsOf(t *Table) error { return valueError("", "%s", strings.Join(t.Warnings(), "\n")) }

// A label that is no level is an error with its place, as is one that is missing.
func TestLabelsThatAreNoLevels(t *testing.T) {
	s := parse(t, levelled(`"levels": ["well", "ill", "dead"]`))
	for text, parts := range map[string][]string{
		"il":   {`line 3, column "state": "il" is not one of the column's levels`, `"ill"`},
		"Well": {`line 3, column "state": "Well"`, "in another case", "fold_case"},
		"":     {`line 3, column "state": a label is missing: the field is empty`},
		"NA":   {`line 3, column "state": a label is missing: "NA" stands for a missing value`},
		"lost": {`"well", "ill" and "dead"`, `let one of them stand for it by "other"`},
	} {
		_, err := ReadCSV(strings.NewReader("x,state\n1,well\n1,"+text+"\n0,ill\n"), s)
		says(t, text, err, ErrValue, parts...)
	}
	other := parse(t, levelled(`"levels": ["well", "ill", "else"], "other": "else"`))
	_, err := ReadCSV(strings.NewReader("x,state\n1,null\n"), other)
	says(t, "missing beside other", err, ErrValue, "a label is missing")
	l, err := ReadLIBSVM(strings.NewReader("3 1:1\n1\n2 1:2\n"), LIBSVM{Features: 1, Bound: 1, Label: Column{Kind: Categorical, Levels: []string{"1", "2", "3"}}})
	if err != nil || !slices.Equal(l.Labels(), []float64{2, 0, 1}) {
		t.Errorf("%v (%v)", l.Labels(), err)
	}
}

// Levels that ascend have the fractions that were given, of sum 1, or none; a caller can't change those of
// an encoder.
func TestFractionsOfLevels(t *testing.T) {
	for keys, want := range map[string][]float64{
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [70, 20, 10]`: {0.7, 0.2, 0.1},
		`"levels": ["a", "b", "c", "d"], "ordered": true`:                    nil,
	} {
		s := parse(t, levelled(keys))
		if again := parse(t, s.String()); again.String() != s.String() || !again.Columns[1].Ordered {
			t.Errorf("written as %s", again)
		}
		e, err := NewEncoder(s)
		if err != nil {
			t.Fatal(err)
		}
		if e.Label().Levels[0] = "z"; want != nil {
			e.Label().Shares[0] = 9
		}
		if len(e.Label().Shares) != len(want) {
			t.Errorf("%s: %+v", keys, e.Label())
		}
		for k, v := range e.Label().Shares {
			if !(math.Abs(v-want[k]) < 1e-15) || e.Label().Levels[0] != "a" || !e.Label().Ordered {
				t.Errorf("%s: %+v", keys, e.Label())
			}
		}
	}
}

func TestLevelsOfLabelsThatAreRefused(t *testing.T) {
	for keys, part := range map[string]string{
		`"levels": ["no", "yes"]`:                                                                                `kind binary, with "positive": ["yes"] and "negative": ["no"]`,
		`"levels": ["a"]`:                                                                                        "has one level",
		`"levels": ["a", "b", "c"], "missing": "level"`:                                                          "may not be missing",
		`"levels": ["a", "b", "c"], "other": "d"`:                                                                `"other" is "d"`,
		`"levels": ["a", "b", "NA"]`:                                                                             "stands for a missing value by default",
		`"levels": ["a", "b", "A"], "fold_case": true`:                                                           `same by "fold_case"`,
		`"levels": ["a", "b", "c"], "shares": [1, 2, 3]`:                                                         `add "ordered": true`,
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [1, 2]`:                                           `"shares" are 2; there must be one for each of the 3`,
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [1, 0, 2]`:                                        "positive numbers",
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [1, 1e-9, 2]`:                                     "none below 1e-06",
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [-1, -1, -1]`:                                     "positive numbers",
		`"levels": ["a", "b", "c"], "ordered": true, "shares": [1e308, 1e308, 1]`:                                "positive numbers",
		`"levels": ["a", "b", "c"]}, {"name": "z", "kind": "categorical", "levels": ["d", "e"], "ordered": true`: `"z": has "ordered" or "shares", which are for the label`,
		`"levels": ["a", "b", "c"]}, {"name": "z", "kind": "count", "cap": 2, "ordered": true`:                   `"ordered", which is not for the kind count`,
	} {
		_, err := ParseSchema([]byte(levelled(keys)))
		says(t, keys, err, ErrSchema, part)
	}
	_, err := ParseSchema([]byte(strings.Replace(levelled(`"levels": ["a", "b", "c"]`), `"label": "state"`, `"label": "state", "interactions": [["x", "state"]]`, 1)))
	says(t, "interaction", err, ErrSchema, `"state", which is no feature`)
}
