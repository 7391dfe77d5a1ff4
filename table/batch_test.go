package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// mixed is a schema of a table in which much is odd, and claims are rows of it.
const mixed = `{"version":1,"label":"y","person":"who","max_rows":9,"exposure":"years","weight":"w","where":[{"column":"x","from":-50}],"columns":[
	{"name":"x","kind":"numeric","range":[-1,1]},
	{"name":"town","kind":"categorical","levels":["a","b","c"],"other":"c"},
	{"name":"y","kind":"count","cap":3},
	{"name":"who","kind":"id"},
	{"name":"years","kind":"numeric","range":[0.5,1]},
	{"name":"w","kind":"numeric","range":[0.5,2]}]}`

func claims(rows int, spoiled bool) string {
	var b strings.Builder
	b.WriteString("x,town,y,who,years,w\n")
	for i := range rows {
		x, y := fmt.Sprint(float64(i%97)/48-1.2), fmt.Sprint(i*i%5)
		if spoiled && i > rows/2 && i%11 == 0 {
			x = "none " + fmt.Sprint(i)
		}
		if spoiled && i > rows/3 && i%13 == 0 {
			y = "-1"
		}
		if i%53 == 0 {
			x = "-60"
		}
		town := string(rune('a' + i%4))
		if i > rows/4 && i%3 == 0 {
			town = fmt.Sprintf("\"aa\n%d\"", i)
		}
		fmt.Fprintf(&b, "%s,%s,%s,p%d,%g,%g\n", x, town, y, i*7%(1+i/5), 0.4+float64(i%10)/10, 0.1+float64(i%30)/10)
	}
	return b.String()
}

// oneByOne reads a table by one intake, record by record.
func oneByOne(t *testing.T, src Source, s Schema) (rows []row, warnings []string, err error) {
	t.Helper()
	r, err := newIntake(src, s, true)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		var fields, wanted []string
		if fields, err = src.Next(); err != nil {
			break
		}
		if !r.filter.fulfilled(fields) {
			r.seen.left++
			continue
		}
		for _, at := range r.wanted {
			wanted = append(wanted, fields[at])
		}
		r.binding.At(src.Place())
		var w row
		r.record(&w, wanted)
		r.number(&w)
		if r.problems.rows++; w.faults != nil {
			err = r.problems.add(w.faults)
			continue
		}
		rows = append(rows, w)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return rows, r.warnings(), r.problems.with(nil)
}

// onlySource is a source that nothing else is known of.
type onlySource struct{ Source }

