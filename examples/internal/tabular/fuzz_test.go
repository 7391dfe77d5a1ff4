package tabular

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"testing"
)

// A CSV file is refused, or its rows have the header's length, its columns can be
// read, and numbers are finite.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "a,b\r\n\"x\"\"y\",-1e308\r\n", "a,a\n1,2\n", "a\n", "", "a,b\n1\n", "\"a\nb\",c\n1,NaN\n",
		"a,b\n1e999,0x1p-3\n", "a, b\n 1, 2", "\ufeffa,b\n1_0,inf\n", "a=x,a\n1,x\n", "\xff,b\n1,\xfe\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadCSV(bytes.NewReader(data))
		if err != nil {
			return
		}
		if table.Rows() < 1 || len(table.Names()) < 1 {
			t.Fatalf("read %d rows of %d columns", table.Rows(), len(table.Names()))
		}
		for _, name := range table.Names() {
			checkColumn(t, table, name)
		}
		if x, err := table.Matrix(table.Names()); err == nil {
			if n, d := x.Dims(); n != table.Rows() || d != len(table.Names()) {
				t.Errorf("a matrix of %d×%d", n, d)
			}
		}
	})
}

func checkColumn(t *testing.T, table *Table, name string) {
	t.Helper()
	text, err := table.Text(name)
	if err != nil || len(text) != table.Rows() {
		t.Fatalf("column %q has %d fields: %v", name, len(text), err)
	}
	if v, err := table.Numbers(name); err == nil {
		for _, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatalf("column %q has %g", name, x)
			}
		}
	}
	made, err := table.OneHot(name, text[:1])
	if err != nil {
		return
	}
	ones, err := table.Numbers(made[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range ones {
		if one != 1 { // all rows have the first one's level, or there was an error
			t.Fatalf("one-hot column %q has %g", made[0], one)
		}
	}
}

// A LIBSVM file is refused, or it is a valid matrix in compressed sparse rows
// with as many finite labels.
func FuzzReadLIBSVM(f *testing.F) {
	for _, s := range []string{
		"1 1:0.5 3:-2\n-1 2:1e308\n", "+1\n0 1:1", "# comment\n\n1 1:1 # more\n", "1 2:1 2:1\n", "1 0:1\n", "1 268435457:1\n",
		"1 1:NaN\n", "1 1:\n", "1 :1\n", "nan 1:1\n", "1 9223372036854775808:1\n", "1 +1:1\n", "1\x001:1",
	} {
		f.Add([]byte(s), 0)
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, features int) {
		x, y, err := ReadLIBSVM(bytes.NewReader(data), features)
		if err != nil {
			return
		}
		n, d := x.Dims()
		if n != len(y) || n < 1 || d < 1 || features > 0 && d != features || len(x.Indices) != len(x.Values) {
			t.Fatalf("a matrix of %d×%d, %d labels", n, d, len(y))
		}
		for i := range n {
			last := -1
			columns, values := x.Row(i)
			for k, j := range columns {
				if j <= last || j >= d || math.IsNaN(values[k]) || math.IsInf(values[k], 0) {
					t.Fatalf("row %d has %g in column %d of %d", i, values[k], j, d)
				}
				last = j
			}
			if math.IsNaN(y[i]) || math.IsInf(y[i], 0) {
				t.Fatalf("label %g", y[i])
			}
		}
	})
}

// A damaged archive is an error, never a panic, and nothing is read past it.
func FuzzDecompress(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n"), false)
	f.Add([]byte("\x1f\x8b"), true)
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"), true)
	f.Fuzz(func(t *testing.T, data []byte, zipped bool) {
		r, err := decompress(bufio.NewReader(bytes.NewReader(data)), zipped)
		if err != nil {
			return
		}
		out, err := io.ReadAll(io.LimitReader(r, 1<<20))
		if !zipped && (err != nil || !bytes.Equal(out, data[:min(len(data), 1<<20)])) {
			t.Errorf("plain text changed: %v", err)
		}
	})
}
