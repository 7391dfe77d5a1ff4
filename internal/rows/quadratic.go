package rows

import (
	"context"
	"math"
)

// Quadratic answers with the gradient sum of the squared loss without clip, in
// O(Dim²) for each w, from second moments and the gradient sum at zero.
type Quadratic struct {
	s       *Sums
	stride  int
	moments []float64 // both triangles, rows stride apart
	atZero  []float64
}

// Quadratic forms the moments, in two passes. The loss must be losses.Squared.
func (s *Sums) Quadratic(ctx context.Context) (*Quadratic, error) {
	dim := s.Dim()
	q := &Quadratic{s: s, atZero: make([]float64, dim)}
	if err := s.Gradient(ctx, q.atZero, make([]float64, dim), math.Inf(1)); err != nil {
		return nil, err
	}
	m, err := s.t.Moments(ctx, nil)
	if err != nil {
		return nil, err
	}
	upper := m.RawSymmetric()
	q.stride, q.moments = upper.Stride, upper.Data
	for j := range dim {
		for k := range j {
			q.moments[j*q.stride+k] = q.moments[k*q.stride+j]
		}
	}
	return q, nil
}

// Gradient sets dst to the gradient sum at w, moments·w + atZero.
func (q *Quadratic) Gradient(dst, w []float64) {
	tile{rows: len(w), cols: len(w), data: q.moments, stride: q.stride}.dot(dst, w)
	for j, v := range q.atZero {
		dst[j] += v
	}
}

// Sensitivity bounds the L2 distance between Gradient's answers at a w of norm r
// on neighbouring tables, as computed. In exact arithmetic the answer is the
// gradient sum. Rounding adds, with m rows a block and B blocks, to what
// GradientSensitivity counts for the sum at zero:
//
//   - the moments of the block with the replaced row are off by γ_m·m·X², and
//     each of the B merges by u·n·X², in Frobenius norm, so that their product
//     with w moves by r times twice that;
//   - encoding a row is off by a few units relative to the magnitude of its raw
//     terms, for both rows;
//   - the product and its sum with the one at zero are off by
//     (Dim+2)·u·n·X·(X·r + S₀) in each answer, S₀ the largest slope at zero.
func (q *Quadratic) Sensitivity(r float64) float64 {
	e, l := &q.s.t.enc, q.s.t.momentsLayout()
	n, m, blocks, dim := float64(l.n), float64(l.blockRows()), float64(l.blocks), float64(e.Dim())
	x := e.FeatureBound()
	product := (dim + 2) * n * x * (x*r + q.s.loss.Constants(0, q.s.labelBound).Slope)
	sums := 2.2 * unit * (x*x*r*(m*m+blocks*n) + product)
	encoding := 2 * 16 * unit * e.Offset() * x * x * r
	return q.s.GradientSensitivity(r, math.Inf(1)) + sums + encoding
}
