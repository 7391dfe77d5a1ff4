package table

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// european is a schema of numbers with decimal commas.
func european(t *testing.T, more string) Schema {
	t.Helper()
	thousands := ""
	if strings.Contains(more, "decimal") {
		thousands = `, "thousands": "."`
	}
	s, err := ParseSchema([]byte(`{"version": 1, "label": "paid", ` + more + `"columns": [
		{"name": "size", "kind": "numeric", "range": [0, 10]` + thousands + `},
		{"name": "town", "kind": "categorical", "levels": ["Köln", "Łódź", "Zürich"]},
		{"name": "paid", "kind": "numeric", "range": [0, 10000]` + thousands + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stored(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Decimal commas with points between thousands, and semicolons; what is written the other way is an error.
func TestDecimalComma(t *testing.T) {
	s := european(t, `"decimal": ",", `)
	got, err := ReadCSV(strings.NewReader("size;town;paid\n2,5;Köln;1.234,5\n10;Zürich;-0,25\n1e1;Köln;7\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Labels(), []float64{1234.5, 0, 7}) || got.Matrix().At(0, 0) != -0.5 || got.Matrix().At(1, 0) != 1 {
		t.Errorf("labels %v, first feature %v, %v", got.Labels(), got.Matrix().At(0, 0), got.Matrix().At(1, 0))
	}
	for text, want := range map[string]string{"2.5": `write 2,5`, "1,2,3": "is not a number", "1.23,5": "is not a number"} {
		_, err := ReadCSV(strings.NewReader("size;town;paid\n\""+text+"\";Köln;1\n"), s)
		if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	plain := parse(t, strings.ReplaceAll(s.String(), `, "thousands": "."`, ""))
	if _, err := ReadCSV(strings.NewReader("size;town;paid\n1.234,5;Köln;1\n"), plain); err == nil || !strings.Contains(err.Error(), `write 1234,5, or declare the separator of all of them: "thousands": "."`) {
		t.Errorf("without thousands: %v", err)
	}
	if _, err := ReadCSV(strings.NewReader("size;town;paid\n2,5;Köln;1\n"), european(t, "")); err == nil || !strings.Contains(err.Error(), `"decimal": ","`) {
		t.Errorf("without it: %v", err)
	}
	if again, err := ParseSchema([]byte(s.String())); err != nil || again.String() != s.String() {
		t.Errorf("%v: %s", err, s)
	}
}

// Bytes of Windows-1252 are its characters, wherever a buffer ends.
func TestEncoding(t *testing.T) {
	s := european(t, `"encoding": "windows-1252", `)
	text := "size,town,paid\n" + strings.Repeat("1,K\xf6ln,2\n", 20_000) + "2,Z\xfcrich,3\n"
	got, err := ReadCSV(strings.NewReader(text), s)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := got.Dims(); n != 20_001 || got.Matrix().At(n-1, 2) != 1 {
		t.Errorf("%d rows, the last %v", n, got.Matrix().At(n-1, 2))
	}
	for text, valid := range map[string]bool{"size,town,paid\n1,Köln,2\n": false, "size,town,paid\n" + strings.Repeat("1,Köln,2\n", 40_000): false,
		"\ufeffsize,town,paid\n1,Köln,2\n": true, "size,town,paid\n1,Köln,2\n2,Z\xfcrich,3\n": true} {
		_, err := ReadCSV(strings.NewReader(text), s)
		if says := err != nil && strings.Contains(err.Error(), `it is UTF-8, and the schema's "encoding" is windows-1252: leave that out or, where it is a model's, save the file as it (iconv -f UTF-8 -t windows-1252)`); says == valid || says && !errors.Is(err, ErrFile) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	f, err := decoded(bufio.NewReader(strings.NewReader("\x80\x9f\xe9a")), windows)
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	buffer := make([]byte, 3)
	for {
		n, err := f.Read(buffer)
		if all = append(all, buffer[:n]...); err != nil {
			break
		}
	}
	if string(all) != "€Ÿéa" || !utf8.Valid(all) {
		t.Errorf("decoded %q", all)
	}
}

// A file that is named in two ways is one.
func TestFilesAreNamedOnce(t *testing.T) {
	dir := t.TempDir()
	a := stored(t, dir, "a.csv", "y,x\n1,2\n")
	stored(t, dir, "b.csv", "y,x\n1,2\n")
	if err := os.Symlink(a, filepath.Join(dir, "c.csv")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	t.Chdir(dir)
	for path, taken := range map[string]bool{"a.csv,b.csv": true, "[ab].csv": true, "a.csv,./a.csv": false, "a.csv,../" + filepath.Base(dir) + "/a.csv": false,
		a + ",a.csv": false, "*.csv": false, "b.csv,c.csv": true, "none.csv,missing.csv": true, "none.csv,none.csv": false} {
		if list, err := Files(path); (err == nil) != taken || err != nil && !errors.Is(err, ErrFile) {
			t.Errorf("%s: %q, %v", path, list, err)
		}
	}
}

// A file beside itself compressed is very likely the same rows twice, listed or by a pattern; of other names, or in other directories, nobody knows.
func TestFilesBesideThemselvesCompressed(t *testing.T) {
	dir := t.TempDir()
	stored(t, dir, "x.csv", "y,x\n1,2\n")
	stored(t, dir, "x.csv.gz", "")
	stored(t, dir, "y.csv.gz", "")
	t.Chdir(dir)
	for path, taken := range map[string]bool{"x.csv,y.csv.gz": true, "y*": true, "x.csv": true, "x.csv.gz,y.csv.gz": true, "../x.csv,x.csv.gz": true,
		"x.csv,x.csv.gz": false, "./x.csv.gz,x.csv": false, "x*": false, "*.csv*": false} {
		list, err := Files(path)
		if (err == nil) != taken || err != nil && (!errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "x.csv and ") && !strings.Contains(err.Error(), "x.csv.gz and ")) {
			t.Errorf("%s: %q, %v", path, list, err)
		}
	}
}

// Files are read one after the other, those of a pattern by name, and have one header.
func TestSeveralFiles(t *testing.T) {
	dir, s := t.TempDir(), european(t, "")
	a := stored(t, dir, "a.csv", "size,town,paid\n1,Köln,1\n2,Köln,2\n")
	b := stored(t, dir, "b.csv", "size;town;paid\n3;Zürich;3\n")
	for path, want := range map[string][]float64{filepath.Join(dir, "*.csv"): {1, 2, 3}, b + ", " + a: {3, 1, 2}, a: {1, 2}} {
		got, err := ReadCSVFile(path, s)
		if err != nil || !slices.Equal(got.Labels(), want) {
			t.Errorf("%s: %v (%v), want %v", path, got.Labels(), err, want)
		}
	}
	stored(t, dir, "c.csv", "town,size,paid\nKöln,1,1\n")
	stored(t, dir, "d,e.csv", "size,town,paid\n4,Köln,4\n")
	fewer, further := stored(t, dir, "fewer.csv", "size,paid\n1,1\n"), stored(t, dir, "further.csv", "size,town,paid,age\n1,Köln,1,1\n")
	other := stored(t, dir, "other.csv", "size,Town,paid\n1,Köln,1\n")
	bad := stored(t, dir, "x.csv", "size,town,paid\n4,Rome,4\n")
	quote := stored(t, dir, "y.csv", "size,town,paid\n4,K\"öln,4\n")
	for path, want := range map[string]string{
		filepath.Join(dir, "[bc].csv"):    `has "town" as column 1, and not "size", unlike that of the file before it; files that are read together have the same columns`,
		a + "," + fewer:                   `fewer.csv lacks "town" of that of the file before`,
		a + "," + further:                 `further.csv has "age" beside that of the file before`,
		a + "," + other:                   `other.csv lacks "town" and has "Town", unlike that of the file before`,
		filepath.Join(dir, "none*.csv"):   "no such file",
		a + "," + a:                       "the same file",
		a + ",":                           a + ",: a name is missing beside a comma",
		"," + a:                           "a name is missing",
		a + ",," + b:                      "a name is missing",
		"-," + a:                          `"-" is standard input, which isn't read beside other files`,
		a + ", -":                         "isn't read beside other files",
		"-,-":                             "isn't read beside other files, nor twice",
		a + "," + filepath.Join(dir, "z"): "no such file",
		a + "," + bad:                     "x.csv, line 2",
		bad + "," + a:                     "x.csv, line 2",
		a + "," + quote:                   "y.csv: " + quote + ": line 2",
		quote + "," + a:                   "a.csv: " + quote + ": line 2",
		filepath.Join(dir, "[.csv"):       "syntax error",
	} {
		if _, err := ReadCSVFile(path, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if got, err := ReadCSVFile(filepath.Join(dir, "d,e.csv"), s); err != nil || got.Labels()[0] != 4 {
		t.Errorf("a name with a comma: %v", err)
	}
}

// How much was read is asked while files change.
func TestManyFilesAtOnce(t *testing.T) {
	dir, s := t.TempDir(), european(t, "")
	for i := range 40 {
		stored(t, dir, "f"+strconv.Itoa(i)+".csv", "size,town,paid\n"+strings.Repeat("1,Köln,1\n", 100))
	}
	c, err := OpenCSVAs(filepath.Join(dir, "*.csv"), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			c.expected(10)
		}
	}()
	for n := 0; ; n++ {
		if _, err := c.Next(); err != nil {
			if n != 4000 {
				t.Errorf("%d records (%v)", n, err)
			}
			break
		}
	}
	<-done
}

// Records that don't fulfil all conditions aren't there in training: their fields aren't even looked at; predictions are for all.
func TestWhere(t *testing.T) {
	s := european(t, `"where": [{"column": "age", "from": 18, "to": 65}, {"column": "town", "in": ["Köln", "Zürich"]}], `)
	text := "size,town,paid,age\n1,Köln,1,18\n2,Köln,2,17.9\nmany,nowhere,?,80\n3,Zürich,3,65\n4,Łódź,4,40\n5,Köln,5,\n"
	got, err := ReadCSV(strings.NewReader(text), s)
	if err != nil || !slices.Equal(got.Labels(), []float64{1, 3}) {
		t.Fatalf("%v (%v)", got.Labels(), err)
	}
	if w := strings.Join(got.Warnings(), "\n"); !strings.Contains(w, `4 records don't fulfil`) {
		t.Errorf("warnings: %s", w)
	}
	src, err := NewCSV(strings.NewReader("size,town\n1,Köln\n2,Łódź\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := ReadFeatures(src, s); err != nil {
		t.Error(err)
	} else if n, _ := all.Dims(); n != 2 {
		t.Errorf("%d records to predict for", n)
	}
	if _, err := ReadCSV(strings.NewReader("size,town,paid\n1,Köln,1\n"), s); !errors.Is(err, ErrColumn) {
		t.Errorf("without the column: %v", err)
	}
	if _, err := ReadCSV(strings.NewReader("size,town,paid,age\n1,Köln,1,2\n"), s); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "where") {
		t.Errorf("no record fulfils it: %v", err)
	}
	header := []string{"size", "age", "town"}
	present, err := s.Present(header)
	if err != nil || !present([]string{"", "18", "Köln"}) || present([]string{"", "17.9", "Köln"}) || present([]string{"", "40", "Łódź"}) || present([]string{"", "40"}) {
		t.Errorf("other records are present (%v)", err)
	}
	if _, err := s.Present(header[1:2]); !errors.Is(err, ErrColumn) {
		t.Errorf("without a condition's column: %v", err)
	}
	if _, err := (Schema{}).Present(header); !errors.Is(err, ErrSchema) {
		t.Errorf("of no schema: %v", err)
	}
	for _, bad := range []string{`{"column": "age"}`, `{"from": 1}`, `{"column": "age", "from": 2, "to": 1}`, `{"column": "age", "from": 2, "in": ["1"]}`, `{"column": "age", "in": []}`, `{"column": "age", "under": 3}`} {
		text := strings.Replace(s.String(), `[{"column": "age", "from": 18, "to": 65}`, `[`+bad, 1)
		if _, err := ParseSchema([]byte(text)); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A condition on a date is one on days after its origin, however the file writes them, and one on texts is as its column reads letters.
func TestWhereOfDatesAndLetters(t *testing.T) {
	const text = `{"version":1,"label":"y","where":[%],"columns":[{"name":"d","kind":"date","origin":"2020-01-01","from":"2000-01-01","to":"2030-01-01","layouts":["02.01.2006"]},
		{"name":"g","kind":"categorical","levels":["north","south"],"fold_case":true},{"name":"h","kind":"categorical","levels":["a","A"]},{"name":"y","kind":"count","cap":9}]}`
	for where, want := range map[string][]float64{
		`{"column":"d","from":1,"to":31}`:       {2, 3},
		`{"column":"d","to":0}`:                 {1, 4},
		`{"column":"g","in":["NORTH"]}`:         {1, 3},
		`{"column":"h","in":["a"]}`:             {1, 2},
		`{"column":"g","in":["south", "West"]}`: {2, 4},
	} {
		got, err := ReadCSV(strings.NewReader("d,g,h,y\n01.01.2020,north,a,1\n02.01.2020,South,a,2\n01.02.2020,North,A,3\n31.12.2019,SOUTH,A,4\n"), parse(t, strings.Replace(text, "%", where, 1)))
		if err != nil || !slices.Equal(got.Labels(), want) {
			t.Errorf("%s: %v (%v)", where, got, err)
		}
	}
	_, err := ParseSchema([]byte(strings.Replace(text, "%", `{"column":"d","from":"2020-01-01"}`, 1)))
	says(t, "a day as a text", err, ErrSchema, `key "from" is "2020-01-01"`, `days after its column's "origin"`)
}

// A condition's numbers are written as its column's are.
func TestWhereReadsNumbersAsColumnsDo(t *testing.T) {
	s := european(t, `"decimal": ",", "where": [{"column": "paid", "from": 1000, "to": 2000}], `)
	got, err := ReadCSV(strings.NewReader("size;town;paid\n1;Köln;1.500,5\n1;Köln;3.000\n2;Köln;999,9\n"), s)
	if err != nil || !slices.Equal(got.Labels(), []float64{1500.5}) {
		t.Errorf("%v (%v)", got.Labels(), err)
	}
}

// Weights are a column's, within its range, and no feature.
func TestWeightRole(t *testing.T) {
	s, err := ParseSchema([]byte(`{"version": 1, "label": "y", "weight": "w", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]},
		{"name": "w", "kind": "numeric", "range": [0, 4]}, {"name": "y", "kind": "count", "cap": 3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCSV(strings.NewReader("x,w,y\n0,1,1\n1,9,2\n.5,0,3\n"), s)
	if err != nil {
		t.Fatal(err)
	}
	of := got.Weights()
	_, most := got.Encoder().Weights()
	if _, d := got.Dims(); d != 1 || most != 4 || !slices.Equal(of, []float64{1, 4, 0}) || !strings.Contains(strings.Join(got.Warnings(), ""), `"w"`) {
		t.Errorf("%d features, weights %v of %v, %v", d, of, most, got.Warnings())
	}
	held, err := got.HoldOut([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(held.Weights(), []float64{4}) || !slices.Equal(got.Weights(), []float64{1, 0}) {
		t.Errorf("held out %v, and left %v", held.Weights(), got.Weights())
	}
	for text, none := range map[string]bool{"0,0,1\n": true, "0,-1,1\n1,0,1\n": true, strings.Repeat("0,0,1\n", 50_000) + "0,.1,1\n": false} {
		got, err := ReadCSV(strings.NewReader("x,w,y\n"+text), s)
		if err != nil || strings.Contains(strings.Join(got.Warnings(), "\n"), `column "w": every row has a weight of 0`) != none {
			t.Errorf("weights of %.20q: %v (%v)", text, got.Warnings(), err)
		}
	}
	if _, err := ReadCSV(strings.NewReader("x,w,y\n0,,1\n"), s); !errors.Is(err, ErrValue) {
		t.Errorf("a weight is missing: %v", err)
	}
	for _, bad := range [][2]string{{`[0, 4]`, `[-1, 4]`}, {`"weight": "w"`, `"weight": "y"`}, {`"weight": "w"`, `"weight": "v"`}, {`"range": [0, 4]`, `"range": [1, 4], "log": true`}} {
		if _, err := ParseSchema([]byte(strings.Replace(s.String(), bad[0], bad[1], 1))); !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", bad[1], err)
		}
	}
}

// Records that come one by one keep their own places where a file ends among them.
func TestPlacesOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	a := stored(t, dir, "a.csv", "size,town,paid\n1,Köln,1\n2,Rome,2\n")
	b := stored(t, dir, "b.csv", "size,town,paid\n3,Zürich,3\n")
	c, err := OpenCSVAs(a+","+b, european(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = Read(struct{ Source }{c}, european(t, ""))
	if err == nil || !strings.HasPrefix(err.Error(), `a.csv, line 3, column "town"`) {
		t.Errorf("%v", err)
	}
}
