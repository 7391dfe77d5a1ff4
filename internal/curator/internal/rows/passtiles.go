package rows

import (
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/internal/vector"
)

// Score sets z to the scores of the bounded rows of a tile that starts at row lo.
// The operations on a row are the same whether or not any row is shrunk: one row
// must not change the rounding of the others.
func (t *Table) Score(z []float64, tile Tile, lo int, f *encoding.Folded) {
	tile.Dot(z, f.V)
	t.place(z, lo, f)
}

// place turns products with raw rows into scores.
func (t *Table) place(z []float64, lo int, f *encoding.Folded) {
	if t.Shrink == nil {
		for k := range z {
			z[k] = (z[k] + f.Offset) + f.Intercept
		}
		return
	}
	for k, s := range t.Shrink[lo : lo+len(z)] {
		z[k] = float64(s*(z[k]+f.Offset)) + f.Intercept
	}
}

// AddTile adds Σ e_k x_k over the raw rows of a tile to g, e_k being c_k times the row's
// factor, and behind it Σ e_k and Σ c_k; c is overwritten.
func (t *Table) AddTile(g, c []float64, tile Tile, lo int) {
	t.weighTile(g, c, lo)
	tile.addScaled(g, c)
}

// weighTile turns c_k into e_k and adds both up behind the sum g.
func (t *Table) weighTile(g, c []float64, lo int) {
	p := t.Enc.Columns
	if t.Enc.Intercept {
		g[p+1] += vector.Sum(c)
	}
	if t.Shrink != nil {
		for k, s := range t.Shrink[lo : lo+len(c)] {
			c[k] *= s
		}
	}
	if t.Enc.Scale != nil {
		g[p] += vector.Sum(c)
	}
}

// ScoreMany is Score for all that FoldAll wrote, whose scores stand one after the other.
func (t *Table) ScoreMany(z []float64, tile Tile, lo int, fs []encoding.Folded, v []float64) {
	n := tile.Rows
	if !tile.Sparse {
		kernel.DotsMany(z, tile.Data, tile.Stride, v, tile.cols)
	}
	for j := range fs {
		z := z[j*n : (j+1)*n]
		if tile.Sparse {
			tile.Dot(z, fs[j].V)
		}
		t.place(z, lo, &fs[j])
	}
}

// AddTiles is AddTile for several sums, that begin so far apart, and whose c stand one after
// the other.
func (t *Table) AddTiles(g []float64, apart int, c []float64, tile Tile, lo int) {
	n := tile.Rows
	for j := 0; j*n < len(c); j++ {
		t.weighTile(g[j*apart:], c[j*n:(j+1)*n], lo)
		if tile.Sparse {
			tile.addScaled(g[j*apart:], c[j*n:(j+1)*n])
		}
	}
	if !tile.Sparse {
		kernel.AddScaledMany(g, apart, tile.cols, tile.Data, tile.Stride, c, n)
	}
}
