package table

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Each bad field is an error that names its line, its column, the field and a remedy.
func TestBadFields(t *testing.T) {
	const head = `{"version":1,"label":"y","columns":[{"name":"y","kind":"binary","positive":["yes","Y"],"negative":["no"]},{"name":"x",`
	numeric := head + `"kind":"numeric","range":[0,1000]}]}`
	ward := head + `"kind":"categorical","levels":["surgery","Pädiatrie","day clinic"]}]}`
	sex := head + `"kind":"binary","positive":["female"],"negative":["male"]}]}`
	date := head + `"kind":"date","origin":"2000-01-01","from":"2000-01-01","to":"2030-01-01"}]}`
	label := func(kind string) string {
		return `{"version":1,"label":"x","columns":[{"name":"y","kind":"binary","positive":["yes"],"negative":["no"]},{"name":"x",` + kind + `}]}`
	}
	count := label(`"kind":"count","cap":10`)
	roles := `{"version":1,"label":"y","person":"x","max_rows":1,"columns":[{"name":"y","kind":"count","cap":9},{"name":"x","kind":"id"},{"name":"z","kind":"numeric","range":[0,1]}]}`
	exposure := `{"version":1,"label":"y","exposure":"x","columns":[{"name":"y","kind":"count","cap":9},{"name":"x","kind":"numeric","range":[1,2]},{"name":"z","kind":"numeric","range":[0,1]}]}`
	for _, c := range []struct {
		schema, field string
		parts         []string
	}{
		{numeric, "$12.5", []string{`"$12.5" is not a number; write 12.5`}},
		{numeric, "€ 12", []string{`write 12`}},
		{numeric, "12 %", []string{`write 12`}},
		{numeric, "-12.5kg", []string{`write -12.5`}},
		{numeric, "1,234.50", []string{`"1,234.50"`, `write 1234.50`}},
		{numeric, "1,234", []string{`write 1234, or 1.234 if that is what its comma means`}},
		{numeric, "(1,234.5)", []string{`"(1,234.5)" is not a number; write -1234.5`}},
		{numeric, "($7)", []string{`write -7`}},
		{numeric, "CHF 7.50", []string{`write 7.50`}},
		{numeric, "4544.45-", []string{`"4544.45-" is not a number; write -4544.45`}},
		{numeric, "1,234.5 −", []string{`is not a number; write -1234.5`}},
		{numeric, "12.-", []string{`"12.-" is not a number; write 12`}},
		{numeric, ">90", []string{`">90" is not a number; write one such as 12.5`}},
		{numeric, "#DIV/0!", []string{`"#DIV/0!" is not a number; write one such as 12.5`}},
		{numeric, "12k", []string{`"12k" is not a number; write one such as 12.5`}},
		{numeric, "1.5 Mio.", []string{`"1.5 Mio." is not a number; write one such as 12.5`}},
		{numeric, "A12", []string{`"A12" is not a number; write one such as 12.5`}},
		{numeric, "1_000", []string{`"1_000" is not a number; write 1000`}},
		{numeric, "1_0.5", []string{`"1_0.5" is not a number; write 10.5`}},
		{numeric, "0x1p3", []string{`"0x1p3" is not a number; write one such as 12.5`}},
		{numeric, "-0X2P+1", []string{`is not a number; write one such as 12.5`}},
		{count, "0x1p1", []string{`"0x1p1" is not a number`}},
		{numeric, "ward 12", []string{`"ward 12" is not a number; write one such as 12.5`}},
		{numeric, "1.234,5", []string{`write 1234.5`}},
		{numeric, "1.234.567", []string{`write 1234567`}},
		{numeric, "12,5", []string{`write 12.5`}},
		{numeric, "1 234", []string{`write 1234`}},
		{numeric, "1\u00a0234", []string{`"1\u00a0234"`, `write 1234`}},
		{numeric, "−5", []string{`write -5`}},
		{numeric, "2020-05-31", []string{`"2020-05-31" is a date`, `"date"`}},
		{numeric, "31.12.2020", []string{`is a date`}},
		{numeric, "", []string{"the field is empty", `"indicator" or "constant"`}},
		{numeric, "  ", []string{"the field is empty"}},
		{numeric, "NA", []string{`"NA" stands for a missing value`, `"missing"`}},
		{numeric, "NaN", []string{`"NaN" stands for a missing value`}},
		{numeric, "nAn", []string{`"nAn" is not a finite number`, `"missing"`}},
		{numeric, "inf", []string{`"inf" is not a finite number`}},
		{numeric, "1e400", []string{`"1e400" is larger`, "finite"}},
		{numeric, "-1e400", []string{`"-1e400" is larger`}},
		{numeric, "abc", []string{`"abc" is not a number`, `12.5`, `"categorical"`}},
		{numeric, "12 to 14", []string{`"12 to 14" is not a number`}},
		{numeric, "\xe412", []string{`"\xe412"`, "UTF-8"}},
		{numeric, strings.Repeat("é", 30), []string{"é\"… is not a number"}},
		{ward, "Surgery", []string{`"Surgery" is not one of the column's levels`, `nearest is "surgery" (in another case)`, `"other"`}},
		{ward, "surgery\u00a0\u200b", []string{`"surgery\u00a0\u200b"`, `nearest is "surgery"`}},
		{ward, "P\xe4diatrie", []string{`"P\xe4diatrie"`, `nearest is "Pädiatrie" (in another encoding: save the file as UTF-8)`}},
		{ward, "day-clinic", []string{`nearest is "day clinic" (with other spaces, signs or case)`}},
		{ward, "surgrey", []string{`nearest is "surgery" (with other letters)`}},
		{ward, "Pa\u0308diatrie", []string{`nearest is "Pädiatrie" (with a letter and its accent`, "NFC"}},
		{ward, "urology", []string{`"urology" is not one of the column's levels, "surgery", "Pädiatrie" and "day clinic"`}},
		{ward, "\xff\xfe\xfd\xfc", []string{`"\xff\xfe\xfd\xfc" is not UTF-8`, "save the file as UTF-8"}},
		{ward, "", []string{"empty", `"level" or "constant"`}},
		{sex, "Female", []string{`"Female" is not among`, `nearest is "female"`, `"positive" or "negative"`}},
		{sex, "x", []string{`"female" and "male"`}},
		{date, "31.12.2020", []string{`"31.12.2020" is not a date as the schema's "layouts" write it, "2006-01-02"; add "02.01.2006"`}},
		{date, "2020-02-30", []string{`"2020-02-30" is a date that the calendar doesn't have`}},
		{date, "2020-13-01", []string{`"2020-13-01" is a date that the calendar doesn't have`}},
		{date, "44927", []string{`"44927" is not a date; write one as "2006-01-02"`}},
		{date, "someday", []string{`"someday" is not a date; write one as "2006-01-02"`}},
		{date, "2020-12-31 10:00", []string{`add "2006-01-02 15:04" to them`}},
		{date, "", []string{"empty", `"indicator" or "constant"`}},
		{label(`"kind":"binary","positive":["1"],"negative":["0"]`), "2", []string{`"2" is not among the column's positive or negative texts, "1" and "0"`}},
		{label(`"kind":"binary","positive":["ill"],"negative":["well"]`), "Ill", []string{`nearest is "ill"`}},
		{label(`"kind":"binary","positive":["ill"],"negative":["well"]`), "NA", []string{`a label is missing: "NA"`}},
		{label(`"kind":"binary","above":5`), "high", []string{`"high" is not a number`, `"positive" and "negative"`}},
		{label(`"kind":"numeric","range":[0,1]`), "high", []string{`"high" is not a number`}},
		{label(`"kind":"numeric","range":[0,1]`), "", []string{`a label is missing`, "empty"}},
		{count, "2.5", []string{`"2.5" is not a count`, `"numeric"`}},
		{count, "-3", []string{`"-3" is not a count`}},
		{count, "10.5", []string{`"10.5" is not a count`}},
		{count, "three", []string{`"three" is not a number`}},
		{roles, "", []string{"a person is missing"}},
		{roles, "null", []string{`a person is missing: "null"`}},
		{exposure, "", []string{"an exposure is missing"}},
		{exposure, "long", []string{`"long" is not a number`}},
	} {
		good := map[string]string{numeric: "3", ward: "surgery", sex: "male", date: "2000-01-01", roles: "p1", exposure: "1"}[c.schema]
		first := "no"
		if c.schema == roles || c.schema == exposure {
			first = "3"
		}
		text := "x;y;z\n"
		if good != "" {
			text += fmt.Sprintf("%s;%s;0\n\n", good, first) // a good line, and an empty one
		}
		line := strings.Count(text, "\n") + 1
		text += fmt.Sprintf("\"%s\";%s;0\n", c.field, first)
		_, err := ReadCSV(strings.NewReader(text), parse(t, c.schema))
		says(t, c.field, err, ErrValue, append(c.parts, fmt.Sprintf(`line %d, column "x": `, line))...)
		var e *Error
		if !errors.As(err, &e) || e.Column != "x" || e.Number != line || e.Unit != "line" {
			t.Errorf("%q: %+v", c.field, e)
		}
	}
}

