package kernel

import "math"

// momentsWidth is what numbers of columns are rounded up to.
const momentsWidth = 8

// Moments is the upper triangle of a sum Σ xᵣxᵣᵀ, dim×dim. Each element gets one
// fused multiply-add for each row, in the order of the rows, so that its bits depend
// on the rows alone.
type Moments struct {
	Dim int
	// Stride is how far apart the rows of the triangle lie, and those that AddRows
	// takes: at least Dim, and an odd number of widths, so that rows don't compete
	// for the same places of a cache.
	Stride int
	// Sum has element j, k at j·Stride + k, and nothing of use below the diagonal
	// and beyond Dim.
	Sum []float64
}

// NewMoments returns a sum over no rows.
func NewMoments(dim int) *Moments {
	widths := (dim + momentsWidth - 1) / momentsWidth
	stride := (widths | 1) * momentsWidth
	return &Moments{dim, stride, make([]float64, widths*momentsWidth*stride)}
}

// Add adds the sum of other.
func (m *Moments) Add(other *Moments) {
	for j := range m.Dim {
		sum := m.Sum[j*m.Stride+j : j*m.Stride+m.Dim]
		for k, v := range other.Sum[j*m.Stride+j : j*m.Stride+m.Dim] {
			sum[k] += v
		}
	}
}

// AddSparse adds xxᵀ for the row x with the given values in the given columns, which
// increase. The result is that of AddRows: the product with an absent zero changes
// nothing.
func (m *Moments) AddSparse(columns []int, values []float64) {
	values = values[:len(columns)]
	for i, j := range columns {
		row, v := m.Sum[j*m.Stride:][:m.Dim], values[i]
		for k := i; k < len(columns); k++ {
			at := &row[columns[k]]
			*at = math.FMA(v, values[k], *at)
		}
	}
}

// panel is how many columns a run of blocks has in common: their part of the rows
// stays in the first cache.
const panel = 3 * momentsWidth

// AddRows adds Σ xᵣxᵣᵀ for the first rows of a, whose row r is a[r·Stride:][:Dim],
// with zeros from there to the next row.
func (m *Moments) AddRows(a []float64, rows int) {
	if rows == 0 {
		return
	}
	columns := len(m.Sum) / m.Stride
	_ = a[(rows-1)*m.Stride+columns-1]
	for k := 0; k < columns; k += panel {
		end := min(k+panel, columns)
		for j := 0; j < end; j += momentsWidth {
			left := max(j, k) // the diagonal cuts the last blocks of a panel
			addMoments(m.Sum[j*m.Stride+left:], a[j:], a[left:], m.Stride, rows, end-left)
		}
	}
}

// addMomentsGo adds Σ xᵣ[i]·yᵣ[j] to c[i·stride+j] for i < momentsWidth and
// j < width, rows of x, y and c lying stride apart. addMoments is it, or the
// same in other instructions.
func addMomentsGo(c, x, y []float64, stride, rows, width int) {
	for i := 0; i < momentsWidth; i += 2 {
		for j := 0; j < width; j += 4 {
			addMoments2x4(c[i*stride+j:], x[i:], y[j:], stride, rows)
		}
	}
}

func addMoments2x4(c, x, y []float64, stride, rows int) {
	top, bottom := c[:4], c[stride:stride+4]
	s0, s1, s2, s3 := top[0], top[1], top[2], top[3]
	t0, t1, t2, t3 := bottom[0], bottom[1], bottom[2], bottom[3]
	for r := range rows {
		at := r * stride
		u, v := x[at:at+2:at+2], y[at:at+4:at+4]
		a, b := u[0], u[1]
		s0, s1 = math.FMA(a, v[0], s0), math.FMA(a, v[1], s1)
		s2, s3 = math.FMA(a, v[2], s2), math.FMA(a, v[3], s3)
		t0, t1 = math.FMA(b, v[0], t0), math.FMA(b, v[1], t1)
		t2, t3 = math.FMA(b, v[2], t2), math.FMA(b, v[3], t3)
	}
	top[0], top[1], top[2], top[3] = s0, s1, s2, s3
	bottom[0], bottom[1], bottom[2], bottom[3] = t0, t1, t2, t3
}
