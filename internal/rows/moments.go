package rows

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"
)

// momentsWorkspace is what one goroutine needs for second moments.
type momentsWorkspace struct {
	buf     []float64
	encoded []float64 // a tile of encoded rows, times the roots of their weights
	sum     []float64 // upper triangle of Σ, dim×dim
}

// Moments returns Σᵢ weights_i·xᵢxᵢᵀ over the bounded rows, Dim×Dim; nil weights
// are ones, others must not be negative. It takes O(n·Dim²) time and, for each
// goroutine, Dim² numbers.
func (t *Table) Moments(ctx context.Context, weights []float64) (*mat.SymDense, error) {
	dim := t.enc.Dim()
	total := make([]float64, dim*dim)
	l := t.momentsLayout()
	acquire := func() *momentsWorkspace {
		return &momentsWorkspace{t.buffer(), make([]float64, l.tileRows*dim), make([]float64, dim*dim)}
	}
	err := inOrder(ctx, l.blocks, acquire, func(*momentsWorkspace) {},
		func(b int, a *momentsWorkspace) {
			clear(a.sum)
			l.eachTile(b, func(lo, hi int) { t.momentsTile(a, lo, hi, weights) })
		},
		func(_ int, a *momentsWorkspace) {
			for i, v := range a.sum {
				total[i] += v
			}
		})
	if err != nil {
		return nil, err
	}
	return mat.NewSymDense(dim, total), nil
}

// momentsLayout has fewer blocks than a gradient's: merging one costs dim².
func (t *Table) momentsLayout() layout {
	return t.layout.cut(min(max(t.layout.n/(4*t.enc.Dim()), 2), maxBlocks))
}

func (t *Table) momentsTile(a *momentsWorkspace, lo, hi int, weights []float64) {
	dim := t.enc.Dim()
	rows := t.src.tile(lo, hi, a.buf)
	kept := 0
	for k := range rows.rows {
		if weights != nil && weights[lo+k] == 0 {
			continue
		}
		u := a.encoded[kept*dim : (kept+1)*dim]
		t.encode(u, rows, lo, k)
		if weights != nil {
			kernel.Dscal(dim, math.Sqrt(weights[lo+k]), u, 1)
		}
		kept++
	}
	kernel.Dsyrk(blas.Upper, blas.Trans, dim, kept, 1, a.encoded, dim, 1, a.sum, dim)
}

// MomentsGradient sets dst to moments·w + atZero: the gradient sum of the
// squared loss without clip, from the second moments of the rows and the
// gradient sum at zero, in O(Dim²).
func MomentsGradient(dst []float64, moments *mat.SymDense, atZero, w []float64) {
	a := moments.RawSymmetric()
	copy(dst, atZero)
	kernel.Dsymv(blas.Upper, a.N, 1, a.Data, a.Stride, w, 1, 1, dst, 1)
}

// MomentsGradientSensitivity bounds the L2 distance between MomentsGradient's
// answers at a w of norm r on neighbouring tables, as computed. In exact
// arithmetic the answer is the gradient sum. Rounding adds, with m rows a block
// and B blocks, to what GradientSensitivity counts for the sum at zero:
//
//   - the moments of the block with the replaced row are off by γ_m·m·X², and
//     each of the B merges by u·n·X², in Frobenius norm, so that their product
//     with w moves by r times twice that;
//   - encoding a row is off by a few units relative to the magnitude of its raw
//     terms, for both rows;
//   - the product and its sum with the one at zero are off by
//     (Dim+2)·u·n·X·(X·r + S₀) in each answer, S₀ the largest slope at zero.
func (s *Sums) MomentsGradientSensitivity(r float64) float64 {
	l := s.t.momentsLayout()
	n, m, blocks, dim := float64(l.n), float64(l.blockRows()), float64(l.blocks), float64(s.t.enc.Dim())
	x := s.t.enc.FeatureBound()
	product := (dim + 2) * n * x * (x*r + s.loss.Constants(0, s.labelBound).Slope)
	sums := 2.2 * unit * (x*x*r*(m*m+blocks*n) + product)
	encoding := 2 * 16 * unit * s.t.enc.Offset() * x * x * r
	return s.GradientSensitivity(r, math.Inf(1)) + sums + encoding
}
