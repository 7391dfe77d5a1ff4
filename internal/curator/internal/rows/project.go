package rows

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// Projection is a public linear map of encoded rows, the intercept excepted.
type Projection interface {
	Dims() (k, d int)
	Apply(dst, x []float64)
	ApplySparse(dst []float64, indices []int, values []float64)
}

// keepNumbers is the size up to which projected rows are kept: 1 GiB. Larger ones
// are projected anew in each pass.
const keepNumbers = 1 << 27

// Project returns the table of the rows Φu, u the encoded rows without intercept,
// scaled down to the bound where they are longer, so that the bound holds for
// any row and map. The intercept stays.
func (t *Table) Project(ctx context.Context, phi Projection, bound float64) (*Table, error) {
	if t.Place != nil {
		return t.projectStored(ctx, phi, bound)
	}
	return t.ProjectKeeping(ctx, phi, bound, keepNumbers)
}

func (t *Table) ProjectKeeping(ctx context.Context, phi Projection, bound float64, keep int) (*Table, error) {
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

// projected is the source of projected rows.
type projected struct {
	t   *Table
	phi Projection
}

func (p projected) Tile(lo, hi int, buf []float64) Tile {
	a := p.t.Acquire()
	defer p.t.Release(a)
	if need := (hi - lo) * p.t.Enc.Columns; len(a.Buf) < need && !p.t.IsSparse() {
		a.Buf = make([]float64, need)
	}
	k, _ := p.phi.Dims()
	p.draw(a, buf, p.t.Src.Tile(lo, hi, a.Buf), lo)
	return Tile{Rows: hi - lo, cols: k, Stride: k, Data: buf}
}

// draw writes the images of a tile that starts at row lo, one after the other.
func (p projected) draw(a *Workspace, dst []float64, tile Tile, lo int) {
	k, _ := p.phi.Dims()
	a.Row = Room(a.Row, p.t.Enc.Dim())
	for i := range tile.Rows {
		p.project(dst[i*k:(i+1)*k], tile, lo, i, a.Row)
	}
}

// project writes the image of row i of a tile that starts at row lo.
func (p projected) project(dst []float64, tile Tile, lo, i int, row []float64) {
	if !tile.Sparse || p.t.Enc.Scale != nil {
		p.t.Encode(row, tile, lo, i)
		p.phi.Apply(dst, row[:p.t.Enc.Columns])
		return
	}
	p.phi.ApplySparse(dst, tile.Indices[tile.Start[i]:tile.End[i]], tile.Data[tile.Start[i]:tile.End[i]])
	floats.Scale(Factor(p.t.Shrink, lo+i), dst)
}

func (p projected) pick(order []int) source {
	return projected{p.t.arrange(len(order), order, nil), p.phi}
}
