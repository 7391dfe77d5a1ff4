package mechanisms

import (
	"math"
	"math/bits"
)

// discreteGaussian draws integers with probability proportional to
// exp(−y²/(2σ²)), exactly, for an integer scale 1 ≤ σ < 2^52.
//
// It is rejection from a wall of bricks that covers the curve exp(−y²/(2σ²)) over
// y ≥ 0. A brick spans the w = ⌈σ/16⌉ integers of one column and one of 64 levels,
// level m being the heights [m/64, (m+1)/64). A draw picks one of the bricks with
// equal probability, an integer y in its column, a height in its level and a sign,
// and keeps y if the height is below the curve at y; two draws of zero, of which
// one is negative, count as one. Kept values have the law that is wanted,
// whatever covers the curve, as long as it does: column k is covered up to level m
// where exp(−(k/16)²/2) ≤ (m+1)/64, since y ≥ kw ≥ kσ/16.
//
// Brick, sign and integer of the column come from one uniform integer below
// 2·bricks·w < 2^60, hence from one word. The height is drawn only where it matters:
// for y up to a bound (below) the whole level lies under the curve. That leaves 7 %
// of the draws, which compare one more word with exp(−y²/(2σ²)) (exponent.above).
// 5 % of the draws are rejected.
//
// Beyond 3σ the lowest level goes on in blocks of 8 columns, each half as high as
// the one before: at x = 3, 3.5, 4, … times σ the curve is below 2^-6, 2^-7,
// 2^-8, …, because over a block it falls by a factor exp(−x/2 − 1/8) < 1/2. All
// blocks together have the area of 16 bricks. One of these says which column
// of a block it is, and a run of random bits says which block. (A block so
// far out that y overflows has a probability below 2^-4000.)
type discreteGaussian struct {
	sigma   uint64
	width   uint64 // w
	surplus uint64 // how many low products would be counted twice
}

const (
	curveLevels  = 64
	levelBits    = 6  // 2^levelBits levels
	sigmaColumns = 16 // columns to one σ
	wallColumns  = 48 // columns of the lowest level, up to 3σ
	tailColumns  = 8  // columns of a block beyond
	tailLevel    = curveLevels
	curveBricks  = 1350
	signedBricks = 2 * curveBricks
	certainBits  = 62
)

// brick is a column of a level. On the tailLevel the column is that of the first
// block.
type brick struct{ column, level uint8 }

// wall lists the bricks; certain[m]·σ/2^62 is a y up to which the curve lies above
// level m. The columns of a level m > 0 end at the first k with
// exp(−(k/16)²/2) ≤ m/64. Before rounding, these k are at least 0.003 from
// an integer, so that the accuracy of math.Log doesn't matter; nor does it for
// certain, with its margin.
var wall, certain = func() (bricks [curveBricks]brick, certain [curveLevels + 1]uint64) {
	at := 0
	row := func(level, from, to int) {
		for k := from; k < to; k++ {
			bricks[at] = brick{uint8(k), uint8(level)}
			at++
		}
	}
	crossing := func(level int) float64 { return math.Sqrt(2 * math.Log(curveLevels/float64(level))) }
	row(0, 0, wallColumns)
	for m := 1; m < curveLevels; m++ {
		row(m, 0, int(math.Ceil(sigmaColumns*crossing(m))))
		certain[m-1] = uint64(crossing(m) * (1 - 0x1p-40) * (1 << certainBits))
	}
	row(tailLevel, wallColumns, wallColumns+tailColumns)
	row(tailLevel, wallColumns, wallColumns+tailColumns)
	return bricks, certain
}()

func newDiscreteGaussian(sigma uint64) discreteGaussian {
	width := (sigma + sigmaColumns - 1) / sigmaColumns
	n := signedBricks * width
	return discreteGaussian{sigma: sigma, width: width, surplus: -n % n}
}

func (g *discreteGaussian) draw(src *words) int64 {
	for {
		index, rest := bits.Mul64(src.Uint64(), signedBricks)
		offset, low := bits.Mul64(rest, g.width)
		if low < g.surplus { // index·w + offset isn't uniform otherwise; see uniform
			continue
		}
		b := wall[index/2]
		y := uint64(b.column)*g.width + offset
		if bound, _ := bits.Mul64(certain[b.level], g.sigma<<(64-certainBits)); y > bound && !g.keep(&y, b.level, src) {
			continue
		}
		if index%2 == 0 {
			return int64(y)
		}
		if y > 0 {
			return -int64(y)
		}
	}
}

// keep draws the height of a brick and reports whether it lies under the curve at
// y, which it moves to its block if the brick is one of the tail's.
func (g *discreteGaussian) keep(y *uint64, level uint8, src *words) bool {
	m, s := uint64(level), uint64(levelBits)
	if level == tailLevel {
		block := zeros(src)
		*y += block * tailColumns * g.width
		m, s = 0, s+block
	}
	return exponent{num: *y, den: g.sigma, halfSquare: true}.above(m, s, src)
}

// zeros is k with probability 2^-(k+1): how many random bits are 0 before the
// first 1.
func zeros(src *words) uint64 {
	for k := uint64(0); ; k += 64 {
		if word := src.Uint64(); word != 0 {
			return k + uint64(bits.TrailingZeros64(word))
		}
	}
}
