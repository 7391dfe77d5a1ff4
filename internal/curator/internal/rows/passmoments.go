package rows

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Weigh sets weights to those of the rows of a tile that starts at row lo.
type Weigh func(weights []float64, tile Tile, lo int)

// MomentsAdder adds Σᵢ weights_i·xᵢxᵢᵀ, with weights of 0 or
// more. It takes O(n·Dim²) time, less for sparse rows without a schema, and for each
// goroutine Dim² numbers.
func MomentsAdder(t *Table, f Weigh) Adder {
	l := t.Layout.Moments(t.Enc.Dim())
	return func(a *Workspace, tile Tile, lo int) {
		a.MomentsRoom(t, l, t.Enc.Dim()).add(t, tile, lo, f)
	}
}

// InMoments is the cut of dim×dim second moments.
func (t *Table) InMoments(dim int) Cut {
	return Cut{t.Layout.Moments(t.Enc.Dim()), len(kernel.NewMoments(dim).Sum), dim}
}

// MomentsRoom is the workspace's for a block's sum.
func (a *Workspace) MomentsRoom(t *Table, l blocks.Layout, dim int) *momentsRoom {
	if m := a.moments; m == nil || m.Sum.Dim != dim || len(m.Weights) != l.TileRows || len(m.Row) != t.Enc.Dim() {
		of := *kernel.NewMoments(dim)
		a.moments = &momentsRoom{Weights: make([]float64, l.TileRows), Norms: make([]float64, l.TileRows), Row: make([]float64, t.Enc.Dim()), Open: make([]float64, t.Enc.Dim()+1),
			Encoded: make([]float64, l.TileRows*of.Stride), Sum: kernel.Moments{Dim: dim, Stride: of.Stride}}
	}
	a.moments.Sum.Sum = a.Sum
	return a.moments
}

// mostHeld is how many rows of a person are held before they are added up.
const mostHeld = 128

// Hold is room for one more row of a person, of zeros. Of more than mostHeld the products are added up.
func (a *momentsRoom) Hold() []float64 {
	stride := a.Sum.Stride
	if len(a.Held) == mostHeld*stride {
		if a.Folded == nil {
			a.Folded = kernel.NewMoments(a.Sum.Dim)
		}
		a.Folded.AddRows(a.Held, mostHeld)
		a.Held = a.Held[:0]
	}
	from := len(a.Held)
	a.Held = append(a.Held, make([]float64, stride)...)
	return a.Held[from : from+a.Sum.Dim]
}

// AddHeld adds the products of a person's rows, times a factor.
func (a *momentsRoom) AddHeld(factor float64) {
	if a.Folded != nil {
		a.Folded.AddRows(a.Held, len(a.Held)/a.Sum.Stride)
		floats.Scale(factor, a.Folded.Sum)
		a.Sum.Add(a.Folded)
	} else {
		if factor < 1 {
			floats.Scale(math.Sqrt(factor), a.Held)
		}
		a.Sum.AddRows(a.Held, len(a.Held)/a.Sum.Stride)
	}
	a.Held, a.Folded = a.Held[:0], nil
}

// add adds the moments of the rows of a tile, in their order.
func (a *momentsRoom) add(t *Table, tile Tile, lo int, f Weigh) {
	weights := a.Weights[:tile.Rows]
	f(weights, tile, lo)
	t.Persons.Weigh(weights, lo)
	if tile.Sparse && t.Enc.Scale == nil && ScatterPays(t, tile) {
		a.scatter(t, tile, lo, weights)
		return
	}
	kept := 0
	for k, weight := range weights {
		if weight != 0 {
			u := a.Encoded[kept*a.Sum.Stride:][:a.Sum.Dim]
			t.Encode(u, tile, lo, k)
			floats.Scale(math.Sqrt(weight), u)
			kept++
		}
	}
	a.Sum.AddRows(a.Encoded, kept)
}

func (a *momentsRoom) scatter(t *Table, tile Tile, lo int, weights []float64) {
	for k, weight := range weights {
		if weight == 0 {
			continue
		}
		a.values = append(a.values[:0], tile.Data[tile.Start[k]:tile.End[k]]...)
		a.columns = append(a.columns[:0], tile.Indices[tile.Start[k]:tile.End[k]]...)
		floats.Scale(Factor(t.Shrink, lo+k), a.values)
		if t.Enc.Intercept {
			a.values, a.columns = append(a.values, t.Enc.Constant), append(a.columns, t.Enc.Columns)
		}
		floats.Scale(math.Sqrt(weight), a.values)
		a.Sum.AddSparse(a.columns, a.values)
	}
}

// ScatterPays reports whether the rows of a sparse tile are so sparse that adding the
// products of their entries one by one takes less time than full rows do.
func ScatterPays(t *Table, tile Tile) bool {
	const perProduct = 8 // products of full rows in the time of one by itself
	products, dim := 0, t.Enc.Dim()
	for k := range tile.Rows {
		entries := tile.End[k] - tile.Start[k] + dim - t.Enc.Columns
		products += entries * entries
	}
	return perProduct*products < tile.Rows*dim*dim
}
