package questions

import (
	"context"
	"encoding/gob"
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/kernel"
	"github.com/dpglm/dpglm/losses"
)

// Gradient sets dst to Σᵢ φ'(⟨w, xᵢ⟩)xᵢ, each row's term scaled down to norm
// clip where it is longer. clip = +Inf is no clip. dst and w have Dim numbers.
func (s *Sums) Gradient(ctx context.Context, dst, w []float64, clip float64) error {
	_, _, err := s.combine(ctx, dst, &gradient{w, clip})
	return err
}

// gradient asks for Gradient.
type gradient struct {
	W    []float64
	Clip float64
}

func (q *gradient) weights() []float64 { return q.W }
func (q *gradient) atOnce() atOnce     { return logisticAtOnce(q.Clip) }
func (*gradient) totals() bool         { return false }

func (q *gradient) coefficients(s *Sums) coefficients {
	return func(z, _ []float64, lo int) {
		s.slopes(z, lo)
		if !math.IsInf(q.Clip, 1) {
			kernel.Clip(z, s.t.Norm[lo:lo+len(z)], q.Clip)
		}
	}
}

// slopes turns the scores ⟨w, xᵢ⟩ of the rows from lo on into φ' at these and the offsets.
func (s *Sums) slopes(z []float64, lo int) {
	s.addOffsets(z, lo)
	derivs(s.loss, z, s.labels[lo:lo+len(z)])
}

// GradientSensitivity bounds the L2 distance between Gradient's answers at a w
// of norm r on two tables that differ in one row, as computed in floating
// point. It uses public numbers only.
//
// In exact arithmetic the distance is at most X·Diameter(X·r), the loss's
// gradient diameter, and at most 2·clip: clipping a gradient is projecting it
// to a ball, which brings no two gradients apart. Rounding adds, with
// p columns, m rows a block, M = magnitude of a raw row's terms and
// S = the largest slope:
//
//   - a row's norm, its factor and its clip limit are off by p+16 roundings at
//     most, relative to M/X: the bound is evaluated at X(1 + slack) and a slack
//     of one gradient's length is added for each of the two rows, which also
//     covers the few units in the last place by which the slope itself is off. (A
//     sparse row whose shifts cancel may be taken to be longer than it is, by more:
//     what is then released lies between 0 and a row's gradient, and such points
//     are no further apart than gradients;)
//   - a score is off by (p+8)·u·r·M, and by u of it and its offset, at most O, where there
//     are offsets, which moves the slope by H times that;
//   - blocks without the replaced row have the same bits in both sums, as a row's
//     score doesn't depend on the rows around it (kernel.Dots). The block with it,
//     m fused multiply-adds of which a term passes through m roundings at most
//     (kernel.AddScaled), is off by at most γ_m·m·S·M in each, and
//     every later one of the B merges, as well as the final change of coordinates,
//     by u·n·S·M (Higham, Accuracy and Stability of Numerical Algorithms, section
//     4.2). With a clip C, S is at most C/X without shift and intercept, and C over
//     the constant feature with an intercept.
//
// Where parties hold the rows it adds the rounding of these to integers.
//
// Measured against accumulation in 64-bit fixed point, which would be exact in
// any order, the pass is 3 to 4 times faster (BenchmarkAccumulation), and for
// n = 10⁶ the bound costs a relative 1e-7 of the noise.
func (s *Sums) GradientSensitivity(r, clip float64) float64 {
	b := s.boundsAt(r, clip)
	exact := math.Min(b.diameter, 2*clip*(1+b.slack))
	sums := 2.2 * encoding.Unit * b.coefficient * s.t.Enc.Magnitude * s.t.Layout.Chain(8)
	return exact + float64(2*b.row) + float64(sums) + s.rounding(r, clip)
}

// Diameter bounds the L2 distance between the exact gradients of two rows of
// this or a neighbouring table, at a w of norm r.
func (s *Sums) Diameter(r float64) float64 { return s.boundsAt(r, math.Inf(1)).diameter }

// GradientError bounds the L2 distance between the gradient sum that Gradient
// computes at a w of norm r and the exact one: one row's error for each row, and
// a summation in which a term passes through at most a block's rows, all merges
// and the change of coordinates.
func (s *Sums) GradientError(r, clip float64) float64 {
	n, m, blocks := float64(s.Len()), float64(s.t.Layout.BlockRows()), float64(s.t.Layout.Blocks)
	b := s.boundsAt(r, clip)
	sums := 1.1 * encoding.Unit * b.coefficient * s.t.Enc.Magnitude * n * (m + blocks + 8)
	return float64(n*b.row) + float64(sums)
}

// bounds are what GradientSensitivity's comment derives from a norm of w.
type bounds struct {
	losses.Constants
	slack       float64 // relative error of a row's norm, factor and clip limit
	diameter    float64 // of the exact gradients of rows, without clip
	row         float64 // error of one row's computed gradient
	coefficient float64 // of a raw row: |φ'| or less, times the row's factor
}

func (s *Sums) boundsAt(r, clip float64) bounds {
	e := &s.t.Enc
	p := float64(e.Columns)
	b := bounds{slack: e.Slack()}
	x := e.FeatureBound() * (1 + b.slack)
	z := float64(x*r*(1+b.slack)) + s.offsetBound
	b.Constants = s.loss.Constants(z, s.labelBound)
	b.diameter = x * s.loss.Diameter(z, s.labelBound)
	if s.offsetBound > 0 { // a score, of which Diameter knows that it is ⟨w, x⟩, may be any
		b.diameter = 2 * float64(x*b.Slope)
	}

	normBound := math.Min(x*b.Slope, clip*(1+b.slack)) // a row's gradient
	b.row = b.slack * normBound
	if !math.IsInf(b.Smoothness, 1) {
		score := float64(encoding.Unit*(p+8)*r*e.Magnitude) + float64(2*encoding.Unit*s.offsetBound)
		b.row += math.Min(float64(x*b.Smoothness*score), 2*normBound)
	}
	switch b.coefficient = b.Slope; {
	case e.Intercept: // a row's norm is at least the constant
		b.coefficient = math.Min(b.Slope, clip/e.Constant*(1+b.slack))
	case e.Scale == nil: // a raw row's terms are all there is to its norm
		b.coefficient = normBound / x
	}
	return b
}

// Slack bounds by how much, relatively, rounding may lengthen a bounded row or a
// clipped gradient.
func (s *Sums) Slack() float64 { return s.t.Enc.Slack() }

// Constants are the loss's at weights of norm r, rounding of scores included.
func (s *Sums) Constants(r float64) losses.Constants { return s.boundsAt(r, math.Inf(1)).Constants }

// FeatureBound bounds the norm of a row.
func (s *Sums) FeatureBound() float64 { return s.t.Enc.FeatureBound() }

// GradientSmoothness is a Lipschitz constant of the exact mean gradient at weights
// of norm at most r.
func (s *Sums) GradientSmoothness(r float64) float64 {
	b := s.boundsAt(r, math.Inf(1))
	x := s.t.Enc.FeatureBound() * (1 + b.slack)
	return x * x * b.Smoothness
}

func init() {
	gob.Register(&gradient{})
}
