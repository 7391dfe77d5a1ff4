package histogram

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
)

// Geometric is a histogram's edges, top/step^j for j from 0 to k.
func Geometric(top, step float64, k int) []float64 {
	edges := make([]float64, k+1)
	for j := range edges {
		edges[j] = top * math.Pow(step, -float64(j))
	}
	return edges
}

// ScoreEdges are the fixed edges of the first histogram, for scores within ±bound: 0 and
// ±bound/2^(j/2), increasing.
func ScoreEdges(bound float64) []float64 {
	edges := []float64{0}
	for j := range tuning.ScoreHalves {
		e := bound * math.Exp2(-float64(j)/2)
		edges = append(edges, e, -e)
	}
	sort.Float64s(edges)
	return edges
}

// RangeEdges are fixed edges within ±bound: 0 and ±bound/2^j, decreasing.
func RangeEdges(bound float64) []float64 {
	const halvings = tuning.RangeHalves
	edges := make([]float64, 2*halvings+1)
	for j := range halvings {
		e := math.Ldexp(bound, -j)
		edges[j], edges[2*halvings-j] = e, -e
	}
	return edges
}

// SpanEdges are those and equal steps between them, for what may lie far from 0.
func SpanEdges(bound float64) []float64 {
	const steps = tuning.SpanSteps
	edges := RangeEdges(bound)
	for k := -steps; k <= steps; k++ {
		edges = append(edges, bound*float64(k)/steps)
	}
	slices.Sort(edges)
	slices.Reverse(edges)
	return slices.Compact(edges)
}

// Cuts returns increasing edges over the range in which scores stand out from noise, or over a wider one, until the rows that it lacks of
// all don't stand out from the noise of those in it: so many cells that each has at most twice an equal part of the rows and of the range; and how far rows beyond are taken to reach: ¾ of the standard deviation, as a
// normal law's last two or three hundredths do in the mean.
func Cuts(edges, counts []float64, spread float64, cells int) (list []float64, beyond float64) {
	low, high := StandOut(counts, spread)
	low, high = max(low-1, 0), min(high, len(edges)-1)
	if low >= high {
		low, high = 0, len(edges)-1
	}
	all := floats.Sum(counts)
	for low > 0 || high < len(edges)-1 {
		outside := all - floats.Sum(counts[low+1:high+1])
		if !(outside > tuning.Outstanding*spread*math.Sqrt(float64(high-low))) {
			break
		}
		low, high = max(low-1, 0), min(high+1, len(edges)-1)
	}
	ends, rising := edges[low:high+1], make([]float64, high-low+1)
	var mean, square float64
	for k := 1; k < len(ends); k++ {
		rows, middle := math.Max(0, counts[low+k]), (ends[k]+ends[k-1])/2
		rising[k] = rising[k-1] + rows
		mean += float64(rows * middle)
		square += float64(rows * middle * middle)
	}
	width, total := ends[len(ends)-1]-ends[0], math.Max(rising[len(rising)-1], leastRows)
	beyond = float64(tuning.CellsBeyond * math.Sqrt(math.Max(0, square/total-float64(mean/total*mean/total))))
	for k := range rising {
		rising[k] = (rising[k]/total + (ends[k]-ends[0])/width) / 2
	}
	list = []float64{ends[0], ends[len(ends)-1]}
	for i, k := 1, 1; i < cells; i++ {
		level := float64(i) / float64(cells)
		for k < len(ends)-1 && rising[k] < level {
			k++
		}
		list = append(list, ends[k-1]+float64((ends[k]-ends[k-1])*(level-rising[k-1])/(rising[k]-rising[k-1])))
	}
	sort.Float64s(list)
	return list, beyond
}

// StandOut returns the first and the last cell that stand out from noise, alone or with
// the one outside of it: by so much that noise alone rarely does in any cell, as a range
// that is far too wide costs more than a tail.
func StandOut(counts []float64, spread float64) (low, high int) {
	last := len(counts) - 1
	beyond := func(k, outside int) bool {
		return counts[k] > tuning.Outstanding*spread || outside >= 0 && outside <= last && counts[k]+counts[outside] > tuning.Outstanding*math.Sqrt2*spread
	}
	for low < last && !beyond(low, low-1) {
		low++
	}
	for high = last; high > 0 && !beyond(high, high+1); high-- {
	}
	return low, high
}

// leastRows keeps a divisor from being 0.
const leastRows = 1e-9
