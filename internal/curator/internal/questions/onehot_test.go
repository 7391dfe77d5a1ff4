package questions

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
)

// animals has two groups, whose columns lie apart and in no order, and two ranges.
func animals(t *testing.T) encoding.Encoding {
	t.Helper()
	e, err := encoding.NewSchema([]string{"red", "age", "cat", "blue", "dog", "weight", "green"},
		map[string][2]float64{"age": {0, 100}, "weight": {-5, 5}},
		map[string][]string{"colour": {"green", "red", "blue"}, "animal": {"cat", "dog"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// One-hot cells are 0 or 1 and a group has at most one 1, in dense rows, in sparse
// ones, behind At and in a query; anything else is named by row, column and rule.
func TestOneHotRows(t *testing.T) {
	enc := animals(t)
	const n, at = 2500, 2100
	for name, c := range map[string]struct {
		row  []float64
		says []string // nothing where the row is good
	}{
		"good":            {[]float64{1, 3, 0, 0, 1, 2, 0}, nil},
		"no level":        {[]float64{0, 3, 0, 0, 0, 2, 0}, nil},
		"clamped ranges":  {[]float64{0, 300, 0, 1, 0, -7, 0}, nil},
		"minus zero":      {[]float64{math.Copysign(0, -1), 3, 1, 0, 0, 2, 1}, nil},
		"seven":           {[]float64{0, 3, 7, 0, 0, 2, 0}, []string{`column "cat"`, "must be 0 or 1", `"animal"`}},
		"minus three":     {[]float64{0, 3, 1, -3, 0, 2, 0}, []string{`column "blue"`, "must be 0 or 1", `"colour"`}},
		"minus one":       {[]float64{1, 3, 0, 0, 0, 2, -1}, []string{`column "green"`, "must be 0 or 1", `"colour"`}},
		"half":            {[]float64{0.5, 3, 0, 0.5, 0, 2, 0}, []string{`column "red"`, "must be 0 or 1"}},
		"nearly one":      {[]float64{0, 3, 0, 0, 1 - 0x1p-53, 2, 0}, []string{`column "dog"`, "must be 0 or 1"}},
		"smallest number": {[]float64{5e-324, 3, 0, 0, 0, 2, 0}, []string{`column "red"`, "must be 0 or 1"}},
		"NaN":             {[]float64{0, 3, math.NaN(), 0, 0, 2, 0}, []string{`column "cat"`, "must be 0 or 1"}},
		"infinite":        {[]float64{0, 3, math.Inf(1), 0, 0, 2, 0}, []string{`column "cat"`, "must be 0 or 1"}},
		"minus infinite":  {[]float64{0, 3, 0, 0, 0, 2, math.Inf(-1)}, []string{`column "green"`, "must be 0 or 1"}},
		"two ones":        {[]float64{1, 3, 0, 1, 1, 2, 0}, []string{`group "colour"`, "at most one"}},
		"three ones":      {[]float64{1, 3, 0, 1, 0, 2, 1}, []string{`group "colour"`, "at most one"}},
		"ones in a pair":  {[]float64{1, 3, 1, 0, 1, 2, 0}, []string{`group "animal"`, "at most one"}},
	} {
		good, dense := []float64{0, 50, 1, 1, 0, 0, 0}, mat.NewDense(n, 7, nil)
		for i := range n {
			dense.SetRow(i, good)
		}
		dense.SetRow(at, c.row)
		sparse := sparsify(t, rand.New(rand.NewPCG(1, 1)), mat.DenseCopyOf(dense), 1)
		for form, x := range map[string]mat.Matrix{"dense": dense, "sparse": sparse, "opaque": opaque{dense}} {
			table, err := rows.NewTable(x, enc)
			checkOneHot(t, name+", "+form, err, "row 2101 (counted from 1)", c.says)
			if err == nil {
				for _, p := range []*rows.Table{table.Pick([]int{at, 0}), table.Rebound(0.1, 1)} {
					if p.Enc.Groups == nil {
						t.Errorf("%s: the groups are lost", form)
					}
				}
			}
		}
		_, err := enc.Encode(c.row)
		checkOneHot(t, name+", query", err, "row 1 (counted from 1)", c.says)
	}
}

func checkOneHot(t *testing.T, name string, err error, row string, says []string) {
	t.Helper()
	if says == nil {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	if !errors.Is(err, check.ErrValue) {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, s := range append(says, row) {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %q doesn't say %s", name, err, s)
		}
	}
}

// Entries of a sparse matrix may be zero, and ones of two rows don't add up.
func TestSparseOneHot(t *testing.T) {
	enc := animals(t)
	s, err := rows.NewSparse(3, 7, []int{0, 3, 5, 5}, []int{0, 3, 6, 2, 3}, []float64{0, 1, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	table, err := rows.NewTable(s, enc)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0, -1, 0, 1, 0, 0, 0, 1}; !slices.Equal(features(t, table)[0], want) {
		t.Errorf("features %v, want %v", features(t, table)[0], want)
	}
}
