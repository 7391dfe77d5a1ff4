package dpglm_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// unreadable is a matrix whose At panics.
type unreadable struct{ mat.Matrix }

func (unreadable) At(i, j int) float64 { panic("broken") }

// A matrix that can't be read is an error, not a panic.
func TestUnreadableMatrices(t *testing.T) {
	for name, c := range map[string]struct {
		x    mat.Matrix
		want error
	}{
		"nil":         {nil, dpglm.ErrConfig},
		"nil *Dense":  {(*mat.Dense)(nil), dpglm.ErrConfig},
		"nil *Sparse": {(*dpglm.Sparse)(nil), dpglm.ErrConfig},
		"no Dims":     {mat.Transpose{}, dpglm.ErrConfig},
		"no At":       {unreadable{mat.NewDense(2, 1, nil)}, dpglm.ErrConfig},
		"empty":       {new(mat.Dense), dpglm.ErrShape},
	} {
		if d, err := dpglm.NewDataset(c.x, []float64{0, 1}, dpglm.Bounds{Feature: 1}); d != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A data set prints no row and no label, whatever the verb, by value too, and where it
// lies in a field that fmt can't call methods of.
func TestDatasetPrintsNoData(t *testing.T) {
	const feature, label = 1234.5678, 4321.8765
	x := mat.NewDense(2, 1, []float64{feature, -feature})
	d, err := dpglm.NewDataset(x, []float64{label, -label}, dpglm.Bounds{Feature: 1e6, Label: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		byValue   dpglm.Dataset
		byPointer *dpglm.Dataset
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%f", "%t", "%z"} {
		for _, v := range []any{d, *d, &d, holder{*d, d}, &holder{*d, d}, []dpglm.Dataset{*d}, map[int]holder{1: {*d, d}}} {
			printed := fmt.Sprintf(verb, v)
			for _, digits := range []string{"1234.5678", "4321.8765", fmt.Sprintf("%x", feature), fmt.Sprintf("%x", label)} {
				if strings.Contains(printed, digits) {
					t.Errorf("%s of a %T shows data: %.200s", verb, v, printed)
				}
			}
		}
	}
}

// The curator is told where a value is: in which row, the first being 1, and in which
// column, by its name where it has one.
func TestPlacesOfBadValues(t *testing.T) {
	people := dpglm.Schema{Columns: []string{"age", "income"}, Numeric: map[string][2]float64{"age": {18, 100}, "income": {0, 9}}}
	dense := func(v float64) mat.Matrix { return mat.NewDense(2, 2, []float64{20, 1, 30, v}) }
	sparse, err := dpglm.NewSparse(2, 2, []int{0, 0, 1}, []int{1}, []float64{math.NaN()})
	if err != nil {
		t.Fatal(err)
	}
	zeroed := people
	zeroed.Numeric = map[string][2]float64{"age": {0, 100}, "income": {0, 9}}
	bounds := dpglm.Bounds{Feature: 1}
	for name, c := range map[string]struct {
		x     mat.Matrix
		y     float64
		facts dpglm.Facts
		want  string
	}{
		"schema":          {dense(math.NaN()), 1, people, `row 2 (counted from 1), column "income" must be finite`},
		"sparse, schema":  {sparse, 1, zeroed, `row 2 (counted from 1), column "income" must be finite`},
		"range without 0": {sparse, 1, people, `range of "age" = [18 100] must contain 0`},
		"bounds":          {dense(math.Inf(1)), 1, bounds, `row 2, column 2 (counted from 1) must be finite`},
		"large":           {dense(-1e101), 1, bounds, `row 2, column 2 (counted from 1) must not exceed 1e+100 in magnitude`},
		"label":           {dense(1), math.NaN(), bounds, `label of row 2 (counted from 1) must be finite`},
	} {
		_, err := dpglm.NewDataset(c.x, []float64{0, c.y}, c.facts)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	data, err := dpglm.NewDataset(dense(1), []float64{0, 2}, people)
	if err != nil {
		t.Fatal(err)
	}
	_, err = dpglm.Auto(t.Context(), data, dpglm.Problem{Loss: losses.Logistic{}}, dpglm.ApproxDP(1, 1e-3), nil)
	if !errors.Is(err, dpglm.ErrLabel) || !strings.Contains(err.Error(), "label of row 2 (counted from 1) must be 1, or 0 or −1 for the other class") {
		t.Error(err)
	}
}
