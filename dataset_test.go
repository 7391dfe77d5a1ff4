package dpglm_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
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
