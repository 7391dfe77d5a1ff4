package questions

import (
	"context"
	"encoding/gob"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/curator/internal/rows"
	"github.com/dpglm/dpglm/internal/kernel"
)

// moments asks for Σᵢ xᵢxᵢᵀ over the bounded rows, Dim×Dim.
type moments struct{ rows.Nothing }

func (*moments) cut(t *rows.Table) rows.Cut { return t.InMoments(t.Enc.Dim()) }

func (*moments) adder(s *Sums) rows.Adder {
	return rows.MomentsAdder(s.t, func(weights []float64, _ rows.Tile, _ int) {
		for k := range weights {
			weights[k] = 1
		}
	})
}

// sumMoments is sum for second moments.
func sumMoments(ctx context.Context, s *Sums, q asked) (*mat.SymDense, error) {
	total := kernel.NewMoments(q.cut(s.t).Dim)
	err := s.sum(ctx, total.Sum, q)
	return symmetric(total), err
}

// symmetric is the matrix of a sum.
func symmetric(total *kernel.Moments) *mat.SymDense {
	var m mat.SymDense
	m.SetRawSymmetric(blas64.Symmetric{N: total.Dim, Stride: total.Stride, Data: total.Sum, Uplo: blas.Upper})
	return &m
}

// Quadratic answers with the gradient sum of the squared loss without clip, in
// O(Dim²) for each w, from second moments and the gradient sum at zero.
type Quadratic struct {
	s       *Sums
	stride  int
	moments []float64 // both triangles, rows stride apart
	atZero  []float64
}

// NewQuadratic forms the moments, in two passes. The loss must be losses.Squared.
func NewQuadratic(ctx context.Context, s *Sums) (*Quadratic, error) {
	dim := s.Dim()
	q := &Quadratic{s: s, atZero: make([]float64, dim)}
	if err := s.Gradient(ctx, q.atZero, make([]float64, dim), math.Inf(1)); err != nil {
		return nil, err
	}
	m, err := sumMoments(ctx, s, &moments{})
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
	kernel.Dots(dst, q.moments, q.stride, w)
	for j, v := range q.atZero {
		dst[j] += v
	}
}

// Sensitivity bounds the L2 distance between Gradient's answers at a w of norm r
// on neighbouring tables, as computed. In exact arithmetic the answer is the
// gradient sum. To what GradientSensitivity counts for the sum at zero, rounding
// adds that of the moments, times r, and that of the product and its sum with the
// one at zero: (Dim+2)·u·n·X·(X·r + S₀) in each answer, S₀ the largest slope at
// zero weights, of the offsets there are.
func (q *Quadratic) Sensitivity(r float64) float64 {
	b := q.s.Bounds()
	n, dim, x := float64(q.s.Len()), float64(q.s.Dim()), b.FeatureBound()
	product := (dim + 2) * n * x * (float64(x*r) + b.Constants(0).Slope)
	return b.GradientSensitivity(r, math.Inf(1)) + float64(r*b.momentsRounding()) + float64(2.2*encoding.Unit*product)
}

func init() {
	gob.Register(&moments{})
}
