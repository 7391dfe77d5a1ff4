package encoding

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/check"
)

// ranged is one numeric column in [−1, 3], and a one-hot group of two.
func ranged(t *testing.T) Encoding {
	t.Helper()
	e, err := NewSchema([]string{"a", "b", "x"}, map[string][2]float64{"x": {-1, 3}}, map[string][]string{"kind": {"a", "b"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	e.From = 40
	return e
}

// Values are taken up to the largest magnitude, or clamped at the ends of their ranges, by dense rows and sparse ones alike; what is refused
// is named by its row and column, counted from 1.
func TestValuesUpToTheirEnds(t *testing.T) {
	plain, schema := NewIdentity(3, 1, false), ranged(t)
	plain.From = 40
	beyond := math.Nextafter(1e100, math.Inf(1))
	for k, c := range []struct {
		e    *Encoding
		row  []float64
		want []float64 // nil for what is refused
		says string
	}{
		{&plain, []float64{1e100, -1e100, 0}, []float64{1e100, -1e100, 0}, ""}, {&plain, []float64{0, beyond, 0}, nil, "row 42, column 2 (counted from 1)"},
		{&plain, []float64{0, 0, -beyond}, nil, "row 42, column 3 (counted from 1)"}, {&plain, []float64{math.NaN(), 0, 0}, nil, "must be finite"}, {&plain, []float64{math.Inf(1), 0, 0}, nil, "must be finite"},
		{&schema, []float64{1, 0, 3}, []float64{1, 0, 3}, ""}, {&schema, []float64{0, 1, -1}, []float64{0, 1, -1}, ""}, {&schema, []float64{0, 0, math.Nextafter(3, 4)}, []float64{0, 0, 3}, ""},
		{&schema, []float64{0, 0, math.Nextafter(-1, -2)}, []float64{0, 0, -1}, ""}, {&schema, []float64{0, 0, 2 * beyond}, []float64{0, 0, 3}, ""},
		{&schema, []float64{0, 0, math.Inf(-1)}, nil, `row 42 (counted from 1), column "x"`}, {&schema, []float64{0, 0, math.NaN()}, nil, "must be finite"},
		{&schema, []float64{1, 1, 0}, nil, `row 42 (counted from 1), one-hot group "kind"`}, {&schema, []float64{0, 0.5, 0}, nil, `row 42 (counted from 1), column "b"`},
		{&schema, []float64{-1, 0, 0}, nil, `column "a"`}, {&schema, []float64{2, 0, 0}, nil, `column "a"`},
	} {
		dense := slices.Clone(c.row)
		outside, err := c.e.AdmitRow(dense, 1)
		compare := func(of string, got []float64, err error) {
			if (err == nil) != (c.want != nil) || err != nil && !strings.Contains(err.Error(), c.says) || err == nil && !slices.Equal(got, c.want) {
				t.Errorf("%d, %s: %v becomes %v (%v)", k, of, c.row, got, err)
			}
		}
		compare("dense", dense, err)
		if c.want != nil && outside == slices.Equal(c.want, c.row) {
			t.Errorf("%d: outside is %v", k, outside)
		}
		given := append([]float64{0, 0, 0}, c.row...)
		sparse, err := c.e.AdmitSparse(Entries{Start: []int{0, 3}, End: []int{3, 6}, Indices: []int{0, 1, 2, 0, 1, 2}, Values: given})
		if err == nil {
			sparse = sparse[3:]
		}
		compare("sparse", sparse, err)
		if !(math.IsNaN(c.row[0]) || math.IsNaN(c.row[2])) && !slices.Equal(given[3:], c.row) {
			t.Errorf("%d: the caller's values became %v", k, given)
		}
	}
	// One in each of two rows is one a row.
	if _, err := schema.AdmitSparse(Entries{Start: []int{0, 1}, End: []int{1, 2}, Indices: []int{0, 1}, Values: []float64{1, 1}}); err != nil {
		t.Error(err)
	}
}

// Sparse rows are of ranges with 0 in them, an end too.
func TestSparseRangesHaveZero(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for r, taken := range map[[2]float64]bool{{0, 1}: true, {-1, 0}: true, {-1, 1}: true, {tiny, 1}: false, {-1, -tiny}: false} {
		e := NewAffine(1, false, []float64{1}, []float64{0}, []float64{r[0]}, []float64{r[1]})
		if _, err := e.AdmitSparse(Entries{}); (err == nil) != taken || err != nil && (!errors.Is(err, check.ErrSchema) || !strings.Contains(err.Error(), "column 1 (counted from 1)")) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

// Ranges are taken as far apart, and as far from 0, as bounds allow, and refused beyond.
func TestRangesUpToTheirEnds(t *testing.T) {
	most, least := check.MaxScale, check.MinScale
	for r, kind := range map[[2]float64]error{
		{-most, most}: nil, {0, most}: nil, {-most, math.Nextafter(most, math.Inf(1))}: check.ErrBound, {-math.Nextafter(most, math.Inf(1)), most}: check.ErrBound,
		{0, least}: nil, {0, math.Nextafter(least, 0)}: check.ErrBound, {1, 1}: check.ErrBound, {1, 0}: check.ErrBound, {math.NaN(), 1}: check.ErrBound, {0, math.Inf(1)}: check.ErrBound,
		{1 << 18, 1<<18 + 1}: nil, {1 << 22, 1<<22 + 1}: check.ErrSchema, {-(1<<22 + 1), -(1 << 22)}: check.ErrSchema,
	} {
		if _, err := NewSchema([]string{"x"}, map[string][2]float64{"x": r}, nil, true); (err == nil) != (kind == nil) || !errors.Is(err, kind) {
			t.Errorf("%g: %v", r, err)
		}
	}
	// What cancels most is named.
	_, err := NewSchema([]string{"x", "y", "z"}, map[string][2]float64{"x": {0, 1}, "y": {1 << 23, 1<<23 + 1}, "z": {1 << 22, 1<<22 + 1}}, nil, true)
	if err == nil || !strings.Contains(err.Error(), `"y"`) {
		t.Error(err)
	}
}

// An encoding from elsewhere is taken as callers describe one, and refused with one number more or fewer in any part.
func TestEncodingsAreChecked(t *testing.T) {
	whole := ranged(t)
	for _, e := range []Encoding{whole, NewIdentity(2, 1, false), NewIdentity(2, check.MaxScale, true)} {
		if err := e.Check(); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for name, spoil := range map[string]func(e *Encoding){
		"no columns": func(e *Encoding) { e.Columns = 0 }, "a column more": func(e *Encoding) { e.Columns++ }, "a column less": func(e *Encoding) { e.Columns-- },
		"no bound": func(e *Encoding) { e.Bound = 0 }, "a bound beyond": func(e *Encoding) { e.Bound, e.Magnitude = 2*check.MaxScale, 4*check.MaxScale }, "no number": func(e *Encoding) { e.Bound = math.NaN() },
		"a small magnitude": func(e *Encoding) { e.Magnitude = math.Nextafter(e.Bound, 0) }, "a constant": func(e *Encoding) { e.Constant = 1 }, "no power of two": func(e *Encoding) { e.Intercept, e.Constant = true, 3 },
		"no constant": func(e *Encoding) { e.Intercept = true }, "scales": func(e *Encoding) { e.Scale = e.Scale[1:] }, "shifts": func(e *Encoding) { e.Shift = e.Shift[1:] },
		"no least": func(e *Encoding) { e.Min = nil }, "most": func(e *Encoding) { e.Max = e.Max[1:] }, "a column of none": func(e *Encoding) { e.Ranged = []int{3} }, "a column before": func(e *Encoding) { e.Ranged = []int{-1} },
		"a level less": func(e *Encoding) { e.Groups = []Group{{"kind", []int{0, 1}, []string{"a"}}} }, "a level of none": func(e *Encoding) { e.Groups = []Group{{"kind", []int{0, 3}, []string{"a", "b"}}} },
		"names": func(e *Encoding) { e.Names = e.Names[1:] },
	} {
		e := whole
		spoil(&e)
		if err := e.Check(); !errors.Is(err, check.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
