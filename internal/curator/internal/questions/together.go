package questions

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
)

// Where each row counts, what a person adds to a sum isn't an average of what single rows add, but their sum, and has to
// be held as a whole: a gradient Σ cᵢ(x̃ᵢ, k) over the person's rows to a length C, second moments Σ f²ᵢx̃ᵢx̃ᵢᵀ to R² in
// Frobenius norm. What a person adds is then as long as what a row adds that is a person's only one, and neighbours are as
// far apart, however many rows there are. These count Frame.Each times their weights, and are held to the same
// bounds one by one before they are added up, so that the rounding of others' sums has a bound, too
// (blocks.Layout.Terms).

// bundle adds up persons' gradients in a frame, of one column of scores or several.
type bundle struct {
	t                     *rows.Table
	m                     *frameMap
	clip, constant, apart float64 // a Slope's
	classes               int
	norms                 []float64 // beside rows' |φ'|: see frameNorms.beside
}

// stride is how far the columns' sums of a person lie apart: those of combine, and the bound on the lengths
// of rows' terms at the end of all.
func (c *bundle) stride() int { return c.m.enc.Columns + 4 }

// add implements together.
func (c *bundle) add(open *rows.Open, sum, z, beside []float64, tile rows.Tile, lo int) {
	n := tile.Rows
	c.t.Persons.Runs(lo, n, func(from, to int, ends bool) {
		if ends && open.Rows == 0 && c.within(z, beside, from-lo, to-lo, n, lo) {
			return
		}
		c.take(open, z, beside, tile, lo, from, to)
		for k := range c.classes {
			clear(z[k*n+from-lo : k*n+to-lo])
			clear(beside[k*n+from-lo : k*n+to-lo])
		}
		if ends {
			c.close(open, sum)
		}
	})
}

// missed bounds what rounding may hide of the sum of so many rows' terms, over the sum of their coefficients: what
// measure's comment says of a row's norm holds of each, and each addition of one may round once more.
func (c *bundle) missed(rows int) float64 {
	return float64(float64(1+rows) * (c.m.missed() + float64(8*encoding.Unit*c.constant)))
}

// within reports whether a person's gradient is no longer than it may be, as its rows' lengths tell: where it is,
// length isn't longer either, so that it doesn't matter whether a tile cuts the person's rows.
func (c *bundle) within(z, beside []float64, from, to, n, lo int) bool {
	if to-from == 1 { // which its own clip holds
		return true
	}
	var total, apart float64
	for i := from; i < to; i++ {
		total += float64(columnLength(z, i, n) * (c.norms[lo+i] + float64(2*c.missed(to-from))))
		apart += math.Abs(beside[i])
	}
	room := 1 + float64(float64(2*(to-from+c.classes*(c.m.enc.Columns+1)+16))*encoding.Unit)
	return float64(total*room) < c.clip && (c.apart == 0 || float64(apart*room) < c.apart)
}

// columnLength is the norm of number i of each column, n apart.
func columnLength(z []float64, i, n int) float64 {
	if len(z) == n {
		return math.Abs(z[i])
	}
	var square float64
	for ; i < len(z); i += n {
		square += float64(z[i] * z[i])
	}
	return math.Sqrt(square)
}

// take adds the rows [from, to) of a tile to the open person's sum, one by one: where tiles cut a person's rows depends on
// others' rows, and must not show in a bit of the sum, as a length may be at an edge.
func (c *bundle) take(open *rows.Open, z, beside []float64, tile rows.Tile, lo, from, to int) {
	n, stride := tile.Rows, c.stride()
	if open.Rows == 0 {
		open.Sum = rows.Zeros(open.Sum, c.classes*stride+1)
	}
	for i := from - lo; i < to-lo; i++ {
		open.Sum[c.classes*stride] += columnLength(z, i, n)
	}
	for i := from - lo; i < to-lo; i++ {
		row := tile.Part(i, i+1)
		for k := range c.classes {
			of, z := open.Sum[k*stride:(k+1)*stride], z[k*n+i:k*n+i+1]
			of[stride-2] += z[0]
			of[stride-1] += beside[k*n+i]
			c.t.AddTile(of, z, row, lo+i)
		}
	}
	open.Rows += to - from
}

// shortening is what is multiplied by, of a length, to be held to a clip.
func shortening(length, clip float64) float64 {
	if !(length <= clip) {
		return clip / length
	}
	return 1
}

