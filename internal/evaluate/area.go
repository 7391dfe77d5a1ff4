package evaluate

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/histogram"
)

// ranking makes a reading of counts of ones and of zeros in cells, the lowest first.
type ranking func(m measure, ones, zeros []float64) reading

// ranked is the area under the ROC curve.
func ranked(m measure, ones, zeros []float64) reading {
	return reading{m, histogram.AUC(ones, zeros)}
}

// overChords is by how much more the area may be, by counts that aren't negative.
func overChords(m measure, ones, zeros []float64) reading {
	return reading{m, histogram.OverChords(ones, zeros)}
}

// withMean are areas and their mean.
func withMean(areas []reading) []reading {
	mean := 0.0
	for _, of := range areas {
		mean += of.value / float64(len(areas))
	}
	return append(areas, reading{meanArea, mean})
}

// even is the part of what may lie above a chord that does in a narrow cell in which log-odds of ones rise evenly: of the cell's pairs
// the area under the chord lacks 1/12 of that rise, and the triangle above it has 1/4.
const even = 1.0 / 3

// raised moves areas to where log-odds rise evenly in each cell, and lengthens their intervals to all that may lie above chords.
func raised(list []Figure, over []reading) {
	for k, f := range list {
		at := slices.IndexFunc(over, func(r reading) bool { return r.of.name == f.Name && r.of.class == f.Class })
		if at < 0 || !f.Of.known() {
			continue
		}
		all := over[at].value
		by := even * all
		list[k].Of = Interval{f.Of.Value + by, f.Of.Low + math.Min(0, all), f.Of.High + math.Max(0, all)}.within(0, 1)
	}
}
