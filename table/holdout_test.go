package table

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/mechanisms"
)

// The rows that stay and those that are held out are all the rows, in their order,
// dense or sparse, with their labels and exposures.
func TestHoldOut(t *testing.T) {
	levels := []string{"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9"}
	const n = 10
	text := "x,l,y,time\n"
	for i := range n {
		text += fmt.Sprintf("%d,l%d,%d,%d\n", i, i, i, i+1)
	}
	for _, width := range []int{2, 10} { // dense, sparse
		s := Schema{Version: 1, Label: "y", Exposure: "time", Columns: []Column{
			{Name: "x", Kind: Numeric, Range: []float64{-10, 10}}, {Name: "l", Kind: Categorical, Levels: levels[:width], Other: "l1"},
			{Name: "y", Kind: Count, Cap: 99}, {Name: "time", Kind: Numeric, Range: []float64{1, 99}}}}
		for _, held := range [][]int{{0}, {9}, {0, 1, 2}, {3, 7, 8}, {1, 3, 5, 7, 9}, {0, 1, 2, 3, 5, 6, 7, 8, 9}} {
			whole, err := ReadCSV(strings.NewReader(text), s)
			if err != nil {
				t.Fatal(err)
			}
			stay, err := ReadCSV(strings.NewReader(text), s)
			if err != nil || (stay.Sparse() != nil) != (width == 10) {
				t.Fatal(stay, err)
			}
			out, err := stay.HoldOut(held)
			if err != nil {
				t.Fatal(err)
			}
			var kept []int
			for i := range n {
				if !slices.Contains(held, i) {
					kept = append(kept, i)
				}
			}
			sameRows(t, whole, out, held)
			sameRows(t, whole, stay, kept)
		}
	}
	table, err := ReadLIBSVM(strings.NewReader("1 1:1\n-1 2:1\n"), libsvm)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]int{nil, {0, 1}, {2}, {-1}} {
		if _, err := table.HoldOut(rows); !errors.Is(err, check.ErrConfig) {
			t.Errorf("rows %v are held out of 2", rows)
		}
	}
	whole, err := ReadCSV(strings.NewReader("a,y\n1,yes\n2,no\n3,no\n"), parse(t, small))
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]int{{1, 1}, {1, 0}} {
		_, err := whole.HoldOut(rows)
		says(t, "order", err, check.ErrConfig, "rows", "[0, 3)")
	}
}

// sameRows holds a part to the given rows of the whole.
func sameRows(t *testing.T, whole, part *Table, rows []int) {
	t.Helper()
	n, d := part.Dims()
	if r, c := part.Matrix().Dims(); n != len(rows) || r != n || c != d || len(part.Labels()) != n || len(part.Exposure()) != n || !reflect.DeepEqual(part.Label(), whole.Label()) || part.Bound() != whole.Bound() {
		t.Fatalf("%v for the rows %v", part, rows)
	}
	for k, i := range rows {
		if part.Labels()[k] != whole.Labels()[i] || part.Exposure()[k] != whole.Exposure()[i] {
			t.Errorf("rows %v: row %d is not row %d", rows, k, i)
		}
		for j := range d {
			if part.Matrix().At(k, j) != whole.Matrix().At(i, j) {
				t.Errorf("rows %v: feature %d of row %d is not that of row %d", rows, j, k, i)
			}
		}
	}
}

// persons is a schema of persons with up to 3 rows, of whom so many are stated.
func persons(t *testing.T, stated string) Schema {
	return parse(t, `{"version":1,"label":"y","person":"who","max_rows":3,`+stated+`"columns":[{"name":"who","kind":"id"},
		{"name":"y","kind":"binary","positive":["1"],"negative":["0"]},{"name":"x","kind":"numeric","range":[0,100]}]}`)
}

