package table

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const draft = `{"version": 1, "label": "y", "private": ["y"], "where": [{"column": "in", "in": ["1"]}], "columns": [
	{"name": "y", "kind": "numeric", "range": [0, 10]},
	{"name": "age", "kind": "numeric", "missing": "indicator", "quantiles": 3},
	{"name": "pay", "kind": "numeric", "range": [0, 5], "log": false},
	{"name": "size", "kind": "numeric", "log": true},
	{"name": "town", "kind": "categorical", "other": "elsewhere", "reference": "york"},
	{"name": "day", "kind": "date", "layouts": ["02.01.2006"], "missing": "constant", "constant": "05.01.2024"},
	{"name": "in", "kind": "ignored"}]}`

const observedRows = `y,age,pay,size,town,day,in
1,30,7,.5,hull,03.01.2024,1
2,NA,1,2,leeds,31.12.2023,1
3,20,1,4,hull,,1
4,50,1,8,hull,09.02.2024,1
5,40,1,1,hull,05.01.2024,1
99,900,1,900,paris,05.01.2030,0
`

func observe(text, rows string) (Schema, error) {
	s, err := ParseDraft([]byte(text))
	if err != nil {
		return Schema{}, err
	}
	c, err := NewCSV(strings.NewReader(rows), 0)
	if err != nil {
		return Schema{}, err
	}
	return Observe(c, s)
}

// What a schema lacks comes from the rows that are there, and nothing else changes; what is made can be read with, and read back.
func TestObserve(t *testing.T) {
	s, err := observe(draft, observedRows)
	if err != nil {
		t.Fatal(err)
	}
	age, size, town, day := s.column("age"), s.column("size"), s.column("town"), s.column("day")
	switch {
	case !slices.Equal(age.Range, []float64{20, 50}) || !slices.Equal(age.Knots, []float64{30, 40}) || age.Quantiles != 0:
		t.Errorf("age: %+v", age) // the third quartile is the end of the range, where no spline bends
	case !slices.Equal(size.Range, []float64{.5, 8}) || !size.Log:
		t.Errorf("size: %+v", size)
	case !slices.Equal(town.Levels, []string{"elsewhere", "hull", "leeds", "york"}):
		t.Errorf("town: %+v", town)
	case day.From != "2023-12-31" || day.To != "2024-02-09" || day.Origin != day.From:
		t.Errorf("day: %+v", day)
	case !s.Observed() || !age.Observed || !size.Observed || !town.Observed || !day.Observed || s.column("pay").Observed || s.column("y").Observed:
		t.Errorf("%v", s)
	}
	table, err := ReadCSV(strings.NewReader(observedRows), s)
	if err != nil || len(table.Labels()) != 5 {
		t.Errorf("%v", err)
	}
	again, err := ParseSchema([]byte(s.String()))
	if err != nil || again.String() != s.String() {
		t.Errorf("%v (%v)", again, err)
	}
	again.Private = nil
	if err := again.Validate(); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), `"observed"`) {
		t.Errorf("without private: %v", err)
	}
}

// Texts that differ by case alone are one level where that doesn't matter, in the spelling that the column names or the first row has; a
// constant for missing values needn't occur.
func TestObserveLevels(t *testing.T) {
	const text = `{"version": 1, "label": "y", "private": ["y"], "columns": [{"name": "y", "kind": "numeric", "range": [0, 1]},
		{"name": "town", "kind": "categorical", "fold_case": true, "reference": "york", "missing": "constant", "constant": "nowhere"}]}`
	s, err := observe(text, "y,town\n0,York\n1,Hull\n0,HULL\n1,\n0,leeds\n")
	if err != nil {
		t.Fatal(err)
	}
	if c := s.column("town"); !slices.Equal(c.Levels, []string{"Hull", "leeds", "nowhere", "york"}) {
		t.Errorf("%+v", c)
	}
}

func TestObserveRefuses(t *testing.T) {
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(draft) }
	for name, c := range map[string]struct {
		schema, rows, says string
		kind               error
	}{
		"not private":   {replaced(`"private": ["y"], `, ""), observedRows, `"private" is missing`, ErrSchema},
		"label":         {replaced(`"range": [0, 10]`, `"square": false`), observedRows, `"range" is missing`, ErrSchema},
		"other fault":   {replaced(`"range": [0, 5]`, `"range": [5, 0]`), observedRows, "lo below hi", ErrSchema},
		"a quantile":    {replaced(`"quantiles": 3`, `"quantiles": 101`), observedRows, "from 0 to 100", ErrSchema},
		"one number":    {replaced(`"kind": "ignored"`, `"kind": "numeric"`), observedRows, "no two different numbers", ErrSchema},
		"no number":     {draft, strings.Replace(observedRows, "2,NA", "2,old", 1), "line 3", ErrValue},
		"no day":        {draft, strings.Replace(observedRows, "31.12.2023", "2023", 1), "line 3", ErrValue},
		"log of 0":      {draft, strings.Replace(observedRows, ",.5,", ",0,", 1), "above 0", ErrSchema},
		"no column":     {draft, strings.Replace(observedRows, "age", "years", 1), "age", ErrColumn},
		"ragged":        {draft, observedRows + "1,2\n", "line 8", ErrFile},
		"no rows":       {draft, "y,age,pay,size,town,day,in\n", "no two different", ErrSchema},
		"stays a draft": {draft, "", "", nil},
	} {
		var err error
		if name == "stays a draft" {
			_, err = ParseSchema([]byte(c.schema))
			c.says, c.kind = "range", ErrSchema
		} else {
			_, err = observe(c.schema, c.rows)
		}
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Observe(nil, Schema{Private: []string{"y"}}); err == nil {
		t.Error("no source")
	}
	many := strings.Builder{}
	many.WriteString("y,town\n")
	for i := range mostObserved + 1 {
		many.WriteString("1,t" + strings.Repeat("x", i) + "\n")
	}
	_, err := observe(`{"version": 1, "label": "y", "private": ["y"], "columns": [{"name": "y", "kind": "numeric", "range": [0, 1]}, {"name": "town", "kind": "categorical"}]}`, many.String())
	if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "1000") {
		t.Error(err)
	}
}
