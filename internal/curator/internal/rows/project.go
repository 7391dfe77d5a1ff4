package rows

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
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
	return t.project(ctx, phi, bound, keepNumbers)
}

func (t *Table) project(ctx context.Context, phi Projection, bound float64, keep int) (*Table, error) {
	k, _ := phi.Dims()
	n := t.Rows()
	var src source = newProjected(t, phi)
	if n*k <= keep {
		kept := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
		err := inOrder(ctx, t.layout.blocks, func() bool { return true }, func(bool) {},
			func(b int, _ bool) {
				t.layout.eachTile(b, func(lo, hi int) { src.tile(lo, hi, kept.Data[lo*k:hi*k]) })
			},
			func(int, bool) {})
		if err != nil {
			return nil, err
		}
		src = denseSource{m: kept}
	}
	return newTable(src, n, NewIdentity(k, bound, t.enc.Intercept))
}

// projected is the source of projected rows.
type projected struct {
	t       *Table
	phi     Projection
	scratch *sync.Pool // of the original's buffers and one encoded row
}

type projectedScratch struct{ buf, row []float64 }

func newProjected(t *Table, phi Projection) projected {
	pool := &sync.Pool{New: func() any { return &projectedScratch{row: make([]float64, t.enc.Dim())} }}
	return projected{t, phi, pool}
}

func (p projected) tile(lo, hi int, buf []float64) tile {
	s := p.scratch.Get().(*projectedScratch)
	defer p.scratch.Put(s)
	if need := (hi - lo) * p.t.enc.Columns; len(s.buf) < need && !p.t.isSparse() {
		s.buf = make([]float64, need)
	}
	k, _ := p.phi.Dims()
	rows := p.t.src.tile(lo, hi, s.buf)
	for i := range rows.rows {
		p.project(buf[i*k:(i+1)*k], rows, lo, i, s.row)
	}
	return tile{rows: rows.rows, cols: k, stride: k, data: buf}
}

// project writes the image of row i of a tile that starts at row lo.
func (p projected) project(dst []float64, rows tile, lo, i int, row []float64) {
	if !rows.sparse || p.t.enc.Scale != nil {
		p.t.encode(row, rows, lo, i)
		p.phi.Apply(dst, row[:p.t.enc.Columns])
		return
	}
	p.phi.ApplySparse(dst, rows.indices[rows.start[i]:rows.end[i]], rows.data[rows.start[i]:rows.end[i]])
	if p.t.shrink != nil {
		scale(dst, p.t.shrink[lo+i])
	}
}

func (p projected) pick(order []int) source { return newProjected(p.t.Pick(order), p.phi) }