const small = `{"version":1,"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,10]},{"name":"y","kind":"binary","positive":["yes"],"negative":["no"]}]}`

// What isn't a CSV with the schema's columns says what it is and what to do.
func TestBadCSV(t *testing.T) {
	s := parse(t, small)
	for _, c := range []struct {
		name, text string
		kind       error
		parts      []string
	}{
		{"empty", "", ErrFile, []string{"empty", "header"}},
		{"mark only", "\ufeff", ErrFile, []string{"empty"}},
		{"blank lines", "\n\r\n\n", ErrFile, []string{"empty"}},
		{"no row", "a,y\n", ErrFile, []string{"no row after the header"}},
		{"UTF-16 with a mark", "\xff\xfea\x00,\x00y\x00\n\x00", ErrFile, []string{"UTF-16", "iconv"}},
		{"UTF-16 without", "a\x00,\x00y\x00\n\x001\x00", ErrFile, []string{"UTF-16"}},
		{"big-endian", "\xfe\xff\x00a\x00,", ErrFile, []string{"UTF-16"}},
		{"stored rows", "dpglmrow\x01\x00\x00\x00", ErrFile, []string{"it is a file of rows", "only fits read", "made of"}},
		{"Parquet", "PAR1\x15\x04\x15\x00", ErrFile, []string{"Parquet", "export the table as CSV", "table/columnar"}},
		{"Arrow", "ARROW1\x00\x00", ErrFile, []string{"Arrow file", "export the table as CSV", "table/columnar"}},
		{"Arrow's stream", "\xff\xff\xff\xff\x10\x00", ErrFile, []string{"Arrow stream", "CSV"}},
		{"SQLite", "SQLite format 3\x00\x10\x00", ErrFile, []string{"SQLite", "ReadSQL"}},
		{"carriage returns", "a,y\r1,yes\r2,no\r", ErrFile, []string{"bare carriage returns", "tr "}},
		{"gzip", "\x1f\x8b\x08", ErrFile, []string{"gzip", ".gz"}},
		{"spreadsheet", "PK\x03\x04aaaa", ErrFile, []string{"spreadsheet", "export"}},
		{"name twice", "a,y,a\n1,yes,2\n", ErrColumn, []string{`columns 1 and 3`, `"a"`}},
		{"no name", ",a,y\n1,2,yes\n", ErrColumn, []string{"column 1 of the header has no name"}},
		{"no header", "1,2\n3,4\n", ErrColumn, []string{"numbers only", `"1" and "2"`}},
		{"header not UTF-8", "a,y,\xe4\n1,yes,2\n", ErrColumn, []string{"column 3", `"\xe4"`, "UTF-8"}},
		{"column not there", "A,y\n1,yes\n", ErrColumn, []string{`column "a" is not in the header`, `did you mean "A"?`, `"A" and "y"; add it, or correct its name`}},
		{"label not there", "a,z\n1,yes\n", ErrColumn, []string{`column "y" is not in the header`, `"a" and "z"`}},
		{"two delimiters", "a;y,z\n1,yes\n", ErrFile, []string{"line 1", `','`, `';'`, "in quotes"}},
		{"a comment", "# by X\na,y\n1,yes\n", ErrColumn, []string{`column "a" is not in the header`, "the first line must be the header"}},
		{"a spreadsheet's hint", "sep=,\na,y\n1,yes\n", ErrColumn, []string{"column 2 of the header has no name", "the first line must be the header"}},
		{"JSON", "[{\"a\": 1}]\n", ErrFile, []string{"JSON", "CSV"}},
		{"HTML", " <!DOCTYPE html>\n", ErrFile, []string{"HTML", "CSV"}},
		{"a row for a header", "1,x,x\n2,y,z\n", ErrColumn, []string{"columns 2 and 3", "the first line must be the header"}},
		{"another row for a header", "1,x\n2,y\n", ErrColumn, []string{`column "a" is not in the header`, "the first line must be the header"}},
		{"too few", "a,y\n1,yes\n2\n", ErrFile, []string{"line 3", "1 fields where the header has 2"}},
		{"too many", "a,y\n1,yes\n1,234,no\n", ErrFile, []string{"line 3", "3 fields", "in quotes"}},
		{"bare quote", "a,y\n1,yes\n2,n\"o\n", ErrFile, []string{"line 3", "quote", "double"}},
		{"quote in quotes", "a,y\n1,yes\n2,\"n\"o\"\n", ErrFile, []string{"line 3", "quote", "double"}},
		{"open quote", "a,y\n1,\"yes\n2,no\n3,no\n", ErrFile, []string{"line 2", "not closed by line 4"}},
	} {
		_, err := ReadCSV(strings.NewReader(c.text), s)
		says(t, c.name, err, c.kind, c.parts...)
	}
	for _, delimiter := range []rune{'\n', '"', 0xFFFD, -1} {
		_, err := NewCSV(strings.NewReader("a,y\n1,yes\n"), delimiter)
		says(t, string(delimiter), err, ErrFile, "delimiter")
	}
	_, err := NewCSV(strings.NewReader("a;y\n1;yes\n"), ',')
	says(t, "semicolons", err, ErrFile, `the header is one field, "a;y"`, `seems to be ';', not ','`)
	_, err = ReadCSV(strings.NewReader("a,y\n1,yes\n"), Schema{})
	says(t, "schema", err, ErrSchema, `"columns"`)
	broken := errors.New("broken")
	if _, err := ReadCSV(io.MultiReader(strings.NewReader("a,y\n1,yes\n"), failing{broken}), s); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// The same two rows, however the file is written.
func TestGoodCSV(t *testing.T) {
	s := parse(t, small)
	for name, text := range map[string]string{
		"plain":              "a,y\n1,yes\n2,no\n",
		"other order":        "y,a\nyes,1\nno,2",
		"CRLF":               "a,y\r\n1,yes\r\n2,no\r\n",
		"mark":               "\ufeffa,y\n1,yes\n2,no\n",
		"mark and quotes":    "\ufeff\"a\",\"y\"\n\"1\",\"yes\"\n2,no\n",
		"semicolons":         "a;y\n1;yes\n2;no\n",
		"tabs":               "a\ty\n1\tyes\n2\tno\n",
		"bars":               "a|y\n1|yes\n2|no\n",
		"spaces":             "a , y\n 1, yes \n2 ,no\t\n",
		"quoted newlines":    "a,y,note\n1,yes,\"one\ntwo, three\"\n2,no,\"\"\"\"\n",
		"delimiter in names": "a;\"b, c, d\";y\n1;;yes\n2;;no\n",
		"newline in names":   "\"b\nc\";a;y\n;1;yes\n;2;no\n",
		"empty lines":        "\na,y\n\n1,yes\n\n2,no\n\n",
		"numbers in style":   "a,y\n+1.0e0,yes\n.2E1,no\n",
	} {
		table, err := ReadCSV(strings.NewReader(text), s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := table.Dense().RawMatrix().Data; !slices.Equal(got, []float64{-.8, -.6}) || !slices.Equal(table.Labels(), []float64{1, 0}) {
			t.Errorf("%s: %v, %v", name, got, table.Labels())
		}
	}
	c, err := NewCSV(strings.NewReader("a·y\n1·yes\n2·no\n"), '·')
	if err != nil {
		t.Fatal(err)
	}
	if table, err := Read(c, s); err != nil || !slices.Equal(table.Labels(), []float64{1, 0}) {
		t.Error(table, err)
	}
}

// The line of an error is the file's, however many records and lines came before.
func TestPlaceIsTheFilesLine(t *testing.T) {
	for _, rows := range []int{0, 1, batchRows - 1, batchRows, 5 * batchRows} {
		text := "a,y,note\n" + strings.Repeat("1,yes,\"two\nlines\"\n", rows) + "1,maybe,\n"
		_, err := ReadCSV(strings.NewReader(text+strings.Repeat("1,no,\n", 20*batchRows)), parse(t, small))
		says(t, "late", err, ErrValue, fmt.Sprintf(`line %d, column "y": "maybe"`, 2+2*rows))
		_, err = ReadCSV(strings.NewReader(text+"1\n"), parse(t, small))
		says(t, "the first of two", err, ErrValue, `"maybe"`)
	}
}

// Labels, persons and exposures are read as the schema says.
func TestRoles(t *testing.T) {
	s := parse(t, `{"version":1,"label":"n","person":"who","max_rows":2,"exposure":"years","columns":[{"name":"who","kind":"id"},
		{"name":"years","kind":"numeric","range":[0.5,10]},{"name":"n","kind":"count","cap":3},{"name":"x","kind":"numeric","range":[0,1]}]}`)
	const text = "n,who,years,x\n0,b,1,0\n2, a ,0.25,1\n7,b,20,0.5\n1,c,1,1\n"
	table, err := ReadCSV(strings.NewReader(text), s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Labels(), []float64{0, 2, 3, 1}) || !slices.Equal(table.Persons(), []int{0, 1, 0, 2}) || table.PersonCount() != 3 || !slices.Equal(table.Exposure(), []float64{1, .5, 10, 1}) {
		t.Error(table.Labels(), table.Persons(), table.Exposure())
	}
	if want := (Label{Column: "n", Kind: Count, Range: [2]float64{0, 3}}); !reflect.DeepEqual(table.Label(), want) || !reflect.DeepEqual(table.Encoder().Label(), want) {
		t.Error(table.Label())
	}
	want := []string{`column "n": 1 of 4 values lie outside the range [0, 3] and were clamped to it, first "7" in line 4` + harmless, `column "years": 2 of 4 values lie outside the range [0.5, 10] and were clamped to it, first "0.25" in line 3` + harmless}
	if !slices.Equal(table.Warnings(), want) {
		t.Error(table.Warnings())
	}
	for _, name := range []string{"who", "years", "n"} {
		_, err := ReadCSV(strings.NewReader(strings.Replace(text, name, name+"?", 1)), s)
		says(t, name, err, ErrColumn, fmt.Sprintf("column %q is not in the header (did you mean %q?)", name, name+"?"))
	}
	c, err := NewCSV(strings.NewReader("x\n0\n1\n"), ',')
	if err != nil {
		t.Fatal(err)
	}
	features, err := ReadFeatures(c, s)
	if err != nil || features.Labels() != nil || features.Persons() != nil || features.Exposure() != nil || !slices.Equal(features.Dense().RawMatrix().Data, []float64{-1, 1}) {
		t.Error(features, err)
	}
}

// harmless ends the warnings of clamped values.
const harmless = " (if unexpected: a code of missing values, another unit, swapped columns?)"

func TestNumericLabels(t *testing.T) {
	s := parse(t, `{"version":1,"label":"y","columns":[{"name":"y","kind":"numeric","range":[-1,5]},{"name":"x","kind":"numeric","range":[0,1]}]}`)
	table, err := ReadCSV(strings.NewReader("x,y\n0,-0.5\n0,9\n"), s)
	if err != nil || !slices.Equal(table.Labels(), []float64{-.5, 5}) || !reflect.DeepEqual(table.Label(), Label{Column: "y", Kind: Numeric, Range: [2]float64{-1, 5}}) {
		t.Error(table.Labels(), err)
	}
}

// The curator is told of what is odd.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "a,y\n1,yes\n2,no\n", nil},
		{"no positive", "a,y\n1,no\n2,no\n", []string{`label "y": no row is positive ("yes"); a model of these rows learns nothing`}},
		{"no negative", "a,y\n1,yes\n", []string{`label "y": no row is negative ("no"); a model of these rows learns nothing`}},
		{"clamped", "a,y\n-1,yes\n2,no\n11,no\n", []string{`column "a": 2 of 3 values lie outside the range [0, 10] and were clamped to it, first "-1" in line 2` + harmless}},
		{"left out", "a,y,b,c\n1,yes,,\n2,no,,\n", []string{`columns that the schema doesn't mention are left out: "b" and "c"`}},
	} {
		table, err := ReadCSV(strings.NewReader(c.text), parse(t, small))
		if err != nil || !slices.Equal(table.Warnings(), c.want) {
			t.Errorf("%s: %q, %v", c.name, table.Warnings(), err)
		}
	}
}

