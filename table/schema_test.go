package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// hospital is a schema with a column of each kind.
const hospital = `{
  "version": 1,
  "label": "readmitted",
  "person": "patient",
  "max_rows": 3,
  "exposure": "days",
  "missing": ["NA", "-99"],
  "columns": [
    {"name": "patient", "kind": "id"},
    {"name": "age", "kind": "numeric", "range": [20, 100], "square": true},
    {"name": "income", "kind": "numeric", "range": [1, 10000], "log": true, "missing": "indicator"},
    {"name": "bmi", "kind": "numeric", "range": [10, 60], "knots": [18.5, 25, 30], "missing": "constant", "constant": "25"},
    {"name": "ward", "kind": "categorical", "levels": ["surgery", "medicine", "icu", "other"], "reference": "medicine", "other": "other", "missing": "level"},
    {"name": "sex", "kind": "binary", "positive": ["f", "F"], "negative": ["m"], "missing": "indicator"},
    {"name": "admitted", "kind": "date", "origin": "2020-01-01", "from": "2020-01-01", "to": "2020-12-31", "layouts": ["2006-01-02", "02.01.2006"]},
    {"name": "days", "kind": "numeric", "range": [1, 365]},
    {"name": "remarks", "kind": "ignored"},
    {"name": "readmitted", "kind": "binary", "positive": ["yes"], "negative": ["no"]}
  ],
  "interactions": [
    ["age", "income"],
    ["ward", "age"],
    ["ward", "sex"]
  ]
}
`

func parse(t testing.TB, text string) Schema {
	t.Helper()
	s, err := ParseSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A schema survives both ways of writing it, and String writes what a person would.
func TestSchemaRoundTrip(t *testing.T) {
	s := parse(t, hospital)
	if got := s.String(); got != hospital {
		t.Errorf("String writes\n%s", got)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Schema
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("%+v, %v", back, err)
	}
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte("\ufeff"+hospital), 0o600); err != nil {
		t.Fatal(err)
	}
	if back, err = ReadSchemaFile(path); err != nil || !reflect.DeepEqual(s, back) {
		t.Errorf("%+v, %v", back, err)
	}
	if c := s.clone(); !reflect.DeepEqual(s, c) {
		t.Errorf("the clone is %+v", c)
	}
}

// A list of no texts is another than the default, so that "NA" can be a level.
func TestNothingIsMissing(t *testing.T) {
	s := parse(t, `{"version":1,"label":"y","missing":[],"columns":[{"name":"y","kind":"count","cap":1},{"name":"x","kind":"categorical","levels":["NA","ZA"]}]}`)
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{s.String(), string(raw)} {
		if back := parse(t, text); back.Missing == nil || len(back.Missing) != 0 {
			t.Errorf("%s", text)
		}
	}
}

func TestReadSchemaFileNamesTheFile(t *testing.T) {
	if _, err := ReadSchemaFile("none.json"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSchemaFile(path); !errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), "empty.json") {
		t.Error(err)
	}
}

// What Init leaves open is refused, column by column; filled in, it is a schema.
func TestInit(t *testing.T) {
	s, err := Init([]string{"age", "ill"})
	if err != nil {
		t.Fatal(err)
	}
	says(t, "init", s.Validate(), ErrSchema, `column "age": "kind" is still to be filled in`, `column "ill"`, `"label": is to be filled in`)
	text := s.String()
	if !strings.Contains(text, `{"name": "age", "kind": "FILL IN: numeric, count, categorical, binary, date, id or ignored"}`) {
		t.Error(text)
	}
	s.Label, s.Columns[0].Kind, s.Columns[1].Kind = "ill", Numeric, Binary
	says(t, "kinds only", s.Validate(), ErrSchema, `"age": "range" is missing`, `"ill": "positive" is missing`, `"ill": "negative" is missing`)
	s.Columns[0].Range = []float64{0, 100}
	s.Columns[1].Positive, s.Columns[1].Negative = []string{"1"}, []string{"0"}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		header []string
		want   string
	}{
		{nil, "no column"},
		{[]string{"a", ""}, "column 2 of the header has no name"},
		{[]string{"a", "b", "a"}, `columns 1 and 3 of the header are both named "a"`},
		{[]string{"18", "2.5"}, "numbers only"},
		{[]string{"a\xff"}, "not UTF-8"},
	} {
		_, err := Init(c.header)
		says(t, c.want, err, ErrColumn, c.want)
	}
}

