package dpglm_test

import (
	"errors"
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