// A text that becomes the other level for a matter of spelling is no surprise, unless
// it isn't even text.
func TestOtherLevelsThatAreNear(t *testing.T) {
	s := parse(t, `{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":1},{"name":"w","kind":"categorical","levels":["surgery","day clinic","rest"],"other":"rest"}]}`)
	table, err := ReadCSV(strings.NewReader("w,y\nSurgery,0\nday-clinic,0\nurology,1\nsurgeri,0\nSurgery,1\n"), s)
	want := []string{`column "w": "Surgery" is not listed and reads as "rest", though it is "surgery" in another case`,
		`column "w": "day-clinic" is not listed and reads as "rest", though it is "day clinic" with other spaces, signs or case`}
	if err != nil || !slices.Equal(table.Warnings(), want) {
		t.Errorf("%q, %v", table.Warnings(), err)
	}
	_, err = ReadCSV(strings.NewReader("w,y\nsurg\xe9ry,0\n"), s)
	says(t, "encoding", err, ErrValue, `line 2, column "w"`, `"surg\xe9ry"`)
	var text strings.Builder
	text.WriteString("w,y\n")
	for i := range 5 * maxOthers {
		fmt.Fprintf(&text, "SURGERY%s,1\n", strings.Repeat("!", i))
	}
	table, err = ReadCSV(strings.NewReader(text.String()), s)
	if err != nil || len(table.Warnings()) != maxOthers {
		t.Errorf("%d warnings, %v", len(table.Warnings()), err)
	}
}