// says checks an error's kind and that its text has all parts.
func says(t *testing.T, name string, err, kind error, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%s: %v, want %v", name, err, kind)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v\nlacks %s", name, err, part)
		}
	}
}

func TestParseSchemaRefuses(t *testing.T) {
	column := func(c string) string {
		return `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":9},{"name":"x",` + c + `}]}`
	}
	numeric := func(keys string) string { return column(`"kind":"numeric","range":[1,9]` + keys) }
	categorical := func(keys string) string { return column(`"kind":"categorical",` + keys) }
	binary := func(keys string) string { return column(`"kind":"binary",` + keys) }
	date := func(keys string) string {
		return column(`"kind":"date","origin":"2000-01-01","from":"2000-01-01","to":"2001-01-01"` + keys)
	}
	more := func(keys string) string {
		return `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":9},{"name":"x","kind":"numeric","range":[1,9]},
			{"name":"p","kind":"ignored"}]` + keys + `}`
	}
	for _, c := range []struct {
		name, text string
		parts      []string
	}{
		{"empty", " \n", []string{"empty", "Init"}},
		{"UTF-16", "{\x00\n\x00", []string{"UTF-16"}},
		{"a list", `[]`, []string{"one JSON object"}},
		{"null", `null`, []string{"one JSON object"}},
		{"cut short", `{"version": 1`, []string{"not JSON", "too early"}},
		{"no JSON", "{\n\n version: 1}", []string{"line 3", "not JSON"}},
		{"bytes after", "{}\n{}", []string{"line 2", "follows the object"}},
		{"no label, version, columns", `{}`, []string{`"version": is missing; write "version": 1`, `"label"`, `"columns": is empty`}},
		{"later version", `{"version":2}`, []string{"is 2", "version 1 only"}},
		{"unknown key", `{"version":1,"lable":"y"}`, []string{`no key "lable"`, `did you mean "label"?`, "max_rows"}},
		{"letters swapped", column(`"kind":"numeric","rnage":[1,2]`), []string{`column "x" has no key "rnage" (did you mean "range"?)`}},
		{"another case", `{"version":1,"Label":"y"}`, []string{`no key "Label"`, `did you mean "label"?`}},
		{"unknown key of a column", "{\n\"columns\":[{\n\"nam\":1}]}", []string{"line 3", `element 1 of key "columns" has no key "nam"`, "levels"}},
		{"repeated key", "{\"version\":1,\n\"version\":1}", []string{"line 2", `"version" is repeated`}},
		{"repeated key of a column", column(`"kind":"numeric","range":[1,2],"range":[1,3]`), []string{`"range" is repeated in column "x"; write it once`}},
		{"a string for a list", column(`"kind":"numeric","range":"1-2"`), []string{`line 1: column "x": key "range" is "1-2"`, "a list in brackets"}},
		{"a string in a range", column(`"kind":"numeric","range":["1",2]`), []string{`column "x": element 1 of key "range" is "1"`, "without quotes"}},
		{"numbers for levels", column(`"kind":"categorical","levels":["0",1]`), []string{`column "x": element 2 of key "levels" is 1`, "in quotes"}},
		{"a string for a switch", numeric(`,"log":"true"`), []string{`column "x": key "log" is "true"`, "true or false"}},
		{"a number before the name", `{"columns":[{"range":7,"name":"x"}]}`, []string{`element 1 of key "columns": key "range" is 7`}},
		{"a list for a column", `{"columns":[["x"]]}`, []string{`element 1 of key "columns" is a list`, "an object"}},
		{"a comma too many", "{\"version\":1,\n}", []string{"line 2", "the comma before it is one too many"}},
		{"a comma too many in a list", column(`"kind":"numeric","range":[0,1,]`), []string{"the comma before it is one too many"}},
		{"a comma too few", column(`"kind":"numeric" "range":[0,1]`), []string{"a comma seems to be missing"}},
		{"other quotes", "{'version':1}", []string{"line 1", `texts in quotes "`}},
		{"an object for a number", column(`"kind":"count","cap":{"a":1}`), []string{`key "cap" is an object`, "a whole number"}},
		{"cap with a fraction", column(`"kind":"count","cap":2.5`), []string{`key "cap" is 2.5`, "a whole number"}},
		{"range beyond float64", column(`"kind":"numeric","range":[0,1e400]`), []string{"1e400"}},

		{"no name", `{"columns":[{"kind":"ignored"}]}`, []string{"element 1: has no name"}},
		{"name twice", `{"columns":[{"name":"a"},{"name":"a"}]}`, []string{`column "a": is listed twice`}},
		{"name with spaces", `{"columns":[{"name":"a "}]}`, []string{`column "a "`, "spaces"}},
		{"no kind", column(`"range":[1,2]`), []string{`column "x": "kind" is missing`, "categorical"}},
		{"unknown kind", column(`"kind":"number"`), []string{`"kind" is "number"`, "categorical"}},
		{"key of another kind", numeric(`,"levels":["a","b"]`), []string{`column "x": has "levels"`, "kind numeric", "range, log"}},
		{"key of an ignored column", column(`"kind":"ignored","missing":"refuse"`), []string{`has "missing"`, "none"}},

		{"no range", column(`"kind":"numeric"`), []string{`column "x": "range" is missing`}},
		{"range of one", column(`"kind":"numeric","range":[18]`), []string{`column "x": "range" is [18]`, "two finite numbers"}},
		{"range of three", column(`"kind":"numeric","range":[1,2,3]`), []string{`"range" is [1, 2, 3]`}},
		{"range falls", column(`"kind":"numeric","range":[2,1]`), []string{`"range" is [2, 1]`}},
		{"range is a point", column(`"kind":"numeric","range":[2,2]`), []string{`"range" is [2, 2]`}},
		{"range is too wide", column(`"kind":"numeric","range":[0,1e61]`), []string{"1e+61"}},
		{"log of 0", column(`"kind":"numeric","range":[0,9],"log":true`), []string{`"log" needs a "range" above 0`, "[0, 9]"}},
		{"knots outside", numeric(`,"knots":[2,9]`), []string{`"knots" are [2, 9]`, "inside the range [1, 9]"}},
		{"knots fall", numeric(`,"knots":[3,3]`), []string{`"knots" are [3, 3]`}},
		{"too many knots", numeric(`,"knots":[` + strings.Repeat("2,", maxKnots) + `2]`), []string{"101", "at most 100"}},
		{"step below 0", numeric(`,"per":-10`), []string{`column "x": "per" is -10`, "positive number"}},
		{"step of days below 0", date(`,"per":-1`), []string{`column "x": "per" is -1`}},
		{"step of a logarithm", numeric(`,"log":true,"per":10`), []string{`column "x": has "per" beside "log", "square" or "knots"`, "straight lines"}},
		{"step of a square", numeric(`,"square":true,"per":10`), []string{`"per" beside`}},
		{"step of a spline", numeric(`,"knots":[3],"per":10`), []string{`"per" beside`}},
		{"step of levels", categorical(`"levels":["a","b"],"per":10`), []string{`has "per", which is not for the kind categorical`}},
		{"step as a text", numeric(`,"per":"10"`), []string{`key "per" is "10"`, "without quotes"}},
		{"square of a spline", numeric(`,"square":true,"knots":[3]`), []string{`"square" and "knots"`}},

		{"no levels", categorical(`"reference":"a"`), []string{`column "x": "levels" is missing`}},
		{"one level", categorical(`"levels":["a"]`), []string{"at least two"}},
		{"repeated level", categorical(`"levels":["a","b","a"]`), []string{`column "x", "levels": holds "a" twice`}},
		{"empty level", categorical(`"levels":["a",""]`), []string{"empty text"}},
		{"level with a space", categorical(`"levels":["a","b "]`), []string{`holds "b "`, "spaces"}},
		{"level that is missing", categorical(`"levels":["a","NA"]`), []string{`"NA" stands for a missing value by default`}},
		{"level in missing", strings.Replace(categorical(`"levels":["a","b"]`), `"label"`, `"missing":["b"],"label"`, 1), []string{`"b" stands for a missing value by the schema's list`}},
		{"unknown reference", categorical(`"levels":["north","south"],"reference":"North"`), []string{`"reference" is "North"`, `did you mean "north"?`}},
		{"unknown other", categorical(`"levels":["a","b"],"other":"rest"`), []string{`"other" is "rest"`, `add it to "levels"`}},
		{"missing level exists", categorical(`"levels":["a","missing"],"missing":"level"`), []string{`has a level "missing" already`}},

		{"no positive", binary(`"negative":["n"]`), []string{`"positive" is missing`}},
		{"no negative", binary(`"positive":["y"]`), []string{`"negative" is missing`}},
		{"both", binary(`"positive":["y","n"],"negative":["n"]`), []string{`"n" is both`}},
		{"positive twice", binary(`"positive":["y","y"],"negative":["n"]`), []string{`"positive": holds "y" twice`}},

		{"no from", column(`"kind":"date","origin":"2000-01-01","to":"2001-01-01"`), []string{`"from" is missing`}},
		{"origin is no day", column(`"kind":"date","origin":"1.1.2000","from":"2000-01-01","to":"2001-01-01"`), []string{`"origin" is "1.1.2000"`, "2006-01-02"}},
		{"from after to", column(`"kind":"date","origin":"2000-01-01","from":"2000-01-02","to":"2000-01-01"`), []string{"earlier"}},
		{"layout of letters", date(`,"layouts":["YYYY-MM-DD"]`), []string{`"layouts" has "YYYY-MM-DD"`, "02.01.2006"}},
		{"layout without year", date(`,"layouts":["02.01."]`), []string{`"layouts" has "02.01."`}},
		{"layouts of Americans and others", date(`,"layouts":["01/02/2006","02/01/2006"]`), []string{`column "x": "layouts" has "01/02/2006" and "02/01/2006"`, "2011-01-02 and 2011-02-01"}},
		{"layouts with short months", date(`,"layouts":["2006-01-02","1/2/06","2/1/06"]`), []string{`"1/2/06" and "2/1/06"`}},
		{"layouts of two digits", date(`,"layouts":["02.01.06","06.01.02"]`), []string{`"02.01.06" and "06.01.02"`}},
		{"a day before a year", date(`,"layouts":["02012006","20060102"]`), []string{`"02012006" and "20060102"`}},
		{"layout twice", date(`,"layouts":["02.01.2006","02.01.2006"]`), []string{"twice"}},

		{"unknown rule", numeric(`,"missing":"drop"`), []string{`"missing" is "drop"`, "refuse, indicator or constant"}},
		{"level for a number", numeric(`,"missing":"level"`), []string{`"missing" is "level"`, "refuse, indicator or constant"}},
		{"indicator for a level", categorical(`"levels":["a","b"],"missing":"indicator"`), []string{"refuse, level or constant"}},
		{"no constant", numeric(`,"missing":"constant"`), []string{"go together"}},
		{"constant without rule", numeric(`,"constant":"3"`), []string{"go together"}},
		{"constant outside", numeric(`,"missing":"constant","constant":"10"`), []string{`"constant" is "10"`, "in the range [1, 9]"}},
		{"constant is no level", categorical(`"levels":["a","b"],"missing":"constant","constant":"c"`), []string{`"constant" is "c"`, "levels"}},
		{"constant is no answer", binary(`"positive":["y"],"negative":["n"],"missing":"constant","constant":"x"`), []string{`"constant" is "x"`}},
		{"constant before", date(`,"missing":"constant","constant":"1999-12-31"`), []string{`"constant" is "1999-12-31"`, "a day from 2000-01-01 to"}},
		{"constant after", date(`,"layouts":["02.01.2006"],"missing":"constant","constant":"01.01.2100"`), []string{`"constant" is "01.01.2100"`, "a day from"}},
		{"constant is no date", date(`,"missing":"constant","constant":"x"`), []string{`"constant" is "x"`, "date"}},

		{"label isn't there", `{"version":1,"label":"why","columns":[{"name":"y","kind":"count","cap":1}]}`, []string{`names "why"`, `they are "y"`}},
		{"label of levels that belong together", `{"label":"y","columns":[{"name":"y","kind":"onehot","levels":["a","b"]}]}`, []string{"of kind onehot", "numeric, count, binary or categorical"}},
		{"label with log", `{"label":"y","columns":[{"name":"y","kind":"numeric","range":[1,2],"log":true}]}`, []string{"are for features"}},
		{"label with a step", `{"label":"y","columns":[{"name":"y","kind":"numeric","range":[1,2],"per":1}]}`, []string{`"per"; they are for features`}},
		{"label may be missing", `{"label":"y","columns":[{"name":"y","kind":"count","cap":3,"missing":"indicator"}]}`, []string{`"missing" is "indicator"`, "may not be missing"}},
		{"cap", `{"label":"y","columns":[{"name":"y","kind":"count"}]}`, []string{`"cap" is 0`}},
		{"count as feature", column(`"kind":"count","cap":3`), []string{"for the label"}},
		{"id without person", column(`"kind":"id"`), []string{`not the schema's "person"`}},
		{"person without cap", more(`,"person":"p"`), []string{`"person", "max_rows": the column and its number of 1 or more go together`}},
		{"person of another kind", more(`,"person":"x","max_rows":2`), []string{`names "x" of kind numeric`, "kind id"}},
		{"unknown person", more(`,"person":"q","max_rows":2`), []string{`names "q"`}},
		{"exposure at 0", `{"label":"y","exposure":"x","columns":[{"name":"y","kind":"count","cap":3},{"name":"x","kind":"numeric","range":[0,1]}]}`, []string{`"exposure": names "x"`, "above 0"}},
		{"exposure is the label", more(`,"exposure":"y"`), []string{"names the label"}},
		{"empty missing", more(`,"missing":[""]`), []string{`"missing": holds an empty text`}},
		{"only a label", `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":3}]}`, []string{"make no feature"}},

		{"interaction of one", more(`,"interactions":[["x"]]`), []string{`element 1: is ["x"]`}},
		{"interaction with itself", more(`,"interactions":[["x","x"]]`), []string{"two different columns"}},
		{"interaction with nothing", more(`,"interactions":[["x","z"]]`), []string{`names "z"`}},
		{"interaction with the label", more(`,"interactions":[["x","y"]]`), []string{`names "y", which is no feature`}},
		{"interaction twice", `{"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,1]},{"name":"b","kind":"numeric","range":[0,1]}],"interactions":[["a","b"],["b","a"]]}`, []string{"element 2", "twice"}},
		{"interaction of a spline", `{"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,3],"knots":[1]},{"name":"b","kind":"numeric","range":[0,1]}],"interactions":[["a","b"]]}`, []string{`"a"`, "spline"}},
		{"features alike", `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":1},{"name":"a","kind":"numeric","range":[0,1],"square":true},{"name":"a^2","kind":"numeric","range":[0,1]}]}`, []string{`feature "a^2"`, "rename"}},
		{"groups alike", `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":1},{"name":"a","kind":"categorical","levels":["1","2"]},{"name":"b","kind":"categorical","levels":["1","2"]},
			{"name":"a:b","kind":"categorical","levels":["1","2"]}],"interactions":[["a","b"]]}`, []string{"group", "rename"}},
	} {
		_, err := ParseSchema([]byte(c.text))
		says(t, c.name, err, ErrSchema, c.parts...)
	}
}

