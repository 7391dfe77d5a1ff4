package histogram

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
)

// Beyond tells of rows that lie beyond one side of increasing edges, −1 or 1: how far beyond an outer edge they are on average, those that are seen by the
// slower law of what is seen, those that noise may hide by a power of the distance that falls as it is seen to, though no slower than 1/t, by which their mean
// is just infinite, and how far they can be.
type Beyond struct {
	Side, From         float64
	Seen, Hidden, Most float64
}

// MayHide is how many rows of some may lie beyond the edge that noise hides, with those that are counted there, and how far on average.
func (b Beyond) MayHide(counted, noise float64) (rows, far float64) {
	seen, hidden := math.Max(0, counted), tuning.MayHide*noise
	return seen + hidden, (float64(seen*b.Seen) + float64(hidden*b.Hidden)) / (seen + hidden)
}

// At is a number so far beyond the edge.
func (b Beyond) At(far float64) float64 { return b.From + float64(b.Side*far) }

// BeyondEdges tells of both sides of edges of numbers within ±bound, by counts, those beyond the edges among them, with the given noise of each.
func BeyondEdges(edges, counts []float64, noise, bound float64) (below, above Beyond) {
	one := func(sign float64) Beyond {
		s, middle := sideOf(edges, counts, noise, bound, sign)
		b := Beyond{Side: sign, From: middle + float64(sign*s.near), Most: s.end - s.near}
		falls := math.Max(1, s.falls())
		b.Hidden = s.near * integral(s.end/s.near, 1-falls)
		b.Seen = b.Hidden
		if l, seen := s.far(); seen && s.near < s.end {
			rows, _ := s.exceed(s.near)
			b.Seen = math.Min(b.Hidden, l.Slower().beyond(s.near, s.end).Mean/math.Max(rows, 1))
		}
		return b
	}
	return one(-1), one(1)
}

// MostFarther are the edges that Farther adds at most.
const MostFarther = 2 * quadruplings

// quadruplings are as many as from the least of ScoreEdges to their bound, and two more where other edges lie close.
const quadruplings = tuning.ScoreHalves/4 + 2

// Farther are edges of numbers within ±bound, and beyond them others, each four times as far from their middle as the one before: a histogram's noise in a cell
// doesn't depend on how many there are.
func Farther(edges []float64, bound float64) []float64 {
	last := len(edges) - 1
	middle, half := (edges[0]+edges[last])/2, (edges[last]-edges[0])/2
	list := slices.Clone(edges)
	for k := range quadruplings {
		at := math.Ldexp(half, 2*(k+1))
		for _, e := range []float64{middle - at, middle + at} {
			if math.Abs(e) < bound {
				list = append(list, e)
			}
		}
	}
	sort.Float64s(list)
	return list
}

// Fold is how many of the outermost cells on either side of counts are added up into one.
type Fold struct{ Low, High int }

// Folded is for the outermost one, of counts with a given noise each, to stand out of it, as far as there are more cells than some on either side.
func Folded(counts []float64, noise float64, below, above int) Fold {
	one := func(at func(k int) float64, most int) int {
		sum := 0.0
		for k := range most {
			if sum += at(k); sum > tuning.Outstanding*noise*math.Sqrt(float64(k+1)) {
				return k + 1
			}
		}
		return most + 1
	}
	last := len(counts) - 1
	return Fold{one(func(k int) float64 { return counts[k] }, below), one(func(k int) float64 { return counts[last-k] }, above)}
}

// Of are counts with the outermost ones added up.
func (f Fold) Of(counts []float64) []float64 {
	last := len(counts) - f.High
	out := slices.Clone(counts[f.Low-1 : last+1])
	out[0], out[len(out)-1] = floats.Sum(counts[:f.Low]), floats.Sum(counts[last:])
	return out
}

// Edges are those that are left.
func (f Fold) Edges(edges []float64) []float64 { return edges[f.Low-1 : len(edges)-f.High+1] }

// sideOf is one of the middle of edges, and the middle.
func sideOf(edges, counts []float64, noise, bound, sign float64) (s side, middle float64) {
	last := len(edges) - 1
	middle, half := (edges[0]+edges[last])/2, (edges[last]-edges[0])/2
	away := func(k int) float64 { // of the k-th edge
		switch {
		case k < 0:
			return math.Inf(-1) * sign
		case k > last:
			return math.Inf(1) * sign
		}
		return float64(sign * (edges[k] - middle))
	}
	return side{sign, half, math.Max(half, bound-float64(sign*middle)), half, func(distance float64) (rows, sd float64) {
		var cells float64
		for k, count := range counts {
			switch low, high := min(away(k-1), away(k)), max(away(k-1), away(k)); {
			case low >= distance:
				rows, cells = rows+count, cells+1
			case high > distance:
				rows, cells = rows+float64(count*(high-distance)/(high-low)), cells+1
			}
		}
		return rows, noise * math.Sqrt(cells)
	}}, middle
}