// What fmt prints of a table is its shape. A point tells values from addresses.
func TestTablesPrintTheirShape(t *testing.T) {
	s := parse(t, small)
	table, err := ReadCSV(strings.NewReader("a,y\n7.253125,yes\n7.253125,no\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ReadLIBSVM(strings.NewReader("1 7:0.253125\n"), libsvm)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for value, want := range map[any]string{table: "table.Table of 2 rows × 1 features", rows: "table.Table of 1 rows × 9 features", rows.Sparse(): "table.CSR of 1 rows × 9 columns"} {
			if got := fmt.Sprintf(verb, value); got != want {
				t.Errorf("%s: %s", verb, got)
			}
		}
		if got := fmt.Sprintf(verb, struct{ t, u *Table }{table, rows}); strings.Contains(got, ".253125") {
			t.Errorf("%s inside a struct: %s", verb, got)
		}
	}
	if table.GoString() != table.String() {
		t.Error(table.GoString())
	}
}

// A large file's rows are allocated once they can be foreseen, not grown for ever.
func TestLargeFilesAreAllocatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.csv")
	const rows = 5 * guessFrom / 4
	if err := os.WriteFile(path, []byte("a,y\n"+strings.Repeat("4.25,yes\n", rows-1)+"1,no\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := ReadCSVFile(path, parse(t, small))
	if err != nil {
		t.Fatal(err)
	}
	data := table.Dense().RawMatrix().Data
	if n, _ := table.Dims(); n != rows || len(data) != rows || cap(data) > rows*11/10 || cap(table.Labels()) > rows*11/10 {
		t.Errorf("%d rows: room for %d rows and %d labels", n, cap(data), cap(table.Labels()))
	}
	if table.Labels()[rows-1] != 0 || table.Labels()[rows-2] != 1 {
		t.Error("the last labels are wrong")
	}
}

// A guess that is far off allocates no more than a few times what is there.
func TestGuessesAreLimited(t *testing.T) {
	s := newStore(1, 1, func(int) int { return math.MaxInt })
	for range guessFrom + 1<<16 {
		s.add([]int{0}, []float64{1})
	}
	if c := cap(s.values); c < 8*s.rows || c > 2*maxGrowth*s.rows {
		t.Errorf("room for %d rows of %d", c, s.rows)
	}
}

// Rows are kept in whichever form takes less memory when all their entries are there.
func TestTheSmallerForm(t *testing.T) {
	for _, c := range []struct {
		columns, entries int
		sparse           bool
	}{{1, 1, false}, {5, 2, false}, {6, 2, true}, {30, 14, true}, {30, 15, false}} {
		if s := newStore(c.columns, c.entries, nil); s.sparse != c.sparse {
			t.Errorf("%d of %d columns: sparse is %t", c.entries, c.columns, s.sparse)
		}
	}
}

// All columns with bad fields are named at once, each with the first of them, and what else
// is wrong with the file.
func TestAllProblemsAtOnce(t *testing.T) {
	s := parse(t, `{"version":1,"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,10]},{"name":"b","kind":"binary","positive":["yes"],"negative":["no"]},
		{"name":"y","kind":"binary","positive":["1"],"negative":["0"]}]}`)
	_, err := ReadCSV(strings.NewReader("a,b,y\n1,yes,1\nx,maybe,1\n2,no,?\n-,no,0\n.,no,0\n3,Yes,0\n4\n"), s)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for i, want := range [][2]string{
		{`line 3, column "a": "x"`, "(3 of the first 6 rows have an error in this column)"},
		{`line 3, column "b": "maybe"`, `(2 of the first 6 rows have an error in this column; not listed are "Yes", "maybe", in 1 and 1 rows: list those that are publicly known to occur)`},
		{`line 4, column "y": "?"`, `"negative"`},
		{"line 8: it has 1 fields", ""},
	} {
		if len(lines) != 4 || !strings.HasPrefix(lines[i], want[0]) || !strings.HasSuffix(lines[i], want[1]) {
			t.Errorf("%q lacks %q", lines, want)
		}
	}
	var e *Error
	if !errors.As(err, &e) || e.Number != 3 || e.Column != "a" || !errors.Is(err, ErrValue) || !errors.Is(err, ErrFile) {
		t.Errorf("%+v", e)
	}
	_, err = ReadCSV(strings.NewReader("a,b,y\n"+strings.Repeat("x,yes,1\n", 2000)+"1,2,3\n"), s)
	if want := fmt.Sprintf("(%d of the first %d rows have an error in this column)", maxProblems, maxProblems); err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %s", err, want)
	}
}

