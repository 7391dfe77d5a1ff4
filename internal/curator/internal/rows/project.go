package rows

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// keepNumbers is the size up to which projected rows are kept: 1 GiB. Larger ones
// are projected anew in each pass.
const keepNumbers = 1 << 27

// Project returns the table of the rows Φu, u the encoded rows without intercept,
// scaled down to the bound where they are longer, so that the bound holds for
// any row and map. The intercept stays.
func Project(ctx context.Context, t *Table, phi Projection, bound float64) (*Table, error) {
	if len(t.Length) == 0 && !t.Place.Elsewhere() {
		k, _ := phi.Dims()
		return projectNone(t, k, bound), nil
	}
	if t.Place != nil {
		return projectStored(ctx, t, phi, bound)
	}
	return ProjectKeeping(ctx, t, phi, bound, keepNumbers)
}

// projectNone is Project where no row stands in any place: how many do is secret, and none is no error.
func projectNone(t *Table, k int, bound float64) *Table {
	p := &Table{Enc: encoding.NewIdentity(k, bound, t.Enc.Intercept), Persons: t.Persons, Workspaces: new(sync.Pool)}
	if t.Place == nil {
		p.Src = DenseSource{M: blas64.General{Cols: k, Stride: k}}
	} else {
		p.Place = t.Place.derived()
		p.Place.Sparse, p.Place.Outside = false, nil
	}
	p.Layout = blocks.NewLayout(t.Len(), k, false, t.Persons)
	return p
}

func ProjectKeeping(ctx context.Context, t *Table, phi Projection, bound float64, keep int) (*Table, error) {
	k, _ := phi.Dims()
	n := len(t.Length)
	images := projected{t, phi}
	var src source = images
	if n*k <= keep {
		kept := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
		err := t.Pass(ctx, nil, func(*Part) Adder {
			return func(a *Workspace, tile Tile, lo int) {
				images.draw(a, kept.Data[lo*k:(lo+tile.Rows)*k], tile, lo)
			}
		})

		if err != nil {
			return nil, err
		}
		src = DenseSource{M: kept}
	}
	p, err := NewOfSource(src, n, encoding.NewIdentity(k, bound, t.Enc.Intercept))
	if err != nil {
		return nil, err
	}
	p.Persons, p.Layout = t.Persons, blocks.NewLayout(t.Len(), k, false, t.Persons)
	return p, nil
}
