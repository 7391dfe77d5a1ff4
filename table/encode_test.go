package table

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// person is a record of the hospital, to change one field at a time.
func person(changes ...string) map[string]string {
	r := map[string]string{"age": "60", "income": "100", "bmi": "25", "ward": "medicine", "sex": "m", "admitted": "2020-01-01"}
	for i := 0; i < len(changes); i += 2 {
		r[changes[i]] = changes[i+1]
	}
	return r
}

func encoder(t testing.TB, schema string) *Encoder {
	t.Helper()
	e, err := NewEncoder(parse(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// named encodes a record and returns the features that aren't 0 by name.
func named(t testing.TB, e *Encoder, record map[string]string) map[string]float64 {
	t.Helper()
	x := make([]float64, len(e.Features()))
	if err := e.Encode(x, record); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for i, f := range e.Features() {
		if x[i] != 0 {
			out[f.Name] = x[i]
		}
	}
	return out
}

// The reference patient's only features are those of splines, squares and dates; what
// changes with a field is what the schema says.
func TestFeatures(t *testing.T) {
	e := encoder(t, hospital)
	base := named(t, e, person())
	for _, c := range []struct {
		field, text string
		want        map[string]float64
	}{
		{"age", "60", nil},
		{"age", " 60.0 ", nil},
		{"age", "80", map[string]float64{"age": .5, "age^2": -.5}},
		{"age", "20", map[string]float64{"age": -1, "age^2": 1}},
		{"age", "3", map[string]float64{"age": -1, "age^2": 1}},
		{"age", "1e9", map[string]float64{"age": 1, "age^2": 1}},
		{"income", "10000", map[string]float64{"log(income)": 1}},
		{"income", "1000", map[string]float64{"log(income)": .5}},
		{"income", "0", map[string]float64{"log(income)": -1}},
		{"income", "", map[string]float64{"income=missing": 1}},
		{"income", "NA", map[string]float64{"income=missing": 1}},
		{"income", "-99", map[string]float64{"income=missing": 1}},
		{"income", "-99.0", map[string]float64{"income=missing": 1}},
		{"bmi", "", nil}, // the constant
		{"ward", "surgery", map[string]float64{"ward=surgery": 1}},
		{"ward", " icu", map[string]float64{"ward=icu": 1}},
		{"ward", "dentist", map[string]float64{"ward=other": 1}},
		{"ward", "other", map[string]float64{"ward=other": 1}},
		{"ward", "", map[string]float64{"ward=missing": 1}},
		{"ward", "-99", map[string]float64{"ward=missing": 1}},
		{"sex", "f", map[string]float64{"sex=f": 1}},
		{"sex", "F", map[string]float64{"sex=f": 1}},
		{"sex", "NA", map[string]float64{"sex=missing": 1}},
		{"admitted", "31.12.2020", map[string]float64{"admitted": 1}},
		{"admitted", "2020-07-02", map[string]float64{"admitted": 2*183./365 - 1}},
		{"admitted", "2019-07-02", nil},
	} {
		want := maps.Clone(base)
		maps.Copy(want, c.want)
		got := named(t, e, person(c.field, c.text))
		if !maps.EqualFunc(got, want, near) {
			t.Errorf("%s %q: %v, want %v", c.field, c.text, got, want)
		}
	}
	if base["age^2"] != -1 || base["admitted"] != -1 || base["age"] != 0 || math.Abs(base["log(income)"]) > 1e-15 {
		t.Error(base)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14 }

func TestInteractions(t *testing.T) {
	e := encoder(t, hospital)
	got := named(t, e, person("age", "80", "income", "1000", "ward", "icu", "sex", "f"))
	for name, want := range map[string]float64{"age:log(income)": .25, "age:ward=icu": .5, "ward=icu:sex=f": 1, "age:ward=surgery": 0, "ward=icu:sex=missing": 0} {
		if !near(got[name], want) {
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
	got = named(t, e, person("age", "80", "income", "NA", "ward", "", "sex", ""))
	for name, want := range map[string]float64{"age:log(income)": 0, "age:ward=missing": .5, "ward=missing:sex=missing": 1} {
		if !near(got[name], want) {
			t.Errorf("%s is %g, want %g", name, got[name], want)
		}
	}
}

// The description of the features says what the values show.
func TestFeatureDescriptions(t *testing.T) {
	e := encoder(t, hospital)
	want := `age [age] [""] false 0 ""
age^2 [age] [""] false 1 ""
log(income) [income] [""] false 2 ""
income=missing [income] ["missing"] true 2 "income=missing"
bs(bmi)1 [bmi] [""] false 3 ""
bs(bmi)2 [bmi] [""] false 3 ""
bs(bmi)3 [bmi] [""] false 3 ""
bs(bmi)4 [bmi] [""] false 3 ""
bs(bmi)5 [bmi] [""] false 3 ""
bs(bmi)6 [bmi] [""] false 3 ""
ward=surgery [ward] ["surgery"] true 4 "ward"
ward=icu [ward] ["icu"] true 4 "ward"
ward=other [ward] ["other"] true 4 "ward"
ward=missing [ward] ["missing"] true 4 "ward"
sex=f [sex] ["f"] true 5 "sex"
sex=missing [sex] ["missing"] true 5 "sex"
admitted [admitted] [""] false 6 ""
age:log(income) [age income] ["" ""] false 7 ""
age:ward=surgery [age ward] ["" "surgery"] false 8 ""
age:ward=icu [age ward] ["" "icu"] false 8 ""
age:ward=other [age ward] ["" "other"] false 8 ""
age:ward=missing [age ward] ["" "missing"] false 8 ""
ward=surgery:sex=f [ward sex] ["surgery" "f"] true 9 "ward:sex"
ward=surgery:sex=missing [ward sex] ["surgery" "missing"] true 9 "ward:sex"
ward=icu:sex=f [ward sex] ["icu" "f"] true 9 "ward:sex"
ward=icu:sex=missing [ward sex] ["icu" "missing"] true 9 "ward:sex"
ward=other:sex=f [ward sex] ["other" "f"] true 9 "ward:sex"
ward=other:sex=missing [ward sex] ["other" "missing"] true 9 "ward:sex"
ward=missing:sex=f [ward sex] ["missing" "f"] true 9 "ward:sex"
ward=missing:sex=missing [ward sex] ["missing" "missing"] true 9 "ward:sex"
`
	var got strings.Builder
	for _, f := range e.Features() {
		fmt.Fprintf(&got, "%s %s %q %t %d %q\n", f.Name, f.Columns, f.Levels, f.OneHot, f.Block, f.Group)
	}
	if got.String() != want {
		t.Error(got.String())
	}
	if e.Bound() != math.Sqrt(10) {
		t.Errorf("the bound is %g", e.Bound())
	}
	if want := []string{"age", "income", "bmi", "ward", "sex", "admitted"}; !slices.Equal(e.Inputs(), want) {
		t.Error(e.Inputs())
	}
	f := e.Features()
	f[0].Columns[0], f[0].Levels[0] = "changed", "changed"
	s := e.Schema()
	s.Columns[1].Range[0], s.Columns[4].Levels[0], s.Interactions[0][0] = -5, "changed", "changed"
	if e.Features()[0].Columns[0] != "age" || e.Schema().String() != hospital {
		t.Error("the encoder's own description was changed")
	}
}

// draw makes a random record of the hospital, with values at and beyond all ends.
func draw(r *rand.Rand) map[string]string {
	number := func(lo, hi float64) string {
		return strconv.FormatFloat([]float64{lo, hi, lo - 1, hi + 1, lo + r.Float64()*(hi-lo), lo + r.Float64()*(hi-lo), (lo + hi) / 2}[r.IntN(7)], 'g', -1, 64)
	}
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	return map[string]string{
		"age": number(20, 100), "income": pick(number(1, 10000), number(1, 10000), "NA"), "bmi": pick(number(10, 60), number(18.5, 30), ""),
		"ward": pick("surgery", "medicine", "icu", "else", ""), "sex": pick("f", "m", ""),
		"admitted": time.Date(2020, 1, 1+r.IntN(500)-50, 0, 0, 0, 0, time.UTC).Format(isoDay),
	}
}

// Each feature lies in [−1, 1], or is 0 or 1 where it says so, each block in a ball of
// radius 1, so that the row's norm is at most the bound, whatever the record.
func TestEncodedRowsAreBounded(t *testing.T) {
	e := encoder(t, hospital)
	features := e.Features()
	x := make([]float64, len(features))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		record := draw(r)
		if err := e.Encode(x, record); err != nil {
			t.Fatal(err)
		}
		norms := make([]float64, len(e.blocks))
		for i, f := range features {
			if !(math.Abs(x[i]) <= 1) || f.OneHot && x[i] != 0 && x[i] != 1 {
				t.Fatalf("%v: %s is %g", record, f.Name, x[i])
			}
			norms[f.Block] += x[i] * x[i]
		}
		for b, norm := range norms {
			if norm > 1+1e-15 {
				t.Fatalf("%v: block %d has the norm %g", record, b, math.Sqrt(norm))
			}
		}
	}
}

// A record by name, bound fields in another order among others, and a file give the
// same features.
func TestPredictionEncodesAsTrainingDoes(t *testing.T) {
	e := encoder(t, hospital)
	r := rand.New(rand.NewPCG(5, 6))
	header := []string{"readmitted", "note", "sex", "patient", "admitted", "bmi", "days", "ward", "age", "income"}
	b, err := e.Bind(header)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString(strings.Join(header, "\t") + "\n")
	var rows [][]float64
	for range 500 {
		record := draw(r)
		fields := make([]string, len(header))
		for i, name := range header {
			fields[i] = record[name]
		}
		fields[0], fields[3], fields[6] = "yes", "p", "9"
		text.WriteString(strings.Join(fields, "\t") + "\n")
		x, y := make([]float64, len(e.Features())), make([]float64, len(e.Features()))
		x[0], y[1] = 5, 5 // what was there before
		if err := errors.Join(e.Encode(x, record), b.Encode(y, fields)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(x, y) {
			t.Fatalf("%v: %v by name, %v by position", record, x, y)
		}
		rows = append(rows, x)
	}
	table, err := ReadCSV(strings.NewReader(text.String()), e.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range rows {
		for j, v := range x {
			if table.Matrix().At(i, j) != v {
				t.Fatalf("row %d: %s is %g in the table, %g by name", i, e.Features()[j].Name, table.Matrix().At(i, j), v)
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	e := encoder(t, hospital)
	x := make([]float64, len(e.Features()))
	lacking := person()
	delete(lacking, "ward")
	lacking["Ward"] = "icu"
	says(t, "no ward", e.Encode(x, lacking), ErrColumn, `column "ward" is not in the record (did you mean "Ward"?)`, `"Ward"`, `"age"`)
	says(t, "bad age", e.Encode(x, person("age", "old")), ErrValue, `column "age": "old" is not a number`)
	says(t, "short dst", e.Encode(x[1:], person()), check.ErrShape, "len(dst) = 29", "features, 30")
	_, err := e.Bind([]string{"age"})
	says(t, "short header", err, ErrColumn, `column "income" is not in the header, which has "age"`)
	_, err = e.Bind([]string{"age", "age"})
	says(t, "double header", err, ErrColumn, "both named")
	b, err := e.Bind(e.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	says(t, "short record", b.Encode(x, []string{"60"}), ErrFile, "1 fields", "6")
	says(t, "bad field", b.Encode(x, []string{"60", "1", "1", "icu", "x", "2020-01-01"}), ErrValue, `column "sex": "x"`)
	if _, err := NewEncoder(Schema{}); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
}

// Wide levels are kept sparse, and hold the same rows.
func TestSparseRows(t *testing.T) {
	var levels []string
	for i := range 50 {
		levels = append(levels, fmt.Sprintf("l%d", i))
	}
	wide := Schema{Version: 1, Label: "y", Columns: []Column{
		{Name: "a", Kind: Numeric, Range: []float64{10, 20}},
		{Name: "l", Kind: Categorical, Levels: levels},
		{Name: "k", Kind: Numeric, Range: []float64{0, 1}, Knots: []float64{.2, .4}},
		{Name: "y", Kind: Binary, Positive: []string{"1"}, Negative: []string{"0"}}},
		Interactions: [][]string{{"a", "l"}}}
	table, err := ReadCSV(strings.NewReader("a,l,k,y\n15,l0,0,1\n20,l3,1,0\n10,l49,.3,1\n"), wide)
	if err != nil {
		t.Fatal(err)
	}
	x := table.Sparse()
	if x == nil || table.Dense() != nil || table.Matrix() != x {
		t.Fatal("the rows are dense")
	}
	at := map[string]int{}
	for j, f := range table.Encoder().Features() {
		at[f.Name] = j
	}
	want := [3]map[string]float64{
		{},
		{"a": 1, "l=l3": 1, "bs(k)5": 1, "a:l=l3": 1},
		{"a": -1, "l=l49": 1, "a:l=l49": -1, "bs(k)1": math.NaN(), "bs(k)2": math.NaN(), "bs(k)3": math.NaN(), "bs(k)4": math.NaN()},
	}
	for i, row := range want {
		entries := x.Indptr[i+1] - x.Indptr[i]
		if entries != len(row) {
			t.Errorf("row %d has %d entries, want %d", i, entries, len(row))
		}
		for name, v := range row {
			if got := x.At(i, at[name]); got != v && !math.IsNaN(v) {
				t.Errorf("row %d: %s is %g, want %g", i, name, got, v)
			}
		}
		for k := x.Indptr[i] + 1; k < x.Indptr[i+1]; k++ {
			if x.Indices[k] <= x.Indices[k-1] {
				t.Errorf("row %d: the indices %v don't ascend", i, x.Indices[x.Indptr[i]:x.Indptr[i+1]])
			}
		}
	}
	if rows, columns := x.T().Dims(); rows != len(at) || columns != 3 {
		t.Errorf("the transpose is %d×%d", rows, columns)
	}
}

// Missing values of each kind, by each rule.
func TestMissingValues(t *testing.T) {
	const days = `"kind":"date","origin":"2020-01-01","from":"2020-01-01","to":"2020-01-11"`
	for _, c := range []struct {
		column string
		want   map[string]float64 // of a missing value
		same   string             // the value that it reads as, but for an indicator
	}{
		{`"kind":"numeric","range":[0,10],"missing":"indicator"`, map[string]float64{"x=missing": 1}, ""},
		{`"kind":"numeric","range":[0,10],"square":true,"missing":"indicator"`, map[string]float64{"x^2": -1, "x=missing": 1}, ""},
		{`"kind":"numeric","range":[0,10],"knots":[2,6],"missing":"indicator"`, map[string]float64{"x=missing": 1}, ""},
		{`"kind":"numeric","range":[0,10],"knots":[2,6],"missing":"constant","constant":"3"`, nil, "3"},
		{`"kind":"numeric","range":[0,10],"missing":"constant","constant":" 7.5"`, map[string]float64{"x": .5}, "7.5"},
		{days + `,"missing":"indicator"`, map[string]float64{"x=missing": 1}, ""},
		{days + `,"missing":"constant","constant":"2020-01-11"`, map[string]float64{"x": 1}, "2020-01-11"},
		{`"kind":"categorical","levels":["a","b","c"],"missing":"level"`, map[string]float64{"x=missing": 1}, ""},
		{`"kind":"categorical","levels":["a","b","c"],"other":"c","missing":"constant","constant":"b"`, map[string]float64{"x=b": 1}, "b"},
		{`"kind":"categorical","levels":["a","b","c"],"missing":"constant","constant":"a"`, map[string]float64{}, "a"},
		{`"kind":"binary","positive":["y"],"negative":["n"],"missing":"indicator"`, map[string]float64{"x=missing": 1}, ""},
		{`"kind":"binary","positive":["y"],"negative":["n"],"missing":"constant","constant":"y"`, map[string]float64{"x=y": 1}, "y"},
		{`"kind":"binary","positive":["y"],"negative":["n"],"missing":"constant","constant":"n"`, map[string]float64{}, "n"},
	} {
		text := `{"version":1,"label":"l","columns":[{"name":"l","kind":"count","cap":1},{"name":"x",` + c.column + `}]}`
		if strings.Contains(c.column, `" 7.5"`) {
			_, err := ParseSchema([]byte(text))
			says(t, "space", err, ErrSchema, `"constant" is " 7.5"`)
			text = strings.Replace(text, `" 7.5"`, `"7.5"`, 1)
		}
		e := encoder(t, text)
		for _, missing := range []string{"", " ", "NA", "null"} {
			got := named(t, e, map[string]string{"x": missing})
			if c.want != nil && !maps.Equal(got, c.want) {
				t.Errorf("%s: %q is %v, want %v", c.column, missing, got, c.want)
			}
			if c.same != "" && !maps.Equal(got, named(t, e, map[string]string{"x": c.same})) {
				t.Errorf("%s: %q is %v, want that of %s", c.column, missing, got, c.same)
			}
		}
	}
}
