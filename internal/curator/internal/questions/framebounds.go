package questions

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
)

// frameBounds are the public facts about rows in a frame that say how far answers move. d is
// the number of features everywhere: sums are taken over raw rows, and each coordinate of an
// answer is a product with d numbers. How many coordinates there are shows in ‖A‖ only, the
// Frobenius norm over all of A's columns, which bounds the error of all coordinates together.
type frameBounds struct {
	of     *frameMap
	layout blocks.Layout
}

// sumRounding bounds how far combine's first sum moves, beyond what it moves in exact
// arithmetic with the computed coefficients, when a row is replaced; these are at most
// most in magnitude. With A = ‖A‖, M the raw terms and m the centre: the chains and
// merges of GradientSensitivity, for the raw sum and for Σcᵢtᵢ; the product with m, the
// difference and the product with A, d+8 roundings of a sum of norm n·most·(X + ‖m‖), in
// each answer; and the two rows' own features, off by a slack each.
func (b frameBounds) sumRounding(most float64) float64 {
	e, l := b.of.enc, b.layout
	chains := float64(l.Chain(8) * (e.Magnitude + b.of.centre))
	product := float64(l.Terms(l.N) * float64(b.of.enc.Columns+8) * (float64(2*e.Bound) + b.of.centre))
	return float64(most * b.of.size * (float64(2.2*encoding.Unit*(chains+product)) + float64(4*e.Slack()*e.Bound)))
}

// sumSensitivity is that of Sum: 2·normBound and rounding.
func (b frameBounds) sumSensitivity(normBound float64) float64 {
	return float64(b.layout.Persons.Vectors()*normBound*(1+4*encoding.Unit)) + b.sumRounding(1)
}

// gradientSensitivity is that of Gradient: in exact arithmetic 2C, as each row's term is
// at most C long whatever its slope is; with the constant apart 2√(C² + k²), or √(4C² + k²) where
// it has means, none of which is below 0; with a row more or less C and √(C² + k²). Rounding adds
// sumRounding and, for the constant's sum, γ_m·m·most for the block with the row, u·n·most
// for each merge and for the product with the constant (room for four), in each answer.
func (b frameBounds) gradientSensitivity(p Slope) float64 {
	vectors, beside := b.layout.Persons.Vectors(), 0.0
	switch {
	case p.Means > 0:
		beside = p.Constant
	case p.Apart > 0:
		beside = vectors * p.Constant
	}
	return float64(math.Hypot(vectors*p.Clip, beside)*(1+8*encoding.Unit)) + b.gradientRounding(p)
}

func (b frameBounds) gradientRounding(p Slope) float64 {
	scale, most := p.Constant, p.coefficient()
	if p.Apart > 0 {
		scale = p.Constant / p.Apart
	}
	return b.sumRounding(most) + float64(2.2*encoding.Unit*most*scale*b.layout.Chain(4))
}

// momentsDistance is the exact L2 sensitivity of packed second moments of rows of norm at
// most x: for two rows u, v it is
//
//	‖uuᵀ − vvᵀ‖_F = √(‖u‖⁴ + ‖v‖⁴ − 2⟨u, v⟩²) ≤ √2·x²
//
// with equality for orthogonal rows at the bound.
func (b frameBounds) momentsDistance(x float64) float64 {
	return b.layout.Persons.Positive() * float64(x*x) * (1 + 1e-15)
}

// momentsSensitivity is that of packed moments of rows whose weights are at most most and
// whose terms are at most normBound² long: in exact arithmetic √2·normBound²
// (momentsDistance). Rounding adds:
//
//   - a row's weight and factor, off by fewer than 16 units;
//   - the sum in the old coordinates, of m rows a block and B blocks, of rows whose features are of norm at
//     most X + ‖m‖ and weights at most W = most: γ_m·m·W times the product of the two numbers' norms, for the block
//     with the row, and u·n·W times it for each of the B merges, in each answer, times ‖A‖ for each of the two that is a feature. A number's
//     error is in proportion to it, so that with Z = ‖A‖·(X + ‖m‖) + constant the square of Z has those of features, of the constant, and of both;
//   - the two products with A, d+8 roundings each of sums of norm n·W·Z², each element of
//     which is a product with d numbers, and the
//     packing, two roundings with room, in each answer;
//   - two rows' features, twice a slack each with room, times W·Z²;
//   - where a person's rows are added up first, a rounding of that sum, of norm √W·Z at
//     most, for each row after the first, twice in each product, in each answer.
func (b frameBounds) momentsSensitivity(most, constant, normBound float64) float64 {
	e, d, l := b.of.enc, float64(b.of.enc.Columns), b.layout.Moments(b.of.enc.Dim())
	z := float64(b.of.size*(e.Bound+b.of.centre)) + constant
	sum := l.Chain(4) + float64(l.Terms(l.N)*float64(4*(d+8))) + float64(2*(l.Persons.MostRows()-1))
	rounding := most * z * z * (float64(2.2*encoding.Unit*sum) + float64(16*e.Slack()))
	return float64(b.momentsDistance(normBound)*(1+32*encoding.Unit)) + float64(rounding)
}

// squaresSensitivity is that of Squares. For two rows of norm at most X the vectors p and
// q of squares are at most √2·X² apart: their L2 norms are at most their L1 norms,
// ‖x‖² ≤ X², and ‖p − q‖² = ‖p‖² + ‖q‖² − 2⟨p, q⟩ with ⟨p, q⟩ ≥ 0. Rounding adds, in each
// answer, γ_m·m·X² for the block with the row, u·n·X² for each merge and for the squares
// themselves (room for four), and two rows' slacks.
func (b frameBounds) squaresSensitivity() float64 {
	e, x := b.of.enc, b.of.enc.Bound
	sums := float64(2.2 * encoding.Unit * b.layout.Chain(4))
	return float64(b.momentsDistance(x)*(1+8*encoding.Unit)) + float64(x*x*(sums+float64(16*e.Slack())))
}
