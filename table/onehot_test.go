package table

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// wards is a schema with a number, a group of columns and a label.
func wards(group string) string {
	return `{"version":1,"label":"y","columns":[{"name":"y","kind":"binary","positive":["1"],"negative":["0"]},{"name":"age","kind":"numeric","range":[0,100]},
		{"name":"ward",` + group + `}],"interactions":[["age","ward"]]}`
}

// Columns that are encoded one-hot make the features that their levels would as a
// categorical, with the same bound.
func TestOneHotIsACategorical(t *testing.T) {
	categorical := parse(t, wards(`"kind":"categorical","levels":["none","icu","surgery"]`))
	want, err := ReadCSV(strings.NewReader("age,ward,y\n0,icu,1\n50,none,0\n100,surgery,0\n"), categorical)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ group, header, rows string }{
		"all but the reference": {`"kind":"onehot","levels":["icu","surgery"]`, "ward=surgery,age,ward=icu,y", "0,0,1,1\n0,50,0,0\n1,100,0,0\n"},
		"with the reference":    {`"kind":"onehot","levels":["none","icu","surgery"],"reference":"none"`, "ward=icu,ward=none,age,y,ward=surgery", "1,0,0,1,0\n0,1,50,0,0\n0,0,100,0,1\n"},
		"other prefix":          {`"kind":"onehot","prefix":"in_","levels":["icu","surgery"]`, "age,in_icu,in_surgery,y", "0,True,False,1\n50,FALSE,false,0\n100, 0.0 ,1.0,0\n"},
		"no prefix":             {`"kind":"onehot","prefix":"","levels":["icu","surgery"]`, "age,icu,surgery,y", "0,1,0,1\n50,0,0,0\n100,0,1,0\n"},
	} {
		s := parse(t, wards(c.group))
		got, err := ReadCSV(strings.NewReader(c.header+"\n"+c.rows), s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !mat.Equal(got.Matrix(), want.Matrix()) || got.Bound() != want.Bound() || !reflect.DeepEqual(got.Encoder().Features(), want.Encoder().Features()) || got.Warnings() != nil {
			t.Errorf("%s: %v, bound %g, warnings %q", name, mat.Formatted(got.Matrix()), got.Bound(), got.Warnings())
		}
		if inputs := got.Encoder().Inputs(); len(inputs) != strings.Count(c.header, ",") || !strings.Contains(c.header, inputs[1]) {
			t.Errorf("%s: inputs %q", name, inputs)
		}
		if back := parse(t, s.String()); !reflect.DeepEqual(back, s) || !reflect.DeepEqual(s.clone(), s) {
			t.Errorf("%s: %v", name, s)
		}
	}
	if want.Bound() != math.Sqrt(3) {
		t.Errorf("bound %g", want.Bound())
	}
}

// Records have the names of the file's columns.
func TestOneHotRecords(t *testing.T) {
	e, err := NewEncoder(parse(t, wards(`"kind":"onehot","levels":["icu","surgery"]`)))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 5)
	if err := e.Encode(x, map[string]string{"age": "100", "ward=icu": "0", "ward=surgery": "1"}); err != nil || !slices.Equal(x, []float64{1, 0, 1, 0, 1}) {
		t.Error(x, err)
	}
	says(t, "absent", e.Encode(x, map[string]string{"age": "100", "ward=icu": "0"}), ErrColumn, `column "ward=surgery" is not in the record`)
	b, err := e.Bind([]string{"ward=icu", "z", "age", "ward=surgery"})
	if err != nil {
		t.Fatal(err)
	}
	b.At("line", 7)
	if err := b.Encode(x, []string{"1", "", "0", "0"}); err != nil || !slices.Equal(x, []float64{-1, 1, 0, -1, 0}) {
		t.Error(x, err)
	}
	says(t, "two", b.Encode(x, []string{"1", "", "0", "1"}), ErrValue, `line 7, column "ward=surgery"`)
}