// A schema made in Go may hold what JSON can't.
func TestValidateRefusesWhatJSONCannotHold(t *testing.T) {
	s := parse(t, hospital)
	s.Columns[1].Range[1] = math.Inf(1)
	says(t, "infinite", s.Validate(), ErrSchema, `column "age": "range" is`)
	wide := make([]string, 2000)
	for i := range wide {
		wide[i] = "level" + strings.Repeat("x", i)
	}
	s = parse(t, hospital)
	s.Columns[4].Levels, s.Columns[4].Reference, s.Columns[4].Other = wide, "", ""
	b := s.Columns[4]
	b.Name = "ward 2"
	s.Columns = append(s.Columns, b)
	s.Interactions = [][]string{{"ward", "ward 2"}}
	says(t, "too many features", s.Validate(), ErrSchema, "more than 1048576 features")
}

// "private" names the label, or isn't there, and is written as it was read.
func TestPrivateNamesTheLabel(t *testing.T) {
	schema := func(more string) (Schema, error) {
		kind := "ignored"
		if strings.Contains(more, "person") {
			kind = "id"
		}
		return ParseSchema([]byte(`{"version":1,"label":"y",` + more + `"columns":[{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]},{"name":"who","kind":"` + kind + `"}]}`))
	}
	s, err := schema(`"private":["y"],`)
	if err != nil {
		t.Fatal(err)
	}
	if again := parse(t, s.String()); !slices.Equal(s.Private, []string{"y"}) || !reflect.DeepEqual(again, s) {
		t.Errorf("%v is read as %v", s, again)
	}
	for _, more := range []string{`"private":[],`, `"private":["x"],`, `"private":["y","x"],`, `"private":["y"],"person":"who","max_rows":2,`, `"private":["y"],"at_most":9,`} {
		_, err := schema(more)
		says(t, more, err, ErrSchema, `"private"`)
	}
}