// Rows, persons' numbers, warnings and errors are those of one reader that takes the records one
// by one, whether they come in pieces or not.
func TestBatchesAreOneTable(t *testing.T) {
	for spoiled, s := range map[bool]Schema{false: parse(t, mixed), true: parse(t, strings.Replace(mixed, `"max_rows":9`, `"max_rows":9,"persons":2000`, 1))} {
		text := claims(20_000, spoiled)
		open := func() Source {
			c, err := NewCSV(strings.NewReader(text), ',')
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		rows, warnings, failed := oneByOne(t, open(), s)
		for name, src := range map[string]Source{"pieces": open(), "records": onlySource{open()}} {
			got, err := Read(src, s)
			if failed != nil {
				if err == nil || err.Error() != failed.Error() {
					t.Errorf("%s: %v, want %v", name, err, failed)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Warnings(), warnings) {
				t.Errorf("%s: warnings %q, want %q", name, got.Warnings(), warnings)
			}
			holdsRows(t, got, rows)
		}
	}
}

func holdsRows(t *testing.T, got *Table, rows []row) {
	t.Helper()
	if n, _ := got.Dims(); n != len(rows) {
		t.Fatalf("%d rows, want %d", n, len(rows))
	}
	_, d := got.Dims()
	for i, w := range rows {
		x := make([]float64, d)
		for k, j := range w.indices {
			x[j] = w.values[k]
		}
		if !reflect.DeepEqual(mat.Row(nil, i, got.Matrix()), x) || got.labels[i] != w.label || got.persons[i] != w.person || got.exposure[i] != w.exposure || got.weights[i] != w.weight {
			t.Fatalf("row %d differs", i)
		}
	}
}

// The texts that are kept of later records are those that one list would have kept.
func TestUnlistedAreTheFirst(t *testing.T) {
	var one, joined, later unlisted
	for i := range 3 * maxOthers {
		text := fmt.Sprint(i * i % 211)
		one.add(text)
		if later.add(text); i%maxOthers > maxOthers/2 {
			joined.join(&later)
		}
	}
	if !reflect.DeepEqual(one, joined) {
		t.Errorf("%v, want %v", joined, one)
	}
}

// What is wrong in a row is told in the same order whether its person is one too many or not.
func TestFaultsInOrder(t *testing.T) {
	s := parse(t, strings.Replace(mixed, `"max_rows":9`, `"max_rows":9,"persons":1`, 1))
	_, err := ReadCSV(strings.NewReader("x,town,y,who,years,w\n0,a,1,p,1,1\n0,a,-1,q,none,1\n"), s)
	last := -1
	for _, column := range []string{`column "y"`, `column "who"`, `column "years"`} {
		at := strings.Index(fmt.Sprint(err), column)
		if at <= last {
			t.Errorf("%s isn't there, or too early: %v", column, err)
		}
		last = at
	}
}

// An error of a CSV comes after the rows before it, and ends reading.
func TestErrorsEndBatches(t *testing.T) {
	s := parse(t, mixed)
	for text, want := range map[string]string{
		claims(9000, false) + "1,a\n" + claims(9000, false):                "it has 2 fields where the header has 6",
		claims(9000, false) + "1,a\"b,1,p,1,1\n" + claims(9, false):        "there is a quote",
		claims(9000, false) + "1,\"a,1,p\n,1,1\n":                          "not closed",
		"x,town,y,who,years,w\n" + strings.Repeat("-60,a,1,p,1,1\n", 5000): "no row fulfils",
		"x,town,y,who,years,w\n":                                           "no row after the header",
	} {
		if _, err := ReadCSV(strings.NewReader(text), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		} else if empty := strings.HasPrefix(want, "no row"); errors.Is(err, ErrNoRows) != empty || !errors.Is(err, ErrFile) {
			t.Errorf("%v: no rows is %v", err, !empty)
		}
	}
}

// No record of a CSV comes after an error of Read, which had read on: in a quote, in a field, and where its context ended; nor where a
// file that follows can't be opened, if it can a moment later.
func TestNothingAfterAnError(t *testing.T) {
	s, err := ParseSchema([]byte(`{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "numeric", "range": [0, 1]}, {"name": "y", "kind": "numeric", "range": [0, 1]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("1,0\n", 200_000)
	for name, text := range map[string]string{"quote": "a,y\n1,0\"0\n" + many, "fields": "a,y\n1\n" + many, "value": "a,y\nx,1\n" + many} {
		c, err := NewCSV(strings.NewReader(text), ',')
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Read(c, s); err == nil {
			t.Fatalf("%s: there is no error", name)
		}
		for range 2 {
			if _, again := c.Next(); again == nil || again.Error() != err.Error() {
				t.Errorf("%s: after %q comes %v", name, err, again)
			}
		}
		if _, again := Read(c, s); again == nil || errors.Is(again, io.EOF) {
			t.Errorf("%s: a second Read has %v", name, again)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	c, err := NewCSV(strings.NewReader("a,y\n"+many), ',')
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := Read(WithContext(ctx, c), s); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := c.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context comes %v", err)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	for _, file := range []string{path, path + "2.csv"} {
		if err := os.WriteFile(file, []byte("a,y\n1,0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two, err := OpenCSVAs(path+","+path+"2.csv", s)
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	os.Rename(path+"2.csv", path+"3.csv")
	two.Next()
	if _, err := two.Next(); err == nil {
		t.Fatal("a file that is gone is read")
	}
	os.Rename(path+"3.csv", path+"2.csv")
	if _, err := two.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after an error comes %v", err)
	}
}