// Persons are held out with all rows, so many of them as the fraction says, also where some of
// those who are stated have no rows, and which these are follows from the coins alone.
func TestHoldOutPersons(t *testing.T) {
	text := "who,y,x\n"
	for i := range 60 {
		text += fmt.Sprintf("p%d,%d,%d\n", (i*7)%20, i%2, i)
	}
	for stated, want := range map[string][2]int{"": {14, 6}, `"persons":40,`: {28, 12}} {
		var seen [2][]float64
		for k, renamed := range []string{text, strings.ReplaceAll(text, "p1", "zz1")} {
			stay, err := ReadCSV(strings.NewReader(renamed), persons(t, stated))
			if err != nil {
				t.Fatal(err)
			}
			out, err := stay.HoldOutPersons(0.3, mechanisms.NewSeededSource(3))
			if err != nil {
				t.Fatal(err)
			}
			if stay.PersonCount() != want[0] || out.PersonCount() != want[1] {
				t.Errorf("%q: %d and %d persons, want %v", stated, stay.PersonCount(), out.PersonCount(), want)
			}
			whose := map[float64]bool{} // held out
			for i := range out.Labels() {
				seen[k] = append(seen[k], out.Matrix().At(i, 0))
				whose[math.Mod(math.Round(50*(1+out.Matrix().At(i, 0)))*7, 20)] = true
			}
			for i := range stay.Labels() {
				if whose[math.Mod(math.Round(50*(1+stay.Matrix().At(i, 0)))*7, 20)] {
					t.Errorf("%q: a person's row stays and another one doesn't", stated)
				}
			}
			if n, _ := out.Dims(); stated == "" && n != 18 {
				t.Errorf("%d rows of 6 persons of 3 each", n)
			}
			for _, part := range []*Table{stay, out} {
				if n := slices.Max(part.Persons()); n >= part.PersonCount() {
					t.Errorf("person %d of %d", n, part.PersonCount())
				}
			}
		}
		if !slices.Equal(seen[0], seen[1]) {
			t.Errorf("%q: %v are held out, and %v where ids are others", stated, seen[0], seen[1])
		}
	}
	all, err := ReadCSV(strings.NewReader(text), persons(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(all); got != "table.Table of the rows of 20 persons × 1 features" {
		t.Errorf("printed as %q: the number of rows is private", got)
	}
	_, err = all.HoldOutPersons(0.999, nil)
	says(t, "too few", err, check.ErrConfig, "fraction")
	if err == nil || strings.Contains(err.Error(), "60") {
		t.Errorf("an error tells the number of rows: %v", err)
	}
	for _, fraction := range []float64{0, 1, -1, math.NaN()} {
		_, err := all.HoldOutPersons(fraction, nil)
		says(t, "fraction", err, check.ErrConfig, "fraction", "between 0 and 1")
	}
	_, err = all.HoldOut([]int{0})
	says(t, "rows of persons", err, check.ErrConfig, "HoldOutPersons")
	rows, err := ReadLIBSVM(strings.NewReader("1 1:1\n-1 2:1\n"), libsvm)
	if err != nil {
		t.Fatal(err)
	}
	_, err = rows.HoldOutPersons(0.5, nil)
	says(t, "persons of rows", err, check.ErrConfig, "must have persons")
}

// More persons than are stated are refused, at the line of the first one beyond; as many aren't.
func TestStatedPersons(t *testing.T) {
	const text = "who,y,x\na,1,1\nb,0,2\na,1,3\nc,0,4\n"
	for stated, want := range map[string]int{"": 3, `"persons":3,`: 3, `"persons":9,`: 9} {
		table, err := ReadCSV(strings.NewReader(text), persons(t, stated))
		if err != nil || table.PersonCount() != want {
			t.Errorf("%q: %v, %v", stated, table, err)
		}
	}
	_, err := ReadCSV(strings.NewReader(text), persons(t, `"persons":2,`))
	says(t, "too few", err, ErrValue, "line 5", `"who"`, `the 2 that "persons" states`)
	for _, s := range []string{`{"version":1,"label":"y","persons":2,"columns":[{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]}]}`,
		`{"version":1,"label":"y","person":"w","max_rows":1,"persons":-1,"columns":[{"name":"w","kind":"id"},{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]}]}`} {
		_, err := ParseSchema([]byte(s))
		says(t, "schema", err, ErrSchema, `"persons"`)
	}
	for _, more := range []string{`"at_most":-1,`, `"at_most":9,"persons":9,`} {
		_, err := ParseSchema([]byte(`{"version":1,"label":"y",` + more + `"person":"w","max_rows":1,"columns":[{"name":"w","kind":"id"},{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]}]}`))
		says(t, more, err, ErrSchema, `"at_most"`)
	}
	if s := persons(t, `"at_most":12,`); !strings.Contains(s.String(), `"at_most": 12`) || !reflect.DeepEqual(parse(t, s.String()), s) {
		t.Errorf("printed as\n%v", s)
	}
	if s := persons(t, `"persons_alike":true,`); !s.PersonsAlike || !strings.Contains(s.String(), `"persons_alike": true`) || !reflect.DeepEqual(parse(t, s.String()), s) {
		t.Errorf("printed as\n%v", s)
	}
	_, err = ParseSchema([]byte(`{"version":1,"label":"y","persons_alike":true,"columns":[{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]}]}`))
	_, more := ParseSchema([]byte(`{"version":1,"label":"y","person":"w","max_rows":1001,"columns":[{"name":"w","kind":"id"},{"name":"y","kind":"count","cap":1},{"name":"x","kind":"numeric","range":[0,1]}]}`))
	says(t, "many rows each", more, ErrSchema, `"max_rows"`, "persons_alike")
	says(t, "persons alike without persons", err, ErrSchema, `"persons_alike"`)
	if s := persons(t, `"persons":12,`); !strings.Contains(s.String(), `"persons": 12`) || !reflect.DeepEqual(parse(t, s.String()), s) {
		t.Errorf("printed as\n%v", s)
	}
}

// Where persons are stated, those without rows are held out like others: of ten who occur among forty
// a quarter isn't always two or three.
func TestPersonsWithoutRowsAreHeldOut(t *testing.T) {
	text := "who,y,x\n"
	for i := range 30 {
		text += fmt.Sprintf("p%d,%d,%d\n", i%10, i%2, i)
	}
	seen := map[int]bool{} // how many rows are held out
	for seed := range uint64(40) {
		stay, err := ReadCSV(strings.NewReader(text), persons(t, `"persons":40,`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := stay.HoldOutPersons(0.25, mechanisms.NewSeededSource(seed))
		if err != nil {
			continue // nobody who has rows is held out
		}
		n, _ := out.Dims()
		seen[n] = true
		if !stay.CallersCoins() || !out.CallersCoins() {
			t.Error("nothing is said of a caller's coins")
		}
	}
	if len(seen) < 4 {
		t.Errorf("%v rows are held out by 40 seeds", seen)
	}
	secret, err := ReadCSV(strings.NewReader(text), persons(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := secret.HoldOutPersons(0.5, nil); err != nil || out.CallersCoins() || secret.CallersCoins() {
		t.Errorf("secret coins are said to be a caller's: %v", err)
	}
}

// Where the number of rows is secret those that are held out have drawn places among all there may be, each part has
// its bound, and neither tells how many there are.
func TestHoldOutOfSecretNumber(t *testing.T) {
	schema := parse(t, `{"version": 1, "label": "y", "at_most": 100, "columns": [{"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]}, {"name": "x", "kind": "numeric", "range": [0, 100]}]}`)
	read := func(n int) *Table {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range n {
			fmt.Fprintf(&b, "%d,%d\n", i, i%2)
		}
		got, err := ReadCSV(strings.NewReader(b.String()), schema)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all, more := read(60), read(61)
	if all.String() != more.String() || !strings.Contains(all.String(), "at most 100 rows") {
		t.Errorf("60 rows are %q, and 61 are %q", all, more)
	}
	_, err := read(60).HoldOut([]int{3})
	says(t, "places in the file", err, check.ErrConfig, "HoldOutPersons")
	held, err := all.HoldOutPersons(0.25, mechanisms.NewSeededSource(1))
	if err != nil {
		t.Fatal(err)
	}
	also, err := more.HoldOutPersons(0.25, mechanisms.NewSeededSource(1))
	if err != nil {
		t.Fatal(err)
	}
	if held.AtMost() != 25 || all.AtMost() != 75 || also.AtMost() != 25 {
		t.Errorf("bounds of %d and %d", all.AtMost(), held.AtMost())
	}
	if len(all.Labels())+len(held.Labels()) != 60 || len(more.Labels())-len(all.Labels())+len(also.Labels())-len(held.Labels()) != 1 {
		t.Error("one row more is not one row more in one of the parts")
	}
}
