package rows

import (
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/mechanisms"
)

// A table that is made of another one has persons of the same kind, by whom sensitivities go, and cuts rows by these: they were given or not,
// weighted or not, their number is that of those who occur or a bound on it.
func TestDerivedTablesHavePersonsOfTheSameKind(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	for _, kind := range []blocks.Persons{{}, {Given: true}, {Given: true, Weighted: true}, {Given: true, Occur: true}, {Places: true}, {Given: true, Places: true, Weighted: true}} {
		for _, each := range []bool{false, kind.Given} {
			of, err := NewTable(x, encoding.NewIdentity(2, 3, true))
			if err != nil {
				t.Fatal(err)
			}
			persons := kind
			persons.Start, persons.Most, persons.Each = []int{0, 2, 2, 5}, 3, each
			persons.Shares, persons.Weights = []float64{0.5, 0.5, 0.25, 0.25, 0.25}, []float64{1, 0.5, 1, 1, 0.25}
			of.Persons, of.Layout = &persons, blocks.NewLayout(3, 2, false, &persons)
			single, order := Single(of)
			if !slices.Equal(order, []int{0, 2}) || !slices.Equal(single.Persons.Start, []int{0, 1, 1, 2}) || !slices.Equal(single.Persons.Shares, []float64{1, 0.75}) {
				t.Errorf("single rows are %v of persons %+v", order, single.Persons)
			}
			some := of.Counting(func(row int) bool { return row > 0 })
			weights := []float64{0, 0.5, 1, 1, 0.25}
			if !each {
				weights = persons.Weights // by which no row counts then
			}
			if !slices.Equal(some.Persons.Shares, []float64{0, 0.5, 0.25, 0.25, 0.25}) || !slices.Equal(some.Persons.Weights, weights) {
				t.Errorf("each %v, without the first row: %+v", each, some.Persons)
			}
			for name, c := range map[string]struct {
				made           *Table
				rows           int
				weighted, each bool
			}{
				"rebound": {of.Rebound(1, 1), 3, kind.Weighted, each}, "some": {some, 3, true, each},
				"by rows": {ByRows(of), 3, true, false}, "picked": {of.Pick([]int{2, 0}), 3, kind.Weighted, each}, "single": {single, 1, kind.Weighted, false},
			} {
				p := c.made.Persons
				given := kind.Given || name == "single" // which persons with one row each are
				if p.Given != given || p.Weighted != c.weighted || p.Occur != kind.Occur || p.Places != kind.Places || p.Each != c.each || p.Most != c.rows {
					t.Errorf("%+v, each %v, %s: %+v", kind, each, name, p)
				}
				if c.made.Layout.Persons != p {
					t.Errorf("%+v, %s: blocks are cut by other persons", kind, name)
				}
			}
		}
	}
}

// All orders of persons, and of the rows of each, are equally likely, also of one all of whose rows count: which rows are first says nothing of where they
// stood. With other seeds a count is that far off in one program of 10,000 that are right.
func TestOrdersAreEquallyLikely(t *testing.T) {
	const each, off = 100, 45
	of, err := NewTable(mat.NewDense(5, 1, []float64{1, 2, 3, 4, 5}), encoding.NewIdentity(1, 9, false))
	if err != nil {
		t.Fatal(err)
	}
	for most, orders := range map[int]int{2: 2 * 2 * 6, 3: 2 * 2 * 6} { // of persons, of two rows, and of the first two of three or of three
		count := map[string]int{}
		for seed := range orders * each {
			_, order, err := Own(of, Owners{Persons: []int{7, 7, 4, 4, 4}, Count: 2, Most: most, Coins: mechanisms.NewSeededSource(uint64(seed))})
			if err != nil {
				t.Fatal(err)
			}
			count[fmt.Sprint(order)]++
		}
		if len(count) != orders {
			t.Errorf("%d rows of a person at most: %d orders, want %d", most, len(count), orders)
		}
		for order, n := range count {
			if n < each-off || n > each+off {
				t.Errorf("%d rows of a person at most: the order %s comes %d times, want about %d", most, order, n, each)
			}
		}
	}
}