// close adds the open person's sum to the others', held.
func (c *bundle) close(open *rows.Open, sum []float64) {
	stride := c.stride()
	factor := shortening(c.length(open), c.clip)
	apart := factor
	if c.apart > 0 {
		apart = shortening(math.Abs(open.Sum[stride-1]), c.apart)
	}
	for k := range c.classes {
		of, to := open.Sum[k*stride:(k+1)*stride], sum[k*stride:(k+1)*stride]
		for j, v := range of[:stride-1] {
			to[j] += float64(factor * v)
		}
		to[stride-1] += float64(apart * of[stride-1])
	}
	open.Rows = 0
}

// length bounds the length of the open person's gradient. It depends on that person's rows only.
func (c *bundle) length(open *rows.Open) float64 {
	m, stride := c.m, c.stride()
	var square float64
	g := make([]float64, m.enc.Dim())
	for k := range c.classes {
		of := open.Sum[k*stride : (k+1)*stride]
		m.enc.Unfold(g, of[:stride-4], of[stride-4], of[stride-3])
		for j, v := range m.Centre {
			g[j] -= float64(v * of[stride-2])
		}
		for _, v := range m.into(g[:m.enc.Columns]) {
			square += float64(v * v)
		}
		if c.apart == 0 && c.constant > 0 {
			b := c.constant * of[stride-1]
			square += float64(b * b)
		}
	}
	up := 1 + float64(2*encoding.Unit*float64((m.enc.Columns+1)*c.classes+16))
	return float64(math.Sqrt(square)*up) + float64(c.missed(open.Rows)*open.Sum[c.classes*stride])
}

// lengths calls tell with the length of each person's gradient whose rows end in a tile, before it is held.
func (c *bundle) lengths(open *rows.Open, z, beside []float64, tile rows.Tile, lo int, tell func(length float64)) {
	n := tile.Rows
	c.t.Persons.Runs(lo, n, func(from, to int, ends bool) {
		if ends && open.Rows == 0 && to-from == 1 {
			tell(columnLength(z, from-lo, n) * c.norms[from])
			return
		}
		if c.take(open, z, beside, tile, lo, from, to); ends {
			tell(c.length(open))
			open.Rows = 0
		}
	})
}

// squares adds up bounds on ‖Σ vvᵀ‖, in Frobenius norm, of the vectors v of each person's rows: f·(x̃, constant).
type squares struct {
	m        *frameMap
	constant float64
	*rows.Squares
}

// mostKept is how many vectors are kept. Of more the bound is the sum of the bounds of so many each.
const mostKept = 128

// add takes a row's features x − m.
func (s squares) add(features []float64, f float64) {
	from := len(s.Kept)
	for _, x := range s.m.into(append([]float64(nil), features...)) {
		s.Kept = append(s.Kept, float64(f*x))
	}
	s.Kept = append(s.Kept, float64(f*s.constant))
	hidden := float64(f * (s.m.missed() + float64(8*encoding.Unit*s.constant)))
	s.Missed += float64(hidden * (float64(2*euclid(s.Kept[from:])) + hidden))
	if s.Rows++; s.Rows%mostKept == 0 {
		s.fold()
	}
}

func euclid(v []float64) float64 {
	var square float64
	for _, x := range v {
		square += float64(x * x)
	}
	return math.Sqrt(square)
}

// fold adds the norm of what is kept to the bound: ‖Σ vvᵀ‖² is the sum of the squares of all products ⟨v, w⟩.
func (s squares) fold() {
	width := s.m.dim + 1
	n := len(s.Kept) / width
	products := make([]float64, n)
	var total float64
	for i := range n {
		kernel.Dots(products[i:], s.Kept[i*width:], width, s.Kept[i*width:(i+1)*width])
		total += float64(products[i] * products[i])
		for _, v := range products[i+1:] {
			total += 2 * float64(v*v)
		}
	}
	s.Bound += float64(math.Sqrt(total) * (1 + float64(4*encoding.Unit*float64(width+n*n+16))))
	s.Kept = s.Kept[:0]
}

// end returns the bound for all vectors of a person, and begins anew.
func (s squares) end() float64 {
	s.fold()
	bound := float64(s.Bound*(1+float64(2*encoding.Unit*float64(s.Rows)))) + s.Missed
	s.Bound, s.Missed, s.Rows = 0, 0, 0
	return bound
}
