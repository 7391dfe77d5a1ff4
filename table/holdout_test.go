package table

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// The rows that stay and those that are held out are all the rows, in their order,
// dense or sparse, with their labels, persons and exposures.
func TestHoldOut(t *testing.T) {
	levels := []string{"l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9"}
	const n = 10
	text := "x,l,y,who,time\n"
	for i := range n {
		text += fmt.Sprintf("%d,l%d,%d,p%d,%d\n", i, i, i, i/2, i+1)
	}
	for _, width := range []int{2, 10} { // dense, sparse
		s := Schema{Version: 1, Label: "y", Person: "who", MaxRows: 2, Exposure: "time", Columns: []Column{
			{Name: "x", Kind: Numeric, Range: []float64{-10, 10}}, {Name: "l", Kind: Categorical, Levels: levels[:width], Other: "l1"},
			{Name: "y", Kind: Count, Cap: 99}, {Name: "who", Kind: ID}, {Name: "time", Kind: Numeric, Range: []float64{1, 99}}}}
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
	if r, c := part.Matrix().Dims(); n != len(rows) || r != n || c != d || len(part.Labels()) != n || len(part.Persons()) != n || len(part.Exposure()) != n || !reflect.DeepEqual(part.Label(), whole.Label()) || part.Bound() != whole.Bound() {
		t.Fatalf("%v for the rows %v", part, rows)
	}
	numbers := map[int]int{} // without gaps
	for _, i := range rows {
		if _, ok := numbers[whole.Persons()[i]]; !ok {
			numbers[whole.Persons()[i]] = len(numbers)
		}
	}
	if part.PersonCount() != len(numbers) {
		t.Errorf("%d persons in rows %v", part.PersonCount(), rows)
	}
	for k, i := range rows {
		if part.Labels()[k] != whole.Labels()[i] || part.Persons()[k] != numbers[whole.Persons()[i]] || part.Exposure()[k] != whole.Exposure()[i] {
			t.Errorf("rows %v: row %d is not row %d", rows, k, i)
		}
		for j := range d {
			if part.Matrix().At(k, j) != whole.Matrix().At(i, j) {
				t.Errorf("rows %v: feature %d of row %d is not that of row %d", rows, j, k, i)
			}
		}
	}
}
