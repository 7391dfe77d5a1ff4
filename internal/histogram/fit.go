package histogram

import (
	"math"

	"github.com/dpglm/dpglm/internal/tuning"
)

// What a law is looked for among: powers, and scales over the edge that it holds from.
const (
	leastScale = 1.0 / 64
	mostScale  = 4
	scaleStep  = 1.1
)

var powers = []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1, 1.2, 1.5, 2, 2.5, 3}

// Upper fits a law to the cells that hold the largest twelfth of a fraction of the rows
// or, where more stand out above it than noise makes likely, a smaller part. It holds from
// low on. Where noise hides its power that is near the likely one.
func (h Tails) Upper(fraction, likely float64) (l Law, low float64) {
	last := 0
	for _, part := range []float64{tuning.TailPart, tuning.TailPart / 2, tuning.TailPart / 2 / 2} {
		at := h.First(func(j int) float64 { return math.Max(part*fraction*h.Rows, tuning.TailSeen*h.SD(j)) })
		l = h.fit(at, likely)
		over := h.upTo(at).seenFrom(l, surely)
		if over < 0 {
			return l, h.Edges[at]
		}
		last = min(over+tuning.GroupCells-1, len(h.Edges)-1)
	}
	return h.fit(last, likely), h.Edges[last] // a group of its own far above the others
}

// fit is the law of the cells above an edge by least squares, weighted by their noise and
// by a twentieth of what they hold, by which no law is closer, and by what powers are
// likely where noise hides the shape.
func (h Tails) fit(last int, likely float64) (found Law) {
	low, best := h.Edges[last], math.Inf(1)
	found = Law{h.Rows, low, 1, 1}
	raised, cells, weights := make([]float64, last+1), make([]float64, last+1), make([]float64, last+1)
	for j := range weights {
		weights[j] = h.weight(j)
	}
	for _, power := range powers {
		for j, edge := range h.Edges[:last+1] {
			raised[j] = math.Pow(edge/low, power)
		}
		unlikely := math.Pow(math.Log(power/likely)/tuning.PowerDoubt, 2)
		for scale := leastScale; scale < mostScale; scale *= scaleStep { // of low
			each := math.Pow(scale, -power)
			if each > tuning.TailDepth { // hardly a law of what is above low
				continue
			}
			var product, square, before float64
			for j, at := range raised { // of one row above low
				above := math.Exp(each * (1 - at))
				cells[j], before = above-before, above
				product += weights[j] * cells[j] * h.count(j)
				square += weights[j] * cells[j] * cells[j]
			}
			rows, miss := math.Min(math.Max(product/square, 1), h.Rows), unlikely
			for j, cell := range cells {
				over := h.count(j) - rows*cell
				miss += weights[j] * over * over
			}
			if miss < best {
				best, found = miss, Law{rows * math.Exp(each), scale * low, 1, power}
			}
		}
	}
	return found
}

// expected is what a law has in the j-th cell.
func (h Tails) expected(l Law, j int) float64 {
	if j == 0 {
		return l.Above(h.Edges[0])
	}
	return l.Above(h.Edges[j]) - l.Above(h.Edges[j-1])
}

func (h Tails) weight(j int) float64 {
	return 1 / (h.Noise*h.Noise + math.Pow(tuning.TailCloseness*math.Max(h.count(j), 0), 2))
}

// surely is how many standard deviations above a law cells stand out by: of some hundred sums
// noise makes one so large in about one histogram of ten thousand.
const surely = 4.7

// seenFrom is the first of four or fewer cells that hold more rows than a law has there, by z
// standard deviations, and -1 where there are none.
func (h Tails) seenFrom(l Law, z float64) int {
	for j := range h.Edges {
		var over, expected float64
		for k := j; k < min(j+tuning.GroupCells, len(h.Edges)); k++ {
			cell := h.expected(l, k)
			over, expected = over+h.count(k)-cell, expected+cell
			if over > z*math.Hypot(h.Noise*math.Sqrt(float64(k-j+1)), tuning.TailCloseness*expected) {
				return j
			}
		}
	}
	return -1
}