// Who fulfils a condition on the label would tell the label, which is all that is private.
func TestNoConditionOnAPrivateLabel(t *testing.T) {
	const text = `{"version": 1, "label": "y", %s "where": [{"column": %q, "from": 1}], "columns": [{"name": "y", "kind": "numeric", "range": [0, 9]}, {"name": "x", "kind": "numeric", "range": [0, 9]}]}`
	for _, c := range []struct {
		private, column string
		fine            bool
	}{{`"private": ["y"],`, "y", false}, {`"private": ["y"],`, "x", true}, {"", "y", true}} {
		_, err := ParseSchema(fmt.Appendf(nil, text, c.private, c.column))
		if (err == nil) != c.fine || err != nil && !strings.Contains(err.Error(), `"where": has a condition on "y", which is "private"`) {
			t.Errorf("%s a condition on %s: %v", c.private, c.column, err)
		}
	}
}

// Layouts may stand side by side where no text is two days by them.
func TestLayoutsWithoutAClash(t *testing.T) {
	for _, list := range []string{`"2006-01-02","02.01.2006","2.1.2006"`, `"20060102","02012006"`, `"2006-01-02 15:04","2006-01-02 15:04:05","2006-01-02T15:04:05Z07:00"`,
		`"Jan 2, 2006","2 Jan 2006","2 January 2006","02/01/2006"`, `"02-01-2006","01/02/2006"`, `"2006-01-02","2006-002"`} {
		parse(t, strings.Replace(dated, "%s", `,"layouts":[`+list+`]`, 1))
	}
}
