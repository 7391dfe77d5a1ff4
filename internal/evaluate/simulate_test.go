package evaluate

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// Where a total isn't public noise is left in it, and figures have that noise: by the delta method it is spread·√(cells·p² + 1 − 2p)/n in
// a part of rows in one cell, to which sampling adds √(p(1−p)/n), and what grids that are overlaid add to their sum. Simulations are the
// same always; the ends of 600 are certain to a tenth.
func TestNoiseOfTotals(t *testing.T) {
	const cells, n, own, spread = 100, 10000.0, 3000.0, 30.0
	counts := slices.Repeat([]float64{(n - own) / (cells - 1)}, cells)
	counts[0] = own
	part := func(counts [][]float64) []reading {
		return []reading{{rateOfOnes, counts[0][0] / floats.Sum(counts[0])}}
	}
	sum := func(counts [][]float64) []reading { return []reading{{meanError, floats.Sum(counts[0])}} }
	const p, grids = own / n, 4
	for whole, noise := range map[bool]float64{true: 1 - 1.0/cells, false: 1 - 2*p + cells*p*p} {
		task := Task{Whole: whole, Confidence: 0.95}
		v := task.sample(counts, spread).intervals(part)[0].Of
		if got, want := (v.High-v.Low)/2, 1.96*math.Sqrt(p*(1-p)/n+noise*spread*spread/n/n); math.Abs(got/want-1) > 0.1 {
			t.Errorf("a public total %v: ±%.5f, want ±%.5f", whole, got, want)
		}
		of := task.sampling()
		of.counts, of.spreads, of.shifts = [][]float64{make([]float64, grids*(10+1)-1)}, []float64{1}, []int{grids}
		v = of.intervals(sum)[0].Of
		if got, want := (v.High-v.Low)/2, 1.96*math.Sqrt(10.0/grids); whole && got > 1e-9 || !whole && math.Abs(got/want-1) > 0.1 {
			t.Errorf("a public total %v: a sum of ±%.5f, want ±%.5f where it isn't", whole, got, want)
		}
	}
}
