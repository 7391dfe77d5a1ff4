package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/tuning"
)

// seen are figures of counts by class and predicted class. A class of which no rows stand out
// from noise has no recall, and one that is not seen to be predicted has no precision.
func seen(r *sampled, classes int) []Figure {
	least := float64(tuning.Outstanding * r.spreads[0] * math.Sqrt(float64(classes)))
	list := r.intervals(func(counts [][]float64) []reading {
		return confused(counts[0], floats.Sum(counts[0]), classes)
	})
	for i, f := range list {
		k := f.Class - 1
		switch {
		case f.Name == recall.name && !(floats.Sum(r.counts[0][k*classes:(k+1)*classes]) > least):
			list[i].Of = Interval{}
		case f.Name == precision.name && !(predictedTo(r.counts[0], classes, k) > least):
			list[i].Of = Interval{}
		}
	}
	return list
}

// ranks are the counts of classes' rows and of all others, each in cells by the class's log-odds.
type ranks struct {
	of     *sampled
	starts []int // of each class's cells
}

// areas are those under the ROC curve of each class, and their mean.
func (r ranks) areas(by ranking, own, others []float64) (list []reading) {
	for k, start := range r.starts[:len(r.starts)-1] {
		end := r.starts[k+1]
		list = append(list, by(area.of(k), own[start:end], others[start:end]))
	}
	return withMean(list)
}

// figures are areas under curves.
//
// A row's own rank is in one class's area, and rows of different classes are independent; but
// it is among the others of all other classes, and these ranks depend on each other and on
// its own. So the mean's error is taken to be that of the classes' own ranks, which are drawn
// together, plus the mean of those that the ranks of others make, as if they all were alike.
func (r ranks) figures() []Figure {
	own, others := r.of.counts[0], r.of.counts[1]
	list := r.of.intervals(func(counts [][]float64) []reading { return r.areas(ranked, counts[0], counts[1]) })
	alone := called(r.only(0, func(counts []float64) []reading { return r.areas(ranked, counts, others) }), meanArea)[0]
	low, high := alone.Value-alone.Low, alone.High-alone.Value
	classes := float64(len(r.starts) - 1)
	for _, of := range called(r.only(1, func(counts []float64) []reading { return r.areas(ranked, own, counts) }), area) {
		low += (of.Value - of.Low) / classes
		high += (of.High - of.Value) / classes
	}
	all := &list[len(list)-1].Of
	if slices.ContainsFunc(called(list, area), func(x Interval) bool { return !x.known() }) {
		*all = Interval{}
	}
	if all.known() {
		*all = Interval{all.Value, all.Value - low, all.Value + high}.within(0, 1)
	}
	pure := r.of.pure()
	raised(list, r.areas(overChords, pure[0], pure[1]))
	return list
}

// only are figures of one of both histograms, where the other is given.
func (r ranks) only(i int, of func(counts []float64) []reading) []Figure {
	one := &sampled{confidence: r.of.confidence, whole: r.of.whole, counts: r.of.counts[i : i+1], spreads: r.of.spreads[i : i+1]}
	return one.intervals(func(counts [][]float64) []reading { return of(counts[0]) })
}
