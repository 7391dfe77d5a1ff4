package rows

import "gonum.org/v1/gonum/floats"

// Projection is a public linear map of encoded rows, the intercept excepted.
type Projection interface {
	Dims() (k, d int)
	Apply(dst, x []float64)
	ApplySparse(dst []float64, indices []int, values []float64)
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