// Errors count the rows of their own column, whatever else is wrong with these, and show the
// texts of a column that aren't listed as a schema has them, the most frequent first.
func TestProblemsAreCounted(t *testing.T) {
	s := parse(t, `{"version":1,"label":"y","columns":[{"name":"a","kind":"numeric","range":[0,10000]},{"name":"town","kind":"categorical","levels":["york","hull"]},
		{"name":"y","kind":"binary","positive":["1"],"negative":["0"]}]}`)
	var b strings.Builder
	b.WriteString("a,town,y\n")
	for i := range 30 {
		town := fmt.Sprintf("\"to\"\"wn %d\"", i/3)
		if i >= 27 {
			town = "york"
		}
		fmt.Fprintf(&b, "%s,%s,%d\n", []string{"\"1,893.06\"", "12", "x"}[i%3], town, i%2+i/20)
	}
	b.WriteString("1,leeds,0\n1,leeds,0\n1,leeds,0\n1,leeds,0\n")
	_, err := ReadCSV(strings.NewReader(b.String()), s)
	if err == nil {
		t.Fatal("no error")
	}
	for i, want := range [][2]string{
		{`line 2, column "a"`, "(20 of 34 rows have an error in this column; 10 are numbers with separators of thousands)"},
		{`line 2, column "town"`, `(31 of 34 rows have an error in this column; not listed are "leeds", "to\"wn 0", "to\"wn 1", "to\"wn 2", "to\"wn 3", "to\"wn 4", "to\"wn 5", "to\"wn 6", and 2 more, in 4, 3, 3, 3, 3, 3, 3 and 3 rows: list those that are publicly known to occur)`},
		{`line 23, column "y"`, "(5 of 34 rows have an error in this column)"},
	} {
		if lines := strings.Split(err.Error(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[i], want[0]) || !strings.HasSuffix(lines[i], want[1]) {
			t.Errorf("%s\nlacks %q", err, want)
		}
	}
}

// Only groups of three digits after one of up to three are thousands.
func TestThousands(t *testing.T) {
	for text, want := range map[string]string{
		"1,893.06": "1893.06", "-12,345,678": "-12345678", "+1,000": "+1000", "1,893.": "1893.", "999": "999",
		"0,125": "0,125", "1,89": "1,89", "1234,567": "1234,567", "1,234,56": "1,234,56", ",123": ",123", "1,,234": "1,,234", "1,234.5,6": "1,234.5,6", "1,234e3": "1,234e3", "1,2a4": "1,2a4", "1'000": "1'000", "": "",
	} {
		if got := withoutThousands(text, ",", "."); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// Columns may be named as other formats begin.
func TestColumnsNamedAsFormats(t *testing.T) {
	for _, name := range []string{"PAR1", "ARROW1", "dpglmrow"} {
		s := parse(t, `{"version": 1, "label": "y", "columns": [{"name": "`+name+`", "kind": "numeric", "range": [0, 10]}, {"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]}]}`)
		if _, err := ReadCSV(strings.NewReader(name+",y\n1,0\n2,1\n"), s); err != nil {
			t.Error(err)
		}
	}
}

// The curator is told of rows beyond "max_rows", which are left out without a word later: of times at risk, of episodes.
func TestRowsBeyondMaxRows(t *testing.T) {
	visits := `{"version":1,"label":"y","person":"who","max_rows":2,"columns":[{"name":"who","kind":"id"},{"name":"x","kind":"numeric","range":[0,9]},{"name":"y","kind":"count","cap":3}]}`
	stays := strings.Replace(strings.Replace(cohort, `"columns": [`, `"person": "who", "max_rows": 1, "columns": [{"name": "who", "kind": "id"},`, 1), "[0, 1, 2, 5]", "[0, 1, 2]", 1)
	for _, c := range []struct{ schema, text, want string }{
		{visits, "who,x,y\na,1,1\nb,1,1\na,1,1\nb,1,0\n", ""},
		{visits, "who,x,y\na,1,1\nb,1,1\na,1,1\na,1,1\na,1,0\nc,1,0\n", `1 of 3 persons have more rows than "max_rows", 2: of 6 rows 2, drawn at random, don't count in a fit`},
		{stays, "who,entry,exit,age,died\na,0,2,50,no\nb,0,1,50,yes\nb,0,1,50,yes\n", ""},
		{stays, "who,entry,exit,age,died\na,0,2,50,no\na,0,2,51,no\nb,0,1,50,yes\n", `1 of 2 persons have more rows than "max_rows", 1, times the periods, 2: of 5 rows 2, drawn at random, don't count in a fit, and events and times at risk`},
	} {
		got, err := ReadCSV(strings.NewReader(c.text), parse(t, c.schema))
		if err != nil {
			t.Fatal(err)
		}
		if w := strings.Join(got.Warnings(), "\n"); !strings.Contains(w, c.want) || c.want == "" && w != "" {
			t.Errorf("%q: %q", c.text, w)
		}
	}
}
