package tabular

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestReadCSVMakesColumns(t *testing.T) {
	table, err := ReadCSV(strings.NewReader("age,town,note\n30, york,\"a,b\"\n-1.5e1,leeds,c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Derive("age²", "age", func(v float64) float64 { return v * v }); err != nil {
		t.Fatal(err)
	}
	towns, err := table.OneHot("town", []string{"leeds", "york", "hull"})
	if err != nil || !slices.Equal(towns, []string{"town=leeds", "town=york", "town=hull"}) {
		t.Fatalf("%v, %v", towns, err)
	}
	x, err := table.Matrix(append([]string{"age²", "age"}, towns...))
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(2, 5, []float64{900, 30, 0, 1, 0, 225, -15, 1, 0, 0})
	if !mat.Equal(x, want) {
		t.Errorf("got\n%v\nwant\n%v", mat.Formatted(x), mat.Formatted(want))
	}
	if !slices.Equal(table.Names(), []string{"age", "town", "note"}) || table.Rows() != 2 {
		t.Errorf("%v, %d rows", table.Names(), table.Rows())
	}
}

func TestReadCSVRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kind       error
		says       string
	}{
		{"empty file", "", ErrHeader, ""},
		{"duplicate columns", "a,b,a\n1,2,3\n", ErrHeader, `"a"`},
		{"nameless column", "a,,b\n1,2,3\n", ErrHeader, `""`},
		{"no rows", "a,b\n", ErrRow, ""},
		{"short row", "a,b\n1,2\n3\n", ErrRow, "row 2 has 1 fields"},
		{"long row", "a,b\n1,2,3\n", ErrRow, "row 1 has 3 fields"},
		{"stray quote", "a,b\n1,x\"y\n", ErrRow, "line 2"},
	} {
		_, err := ReadCSV(strings.NewReader(c.text))
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.kind, c.says)
		}
	}
}

func TestColumnsRefuse(t *testing.T) {
	const text = "a,b,c\n1,x,2\nNaN,y,\n"
	read := func() *Table {
		table, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, c := range []struct {
		name string
		do   func(*Table) error
		kind error
		says string
	}{
		{"NaN", func(t *Table) error { _, err := t.Numbers("a"); return err }, ErrNumber, `row 2, column "a"`},
		{"text", func(t *Table) error { _, err := t.Numbers("b"); return err }, ErrNumber, `row 1, column "b"`},
		{"empty field", func(t *Table) error { _, err := t.Matrix([]string{"c"}); return err }, ErrNumber, `row 2, column "c"`},
		{"unknown column", func(t *Table) error { _, err := t.Matrix([]string{"d"}); return err }, ErrColumn, `"d"`},
		{"no columns", func(t *Table) error { _, err := t.Matrix(nil); return err }, ErrColumn, ""},
		{"unknown level", func(t *Table) error { _, err := t.OneHot("b", []string{"x", "z"}); return err }, ErrLevel, `row 2, column "b"`},
		{"no levels", func(t *Table) error { _, err := t.OneHot("b", nil); return err }, ErrLevel, `"b"`},
		{"level twice", func(t *Table) error { _, err := t.OneHot("b", []string{"x", "y", "x"}); return err }, ErrColumn, `"b=x"`},
	} {
		if err := c.do(read()); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.kind, c.says)
		}
	}
}
