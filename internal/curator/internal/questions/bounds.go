package questions

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/losses"
)

// SumBounds are the public facts about Sums that say how far answers move: sensitivities and
// errors are made of these alone, no row has a part in them.
type SumBounds struct {
	Loss        losses.Loss
	labelBound  float64
	offsetBound float64 // on the magnitude of offsets
	enc         *encoding.Encoding
	layout      blocks.Layout
	at          summing // who holds the rows and rounds their gradients; nil for nobody
}

// Bounds are the public facts about s.
func (s *Sums) Bounds() SumBounds {
	return SumBounds{s.loss, s.labelBound, s.within.Largest(), &s.t.Enc, s.t.Layout, summingOf(s.t)}
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
func (s SumBounds) GradientSensitivity(r, clip float64) float64 {
	b := s.boundsAt(r, clip)
	exact := math.Min(b.diameter, s.layout.Persons.Vectors()*clip*(1+b.slack))
	sums := 2.2 * encoding.Unit * b.coefficient * s.enc.Magnitude * s.layout.Chain(8)
	rounding := 0.0
	if s.at != nil {
		rounding = s.at.rounding(s, r, clip)
	}
	return exact + float64(2*b.row) + float64(sums) + rounding
}

// Diameter bounds the L2 distance between the exact gradients of two rows of
// this or a neighbouring table, at a w of norm r; the length of one where neighbours have a row more or
// less.
func (s SumBounds) Diameter(r float64) float64 { return s.boundsAt(r, math.Inf(1)).diameter }

// GradientError bounds the L2 distance between the gradient sum that Gradient
// computes at a w of norm r and the exact one: one row's error for each row, and
// a summation in which a term passes through at most a block's rows, all merges
// and the change of coordinates.
func (s SumBounds) GradientError(r, clip float64) float64 {
	n, m, blocks := float64(s.layout.N), float64(s.layout.BlockRows()), float64(s.layout.Blocks)
	b := s.boundsAt(r, clip)
	sums := 1.1 * encoding.Unit * b.coefficient * s.enc.Magnitude * n * (m + blocks + 8)
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

func (s SumBounds) boundsAt(r, clip float64) bounds {
	e := s.enc
	p := float64(e.Columns)
	b := bounds{slack: e.Slack()}
	x := e.FeatureBound() * (1 + b.slack)
	z := float64(x*r*(1+b.slack)) + s.offsetBound
	b.Constants = s.Loss.Constants(z, s.labelBound)
	b.diameter = x * s.Loss.Diameter(z, s.labelBound)
	if s.offsetBound > 0 { // a score, of which Diameter knows that it is ⟨w, x⟩, may be any
		b.diameter = 2 * float64(x*b.Slope)
	}
	if s.layout.Persons.Removed() { // one of two neighbours has a row less
		b.diameter = x * b.Slope
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
func (s SumBounds) Slack() float64 { return s.enc.Slack() }

// Constants are the loss's at weights of norm r, rounding of scores included.
func (s SumBounds) Constants(r float64) losses.Constants { return s.boundsAt(r, math.Inf(1)).Constants }

// FeatureBound bounds the norm of a row.
func (s SumBounds) FeatureBound() float64 { return s.enc.FeatureBound() }

// GradientSmoothness is a Lipschitz constant of the exact mean gradient at weights
// of norm at most r.
func (s SumBounds) GradientSmoothness(r float64) float64 {
	b := s.boundsAt(r, math.Inf(1))
	x := s.enc.FeatureBound() * (1 + b.slack)
	return x * x * b.Smoothness
}

// LossSensitivity bounds how far a loss sum with the given cap moves when one
// row is replaced: each term lies in [0, cap], and rounding adds what
// GradientSensitivity explains.
func (s SumBounds) LossSensitivity(limit float64) float64 {
	return limit * (1 + float64(2.2*encoding.Unit*s.layout.Chain(0)))
}

// labelEnds are the ends of the range that LabelSum's labels have.
func (s SumBounds) labelEnds() (low, high float64) {
	switch s.Loss.Labels() {
	case losses.Binary:
		return 0, 1
	case losses.Count, losses.Amount:
		return 0, s.labelBound
	}
	return -s.labelBound, s.labelBound
}

// LabelSteps are the parts of their range that labels from 0 to high climb, and of which LabelSum has a sum each: of counts the first is 1 wide, the next ones
// twice as wide as that before, and the last, the 32nd at most, what is left; of amounts the first two are a 1024th of the range, the next ones twice as wide as that before. The range of other labels is one step.
func LabelSteps(kind losses.Labels, high float64) []float64 {
	steps := []float64{high}
	switch kind {
	case losses.Amount:
		steps[0] = high / amountSteps
		for width := steps[0]; width < high && len(steps) < mostLabelSteps; width *= 2 {
			steps = append(steps, width)
		}
	case losses.Count:
		for width := 1.0; steps[len(steps)-1] > width && len(steps) < mostLabelSteps; width *= 2 {
			left := steps[len(steps)-1] - width
			steps = append(steps[:len(steps)-1], width, left)
		}
	}
	return steps
}

// amountSteps is how much less than their range amounts may be before it costs something.
const amountSteps = 1 << 10

// mostLabelSteps is how many steps labels' range has at most: more than 10⁹ wide are those of no counts.
const mostLabelSteps = 32

// summed is which sums LabelSum has.
func (s SumBounds) summed() Summed {
	low, high := s.labelEnds()
	steps := LabelSteps(s.Loss.Labels(), high)
	if ends := s.layout.Persons.Removed(); ends || len(steps) > 1 {
		return Summed{ends, low, append([]float64{steps[0] - low}, steps[1:]...)}
	}
	return Summed{}
}

// labelSensitivity is that of LabelSum and of Predicted: a label's range; or √J where places in J steps are summed, each of which is in [0, 1],
// also where one is added or removed, as (1 − t)² + t² is at most 1 and places above are 0 where t isn't 1, of averages of places, too; and,
// where sums aren't exact, their rounding. That is, with m rows a block, B blocks and numbers of at most Y, γ_m·m·Y
// for the block with the row and u·n·Y for each merge, in each answer; and √k times that for k sums.
func (s SumBounds) labelSensitivity(exact bool) float64 {
	low, high := s.labelEnds()
	spread, largest := high-low, math.Max(-low, high)
	if of := s.summed(); of.Steps != nil {
		spread, largest = math.Sqrt(float64(len(of.Steps))), math.Sqrt(float64(of.numbers()))
	}
	if exact {
		largest = 0
	}
	return float64(spread*(1+1e-15)) + float64(2.2*encoding.Unit*largest*s.layout.Chain(0))
}

// normBound bounds a row's computed gradient at a w of norm r: see GradientSensitivity. The room of
// a millionth is more than rounding takes.
func (s SumBounds) normBound(r, clip float64) float64 {
	slack := 1 + s.enc.Slack()
	x := s.enc.FeatureBound() * slack
	slope := s.Loss.Constants(x*r*slack, s.labelBound).Slope
	return math.Min(x*slope, clip*slack) * (1 + 1e-6)
}

// Curved reports whether the loss tells its second derivative.
func (s SumBounds) Curved() bool {
	_, ok := losses.CurvatureOf(s.Loss)
	return ok
}

// momentsRounding bounds the Frobenius distance between how far Moments, without
// weights, moves when one row is replaced, as computed, and the exact difference of
// the two rows' xxᵀ. With m rows a block and B blocks:
//
//   - blocks without the replaced row have the same bits. An element of the block
//     with it is the end of a chain of m fused multiply-adds, off by γ_m times the
//     sum of its terms' magnitudes, and the matrix of these sums has norm at most
//     m·X²: γ_m·m·X² in each table;
//   - each of the B merges rounds a sum of norm at most n·X², in each table;
//   - an encoded row is off by slack·X, and its xxᵀ by twice slack·X², for both rows.
func (s SumBounds) momentsRounding() float64 {
	l, x := s.layout.Moments(s.enc.Dim()), s.enc.FeatureBound()
	return x * x * (float64(2.2*encoding.Unit*l.Chain(0)) + float64(4.1*s.enc.Slack()))
}
