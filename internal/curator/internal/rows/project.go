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
	if t.stored != nil {
		return t.projectStored(ctx, phi, bound)
	}
	return t.project(ctx, phi, bound, keepNumbers)
}

func (t *Table) project(ctx context.Context, phi Projection, bound float64, keep int) (*Table, error) {
	k, _ := phi.Dims()
	n := len(t.length)
	images := projected{t, phi}
	var src source = images
	if n*k <= keep {
		kept := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
		err := t.pass(ctx, nil, func(*part) adder {
			return func(a *workspace, rows tile, lo int) {
				images.draw(a, kept.Data[lo*k:(lo+rows.rows)*k], rows, lo)
			}
		})

		if err != nil {
			return nil, err
		}
		src = denseSource{m: kept}
	}
	p, err := newTable(src, n, encoding.NewIdentity(k, bound, t.enc.Intercept))
	if err != nil {
		return nil, err
	}
	p.Persons, p.layout = t.Persons, blocks.NewLayout(t.Len(), k, false, t.Persons)
	return p, nil
}

// projected is the source of projected rows.
type projected struct {
	t   *Table
	phi Projection
}

func (p projected) tile(lo, hi int, buf []float64) tile {
	a := p.t.acquire()
	defer p.t.release(a)
	if need := (hi - lo) * p.t.enc.Columns; len(a.buf) < need && !p.t.isSparse() {
		a.buf = make([]float64, need)
	}
	k, _ := p.phi.Dims()
	p.draw(a, buf, p.t.src.tile(lo, hi, a.buf), lo)
	return tile{rows: hi - lo, cols: k, stride: k, data: buf}
}

// draw writes the images of a tile that starts at row lo, one after the other.
func (p projected) draw(a *workspace, dst []float64, rows tile, lo int) {
	k, _ := p.phi.Dims()
	a.row = room(a.row, p.t.enc.Dim())
	for i := range rows.rows {
		p.project(dst[i*k:(i+1)*k], rows, lo, i, a.row)
	}
}

// project writes the image of row i of a tile that starts at row lo.
func (p projected) project(dst []float64, rows tile, lo, i int, row []float64) {
	if !rows.sparse || p.t.enc.Scale != nil {
		p.t.encode(row, rows, lo, i)
		p.phi.Apply(dst, row[:p.t.enc.Columns])
		return
	}
	p.phi.ApplySparse(dst, rows.indices[rows.start[i]:rows.end[i]], rows.data[rows.start[i]:rows.end[i]])
	floats.Scale(factor(p.t.shrink, lo+i), dst)
}

func (p projected) pick(order []int) source {
	return projected{p.t.arrange(len(order), order, nil), p.phi}
}