// A row that isn't one-hot is an error, with its place and what to do.
func TestRowsThatAreNotOneHot(t *testing.T) {
	s := parse(t, wards(`"kind":"onehot","levels":["icu","surgery"]`))
	for fields, parts := range map[string][]string{
		"1,1":     {`column "ward=surgery": it is 1, and so is column "ward=icu"`, `group "ward" has one level at most`, "binary"},
		"1,0x1p0": {`"0x1p0" is neither 0 nor 1`},
		"1,0.5":   {`column "ward=surgery": "0.5" is neither 0 nor 1`, `group "ward"`, "correct it"},
		"2,0":     {`column "ward=icu": "2" is neither`},
		"-1,0":    {`column "ward=icu": "-1" is neither`},
		"yes,0":   {`column "ward=icu": "yes" is neither`},
		",0":      {`column "ward=icu": the field is empty`, "write 0 or 1"},
		"0,NaN":   {`column "ward=surgery": "NaN" stands for a missing value`},
	} {
		_, err := ReadCSV(strings.NewReader("age,ward=icu,ward=surgery,y\n1,0,0,0\n2,"+fields+",0\n"), s)
		says(t, fields, err, ErrValue, append(parts, "line 3, ")...)
	}
	_, err := ReadCSV(strings.NewReader("age,ward_icu,ward=surgery,y\n1,0,0,0\n"), s)
	says(t, "name", err, ErrColumn, `column "ward=icu" is not in the header (did you mean "ward_icu"?)`)
	more, err := ReadCSV(strings.NewReader("age,ward=icu,ward=surgery,ward=hall,y\n1,0,0,1,0\n9,0,1,0,1\n"), s)
	if want := `columns that the schema doesn't mention are left out: "ward=hall"`; err != nil || !slices.Equal(more.Warnings(), []string{want}) {
		t.Error(more.Warnings(), err)
	}
}

func TestOneHotSchemasThatAreRefused(t *testing.T) {
	for _, c := range []struct{ group, want string }{
		{`"kind":"onehot"`, `"levels" is missing; list the ends of the columns' names`},
		{`"kind":"onehot","levels":["a"]`, `"levels" has one level`},
		{`"kind":"onehot","levels":["a",""]`, `"levels" holds an empty text; leave it out: a row that has its 1 in the column "ward="`},
		{`"kind":"onehot","levels":["a","a"]`, `holds "a" twice`},
		{`"kind":"onehot","levels":["a","b"],"reference":"c"`, `"reference" is "c", which is not one of its levels`},
		{`"kind":"onehot","levels":["a","b"],"other":"b"`, `has "other", which is not for the kind onehot; it may have levels, reference and prefix`},
		{`"kind":"onehot","levels":["a","b"],"missing":"level"`, `has "missing"`},
		{`"kind":"onehot","levels":["a","b"],"prefix":" w="`, `"prefix" is " w="; write it in UTF-8 and without the spaces`},
		{`"kind":"onehot","levels":["a","b"],"prefix":1`, `column "ward": key "prefix" is 1; it must be a text`},
		{`"kind":"onehot","levels":["ge","b"],"prefix":"a"`, `column "age": is described by "age" and by "ward"`},
		{`"kind":"binary","positive":["a"],"negative":["b"],"prefix":"a"`, `has "prefix", which is not for the kind binary`},
		{`"kind":"onehot","levels":["a","b"]},{"name":"w","kind":"onehot","prefix":"ward=","levels":["b","c"]`, `column "ward=b": is described by "ward" and by "w"`},
	} {
		_, err := ParseSchema([]byte(wards(c.group)))
		says(t, c.group, err, ErrSchema, c.want)
	}
	_, err := ParseSchema([]byte(`{"version":1,"label":"ward","columns":[{"name":"ward","kind":"onehot","levels":["a","b"]},{"name":"age","kind":"numeric","range":[0,1]}]}`))
	says(t, "label", err, ErrSchema, `names "ward" of kind onehot; a label must be`)
}
