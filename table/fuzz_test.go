package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
)

// A schema is refused, or it survives being written, and its encoder encodes.
func FuzzParseSchema(f *testing.F) {
	f.Add([]byte(hospital))
	f.Add([]byte(small))
	for _, s := range []string{
		`{}`, `{"version":1,"version":1}`, `{"columns":[{"name":"a","kind":"numeric","range":[1,2,3]}]}`, `[`, `{"interactions":[["a"],[]]}`,
		`{"version":1,"label":"y","columns":[{"name":"y","kind":"count","cap":2},{"name":"d","kind":"date","origin":"2000-01-01","from":"0001-01-01","to":"9999-12-31","layouts":["2 Jan 06"],"missing":"indicator"}]}`,
		`{"version":1,"label":"y","missing":["1"],"columns":[{"name":"y","kind":"count","cap":2},{"name":"d","kind":"onehot","levels":["a","b"],"prefix":"","reference":"b"},{"name":"x","kind":"numeric","range":[0,1]}],"interactions":[["d","x"]]}`,
		`{"version":1,"label":"y","missing":["-9,999"],"columns":[{"name":"y","kind":"binary","positive":["Yes"],"negative":["no"],"fold_case":true},{"name":"x","kind":"numeric","range":[0,9000],"thousands":",","missing":"constant","constant":"1,000"},{"name":"k","kind":"categorical","levels":["K","ß"],"fold_case":true}]}`,
		`{"version":1,"label":"y","columns":[{"name":"y","kind":"categorical","levels":["a","b","C"],"other":"b","fold_case":true,"ordered":true,"shares":[1,2.5,1e-3],"reference":"C"},{"name":"x","kind":"numeric","range":[0,1]}]}`,
		`{"version":1,"label":"y","columns":[{"name":"y","kind":"numeric","range":[-1e60,1e60]},{"name":"d","kind":"numeric","range":[1e-60,2e-60],"log":true,"knots":[1.5e-60],"missing":"constant","constant":"0x1p-200"}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSchema(data)
		if err != nil {
			if !errors.Is(err, ErrSchema) {
				t.Fatal(err)
			}
			return
		}
		again, err := ParseSchema([]byte(s.String()))
		if err != nil || again.String() != s.String() || !slices.Equal(again.missingTexts(), s.missingTexts()) {
			t.Fatalf("String: %v\n%s", err, s)
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back Schema
		if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back, again) {
			t.Fatalf("%v\n%s", err, raw)
		}
		e, err := NewEncoder(s)
		if err != nil {
			t.Fatal(err)
		}
		record := map[string]string{}
		for i := range s.Columns {
			c := &s.Columns[i]
			for k, name := range c.files() {
				switch {
				case !s.feature(c):
				case c.Kind == OneHot:
					record[name] = []string{"1", "0"}[min(k, 1)]
				default:
					record[name] = good(c)
				}
			}
		}
		if l := e.Label(); l.Levels != nil {
			y, odd, err := e.label.read(l.Levels[len(l.Levels)-1])
			if err != nil || odd || int(y) != len(l.Levels)-1 || !(math.Abs(floats.Sum(l.Shares)-1) < 1e-9) {
				t.Fatalf("label %g (%v) of %+v", y, err, l)
			}
		}
		if len(record) != len(e.Inputs()) {
			t.Fatalf("%d fields for %q", len(record), e.Inputs())
		}
		x := make([]float64, len(e.Features()))
		if err := e.Encode(x, record); err != nil {
			t.Fatal(err)
		}
		checkRow(t, e, x)
	})
}

// good is a field that a column accepts.
func good(c *Column) string {
	switch c.Kind {
	case Numeric:
		return "17"
	case Date:
		to, _ := time.Parse(isoDay, c.To)
		return to.Format(newDays(c).layouts[0])
	case Binary:
		return c.Positive[0]
	}
	return c.Levels[len(c.Levels)-1]
}

// checkRow holds encoded rows to their bounds.
func checkRow(t *testing.T, e *Encoder, x []float64) {
	t.Helper()
	var norm float64
	for i, v := range x {
		if !(math.Abs(v) <= 1) {
			t.Fatalf("feature %q is %g", e.Features()[i].Name, v)
		}
		norm = math.Hypot(norm, v)
	}
	if norm > e.Bound()*(1+1e-12) {
		t.Fatalf("a norm of %g, bound %g", norm, e.Bound())
	}
}

// fuzzed is a schema for whatever columns a fuzzed file has: none is refused, and each
// kind is there.
func fuzzed(header []string) Schema {
	s := Schema{Version: 1, Label: header[0]}
	for i, name := range header {
		c := Column{Name: name, Kind: Categorical, Levels: []string{"a", "b"}, Other: "b", Missing: MissingLevel}
		switch {
		case i == 0:
			c = Column{Name: name, Kind: Numeric, Range: []float64{-10, 10}}
		case i%3 == 1:
			c = Column{Name: name, Kind: Numeric, Range: []float64{0, 10}, Missing: MissingIndicator, Square: true}
		case i%6 == 2:
			c = Column{Name: name, Kind: Date, Origin: "2000-01-01", From: "1990-01-01", To: "2030-01-01", Layouts: []string{"2006-01-02", "2.1.06"}, Missing: MissingIndicator}
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}

// A CSV is refused, or its records are those of encoding/csv, its rows are bounded and
// as many as the labels, and it reads alike when it is written anew.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{
		"y,a\n1,2\n", "\ufeffy;a;b\r\n1;\"2\n\";2000-01-01\r\n\r\n", "y\ta\n1\t1e999\n", "y,a,y\n", "", "y,a\n1\n", "y\r1\r", "y,a\n1,NaN\n-1e9, 3 \n",
		"\xff\xfey\x00", "y|a|b|c\n1||2.1.06|x\n", "\"y\",a\n1,\"2\"\"3\"\n", "y,a\n1,\"2", "y,a\n1,$2\n", "\n\ny,a\n\n0,0\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := NewCSV(bytes.NewReader(data), 0)
		if err != nil {
			return
		}
		header := c.Header()
		records := readAll(t, c)
		s := fuzzed(header)
		table, err := ReadCSV(bytes.NewReader(data), s)
		if err != nil {
			return
		}
		n, d := table.Dims()
		if n != len(records) || n != len(table.Labels()) || d != len(table.Encoder().Features()) {
			t.Fatalf("%d rows, %d labels for %d records; %d features", n, len(table.Labels()), len(records), d)
		}
		x := make([]float64, d)
		for i, y := range table.Labels() {
			if !(math.Abs(y) <= 10) {
				t.Fatalf("label %g", y)
			}
			for j := range x {
				x[j] = table.Matrix().At(i, j)
			}
			checkRow(t, table.Encoder(), x)
		}
		var anew bytes.Buffer
		w := csv.NewWriter(&anew)
		if err := w.WriteAll(append([][]string{header}, records...)); err != nil {
			t.Fatal(err)
		}
		comma, err := NewCSV(&anew, ',')
		if err != nil {
			t.Fatal(err)
		}
		again, err := Read(comma, s)
		if err != nil || !slices.Equal(again.Labels(), table.Labels()) {
			t.Fatalf("%v: labels %v, were %v", err, again, table.Labels())
		}
	})
}

// readAll reads records until the first error.
func readAll(t *testing.T, c *CSV) [][]string {
	var records [][]string
	last := 0
	for {
		fields, err := c.Next()
		if err != nil {
			return records
		}
		if _, at := c.Place(); at <= last {
			t.Fatalf("line %d after line %d", at, last)
		} else {
			last = at
		}
		records = append(records, slices.Clone(fields))
	}
}

// A LIBSVM file is refused, or it is a valid matrix in compressed sparse rows with as
// many labels, and reads alike when it is written anew.
func FuzzReadLIBSVM(f *testing.F) {
	for _, s := range []string{
		"1 1:0.5 3:-2\n-1 2:1e308\n", "+1\n0 1:1", "# comment\n\n1 1:1 # more\n", "1 2:1 2:1\n", "1 0:1\n", "1 268435457:1\n",
		"1 1:NaN\n", "1 1:\n", "1 :1\n", "nan 1:1\n", "1 9223372036854775808:1\n", "1 +1:1\n", "1\x001:1", "\xef\xbb\xbf1\v2:3\r\n",
	} {
		f.Add([]byte(s))
	}
	l := LIBSVM{Features: 9, Bound: 1, Label: Column{Kind: Numeric, Range: []float64{-5, 5}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadLIBSVM(bytes.NewReader(data), l)
		if err != nil {
			return
		}
		x := table.Sparse()
		if x.Rows != len(table.Labels()) || x.Rows < 1 || len(x.Indptr) != x.Rows+1 || len(x.Indices) != len(x.Values) || x.Indptr[x.Rows] != len(x.Values) {
			t.Fatalf("%d rows, %d labels", x.Rows, len(table.Labels()))
		}
		var anew strings.Builder
		for i := range x.Rows {
			writeRow(t, &anew, x, i, table.Labels()[i])
		}
		again, err := ReadLIBSVM(strings.NewReader(anew.String()), l)
		if err != nil || !reflect.DeepEqual(again.Sparse(), x) || !slices.Equal(again.Labels(), table.Labels()) {
			t.Fatalf("%v\n%s", err, anew.String())
		}
	})
}

// writeRow writes row i in LIBSVM's format, and checks it.
func writeRow(t *testing.T, w io.Writer, x *CSR, i int, label float64) {
	t.Helper()
	fmt.Fprint(w, label)
	last := -1
	for k := x.Indptr[i]; k < x.Indptr[i+1]; k++ {
		j, v := x.Indices[k], x.Values[k]
		if j <= last || j >= x.Cols || math.IsNaN(v) || math.IsInf(v, 0) || x.At(i, j) != v {
			t.Fatalf("row %d has %g in column %d", i, v, j)
		}
		last = j
		fmt.Fprintf(w, " %d:%g", j+1, v)
	}
	if !(math.Abs(label) <= 5) {
		t.Fatalf("label %g", label)
	}
	fmt.Fprintln(w)
}
