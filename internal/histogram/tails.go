package histogram

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/tuning"
)

// Tails is a released histogram of a number of each row, by how many lie above each of its
// edges, which fall.
type Tails struct {
	Edges, Above []float64 // Above[j] is the noisy number of rows above Edges[j]
	Below        float64   // the noisy number below all edges
	Noise        float64   // standard deviation of a count
	Rows         float64
	Wide         bool // not around an edge that was read before
}

// NewTails reads the released counts between edges, those below all of them last.
func NewTails(edges, counts []float64, noise, rows float64) Tails {
	h := Tails{Edges: edges, Below: counts[len(edges)], Noise: noise, Rows: rows, Wide: true}
	above := 0.0
	for _, c := range counts[:len(edges)] {
		above += c
		h.Above = append(h.Above, above)
	}
	return h
}

// SD is the standard deviation of the j-th tail.
func (h Tails) SD(j int) float64 { return h.Noise * math.Sqrt(float64(j+1)) }

// Smallest returns the smallest edge above which lie no more rows than allowed, or than
// z standard deviations of the noise may hide. A wide histogram is read no further than
// to where these hide a quarter of the rows.
func (h Tails) Smallest(allowed, z float64) float64 {
	best := h.Edges[0]
	for j, edge := range h.Edges {
		if h.Wide && z*h.SD(j) > h.Rows/tuning.ReadableRows || h.Above[j] > math.Max(allowed, z*h.SD(j)) {
			break
		}
		best = edge
	}
	return best
}

// SmallestFromBelow returns the smallest edge above which lie no more rows than allowed, or than z
// standard deviations of the noise, as seen from below: where cells above may hold few.
func (h Tails) SmallestFromBelow(allowed, z float64) float64 {
	for j := len(h.Edges) - 1; j > 0; j-- {
		if h.Above[j] <= math.Max(allowed, z*h.SD(j)) {
			return h.Edges[j]
		}
	}
	return h.Edges[0]
}

// Covering is an edge that no number exceeds, where the noise is so small that a single one would be seen; else +Inf.
func (h Tails) Covering() float64 {
	best := math.Inf(1)
	for j, edge := range h.Edges {
		if tuning.Surely*h.SD(j) >= 1 || h.Above[j] > 0.5 {
			break
		}
		best = edge
	}
	return best
}

// Over is about how many rows lie above a value.
func (h Tails) Over(value float64) float64 {
	for j := 1; j < len(h.Edges); j++ {
		if h.Edges[j] <= value*(1+rounding) {
			part := math.Log(value/h.Edges[j]) / math.Log(h.Edges[j-1]/h.Edges[j])
			return h.Above[j] + math.Min(part, 1)*(h.Above[j-1]-h.Above[j])
		}
	}
	return h.Rows
}

// MayExceed is by how much numbers may exceed an edge, all together, that noise hides: as many rows as a deviation of it, falling as a law does
// there, though no slower than 1/t, by which their mean is just infinite.
func (h Tails) MayExceed(edge float64, l Law) float64 {
	j := 0
	for j < len(h.Edges)-1 && h.Edges[j] > edge {
		j++
	}
	falls := math.Max(1, l.Depth*l.Power*math.Pow(edge/l.From, l.Power))
	return tuning.MayHide * h.SD(j) * edge * integral(math.Max(1, h.Edges[0]/edge), 1-falls)
}

// Cut is by how much the squares of numbers exceed that of an edge, all together, as far as larger ones stand out of the noise.
func (h Tails) Cut(edge float64) (sum float64) {
	for j := 1; j < len(h.Edges) && h.Edges[j] >= edge; j++ {
		if above := h.Above[j]; above > tuning.Surely*h.SD(j) {
			sum += above * (h.Edges[j-1]*h.Edges[j-1] - h.Edges[j]*h.Edges[j])
		}
	}
	return sum
}

// Carrying returns the smallest edge that rows may be shortened to and keep a part of their
// second moments, as far as longer ones stand out of the noise.
func (h Tails) Carrying(part float64) float64 {
	last := len(h.Edges) - 1
	least := h.Edges[last]
	lost := (1 - part) * (float64(h.Rows*least*least) + h.Cut(least))
	j := last
	for j > 0 && h.Cut(h.Edges[j]) > lost {
		j--
	}
	return h.Edges[j]
}

// Readable reports whether the noise of a histogram's tails hides no more than a quarter of the
// rows.
func (h Tails) Readable() bool { return 2*h.SD(len(h.Edges)/2) <= h.Rows/tuning.ReadableRows }

// MeanSquare is that of the numbers in a histogram, from the largest that stand out of the
// noise down, as all tails below theirs do: of so many tails noise alone has one stand out in one histogram of a hundred, far above the numbers.
func (h Tails) MeanSquare() float64 {
	last, seen := len(h.Edges)-1, func(j int) bool { return h.Above[j] >= tuning.Surely*h.SD(j) }
	j := last
	for j > 0 && !seen(j) {
		j--
	}
	if !seen(j) {
		j = last
	}
	for j > 0 && seen(j-1) {
		j--
	}
	var sum, above float64
	for ; j <= last; j++ {
		sum += float64((h.Above[j] - above) * h.Edges[j] * h.Edges[max(j-1, 0)])
		above = h.Above[j]
	}
	return sum / h.Rows
}

// First is the first edge above which lie more rows than a limit, as they do above the next.
func (h Tails) First(limit func(j int) float64) int {
	last := len(h.Edges) - 1
	for j := range last {
		if h.Above[j] > limit(j) && h.Above[j+1] > limit(j+1) {
			return j
		}
	}
	return last
}

// FromSeen leaves out the cells, but for four, above the first that hold rows which stand
// out: there is nothing but noise.
func (h Tails) FromSeen() Tails {
	return h.From(max(0, h.seenFrom(Law{0, 1, 1, 1}, surely)-tuning.GroupCells))
}

// From leaves out the cells above an edge.
func (h Tails) From(first int) Tails {
	if first == 0 {
		return h
	}
	above := h.Above[first-1]
	h.Edges, h.Above = h.Edges[first:], slices.Clone(h.Above[first:])
	for j := range h.Above {
		h.Above[j] -= above
	}
	return h
}

// upTo is the part of a histogram above an edge.
func (h Tails) upTo(last int) Tails {
	h.Edges, h.Above = h.Edges[:last+1], h.Above[:last+1]
	return h
}

// count is the j-th cell's.
func (h Tails) count(j int) float64 {
	if j == 0 {
		return h.Above[0]
	}
	return h.Above[j] - h.Above[j-1]
}
