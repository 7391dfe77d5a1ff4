package dpglm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// upper is a law of the largest numbers of a histogram: rows·exp(−(t/scale)^power) of them
// exceed t.
type upper struct{ rows, scale, power float64 }

func (l upper) above(t float64) float64 { return l.rows * math.Exp(-math.Pow(t/l.scale, l.power)) }

// beyond is by how much numbers exceed t, all together: the integral of above.
func (l upper) beyond(t float64) float64 {
	return l.rows * l.scale * math.Gamma(1+1/l.power) * mathext.GammaIncRegComp(1/l.power, math.Pow(t/l.scale, l.power))
}

// longer is by how much more numbers exceed a clip where the power is so small that the largest
// few carry much, which a histogram sees last. On 30 tables of amounts it was 1.5 times what the
// law says for powers about .4, on made-up ones of heavy tails not that much.
func (l upper) longer() float64 { return math.Max(1, math.Min(0.5/l.power, 1.6)) }

// balanced returns the clip c from low/2 to top at which (noise·c)² and the square of
// fraction times what lies beyond c are smallest together.
func (l upper) balanced(low, top, noise, fraction float64) (clip float64) {
	best := math.Inf(1)
	for c := low / 2; c < top && math.Pow(noise*c, 2) < best; c *= 1.04 {
		if total := math.Pow(noise*c, 2) + math.Pow(fraction*l.beyond(c), 2); total < best {
			best, clip = total, c
		}
	}
	return clip
}

// upper fits such a law to the cells that hold the largest twelfth of a fraction of the rows
// or, where more stand out above it than noise makes likely, a smaller part. It holds from
// low on. Where noise hides its power that is near the likely one.
func (h reading) upper(fraction, likely float64) (l upper, low float64) {
	last := 0
	for _, part := range []float64{0.08, 0.04, 0.02} {
		at := h.first(func(j int) float64 { return math.Max(part*fraction*h.n, 2.5*h.sd(j)) })
		l = h.fit(at, likely)
		over := h.upTo(at).seenFrom(l, surely)
		if over < 0 {
			return l, h.edges[at]
		}
		last = min(over+3, len(h.edges)-1)
	}
	return h.fit(last, likely), h.edges[last] // a group of its own far above the others
}

// first is the first edge above which lie more rows than a limit, as they do above the next.
func (h reading) first(limit func(j int) float64) int {
	last := len(h.edges) - 1
	for j := range last {
		if h.tails[j] > limit(j) && h.tails[j+1] > limit(j+1) {
			return j
		}
	}
	return last
}

// fit is the law of the cells above an edge by least squares, weighted by their noise and
// by a twentieth of what they hold, by which no law is closer, and by what powers are
// likely where noise hides the shape.
func (h reading) fit(last int, likely float64) (found upper) {
	low, best := h.edges[last], math.Inf(1)
	found = upper{h.n, low, 1}
	raised, cells, weights := make([]float64, last+1), make([]float64, last+1), make([]float64, last+1)
	for j := range weights {
		weights[j] = h.weight(j)
	}
	for _, power := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1, 1.2, 1.5, 2, 2.5, 3} {
		for j, edge := range h.edges[:last+1] {
			raised[j] = math.Pow(edge/low, power)
		}
		unlikely := math.Pow(math.Log(power/likely)/0.6, 2)
		for scale := 1.0 / 64; scale < 4; scale *= 1.1 { // of low
			each := math.Pow(scale, -power)
			if each > 27 { // hardly a law of what is above low
				continue
			}
			var product, square, before float64
			for j, at := range raised { // of one row above low
				above := math.Exp(each * (1 - at))
				cells[j], before = above-before, above
				product += weights[j] * cells[j] * h.count(j)
				square += weights[j] * cells[j] * cells[j]
			}
			rows, miss := math.Min(math.Max(product/square, 1), h.n), unlikely
			for j, cell := range cells {
				over := h.count(j) - rows*cell
				miss += weights[j] * over * over
			}
			if miss < best {
				best, found = miss, upper{rows * math.Exp(each), scale * low, power}
			}
		}
	}
	return found
}

// count is the j-th cell's.
func (h reading) count(j int) float64 {
	if j == 0 {
		return h.tails[0]
	}
	return h.tails[j] - h.tails[j-1]
}

// expected is what a law has in the j-th cell.
func (h reading) expected(l upper, j int) float64 {
	if j == 0 {
		return l.above(h.edges[0])
	}
	return l.above(h.edges[j]) - l.above(h.edges[j-1])
}

func (h reading) weight(j int) float64 {
	return 1 / (h.noise*h.noise + math.Pow(0.05*math.Max(h.count(j), 0), 2))
}

// surely is how many standard deviations above a law cells stand out by: of some hundred sums
// noise makes one so large in about one histogram of ten thousand.
const surely = 4.7

// seenFrom is the first of four or fewer cells that hold more rows than a law has there, by z
// standard deviations, and -1 where there are none.
func (h reading) seenFrom(l upper, z float64) int {
	for j := range h.edges {
		var over, expected float64
		for k := j; k < min(j+4, len(h.edges)); k++ {
			cell := h.expected(l, k)
			over, expected = over+h.count(k)-cell, expected+cell
			if over > z*math.Hypot(h.noise*math.Sqrt(float64(k-j+1)), 0.05*expected) {
				return j
			}
		}
	}
	return -1
}

// doubtful reports whether cells above an edge may hold more rows than a law has there, by three
// standard deviations, as noise makes it of some three histograms in a hundred.
func (h reading) doubtful(l upper, low float64) bool {
	return h.upTo(slices.Index(h.edges, low)).seenFrom(l, 3) >= 0
}

// and is the mean of two readings of one histogram.
func (h reading) and(other reading) reading {
	h.tails = slices.Clone(h.tails)
	for j, above := range other.tails {
		h.tails[j] = (h.tails[j] + above) / 2
	}
	h.rest, h.noise = (h.rest+other.rest)/2, h.noise/math.Sqrt2
	return h
}

// fromSeen leaves out the cells, but for four, above the first that hold rows which stand
// out: there is nothing but noise.
func (h reading) fromSeen() reading {
	return h.from(max(0, h.seenFrom(upper{0, 1, 1}, surely)-4))
}

// from leaves out the cells above an edge.
func (h reading) from(first int) reading {
	if first == 0 {
		return h
	}
	above := h.tails[first-1]
	h.edges, h.tails = h.edges[first:], slices.Clone(h.tails[first:])
	for j := range h.tails {
		h.tails[j] -= above
	}
	return h
}

// upTo is the part of a histogram above an edge.
func (h reading) upTo(last int) reading {
	h.edges, h.tails = h.edges[:last+1], h.tails[:last+1]
	return h
}
