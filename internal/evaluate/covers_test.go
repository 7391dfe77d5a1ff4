package evaluate

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/losses"
)

// law draws counts of zeros and of ones between edges of scores, with noise of a standard deviation.
type law struct {
	edges []float64
	rows  int
	noise float64
	draw  func(r *rand.Rand) (score float64, one bool)
}

func (l law) counts(r *rand.Rand) []float64 {
	cells := len(l.edges) + 1
	list := make([]float64, 2*cells)
	for k := range list {
		list[k] = l.noise * r.NormFloat64()
	}
	for range l.rows {
		z, one := l.draw(r)
		k := sort.SearchFloat64s(l.edges, z)
		if one {
			k += cells
		}
		list[k]++
	}
	return list
}

// normal are scores of two normal laws so far apart, of as large a part of ones.
func normal(apart, part float64) func(r *rand.Rand) (float64, bool) {
	return func(r *rand.Rand) (float64, bool) {
		z := r.NormFloat64()
		if r.Float64() < part {
			return z + apart, true
		}
		return z, false
	}
}

// logistic are normal scores around 0 that are the log-odds over a slope.
func logistic(deviation, slope float64) func(r *rand.Rand) (float64, bool) {
	return func(r *rand.Rand) (float64, bool) {
		z := deviation * r.NormFloat64()
		return z, r.Float64() < losses.Logit.Mean(slope*z)
	}
}

// steps are edges of equal cells.
func steps(low, high float64, cells int) (list []float64) {
	for k := range cells + 1 {
		list = append(list, low+(high-low)*float64(k)/float64(cells))
	}
	return list
}

// missed is of how many of some draws intervals of each figure miss, and how many are known.
func (l law) missed(draws int, truth map[string]float64, of func(s *sampled) []Figure) (missed, known map[string]int) {
	r := rand.New(rand.NewPCG(1, 2))
	missed, known = map[string]int{}, map[string]int{}
	for range draws {
		for _, f := range of(Task{Confidence: 0.95}.sample(l.counts(r), l.noise)) {
			if want, asked := truth[f.Name]; asked && f.Of.known() {
				known[f.Name]++
				if !(f.Of.Low <= want && want <= f.Of.High) {
					missed[f.Name]++
				}
			}
		}
	}
	return missed, known
}

// Areas under curves are held where cells are so wide that chords lack much of them, and where noise hides most of the ones. At 5 % more
// than 13 of 100 miss with probability 4e-4, for each of the four.
func TestAreasAreCovered(t *testing.T) {
	for name, c := range map[string]struct {
		law
		apart float64
		known int
	}{
		"fine cells": {law{steps(-3, 4, 30), 1000, 3, normal(1, 0.5)}, 1, 100},
		"wide cells": {law{steps(-8, 10, 6), 3000, 6, normal(1, 0.5)}, 1, 100},
		"two cells":  {law{[]float64{1.5}, 3000, 6, normal(3, 0.5)}, 3, 100},
		"rare ones":  {law{steps(-3, 5, 8), 1000, 8, normal(2, 0.06)}, 2, 40},
	} {
		missed, known := c.missed(100, map[string]float64{area.name: math.Erfc(-c.apart/2) / 2}, func(s *sampled) []Figure {
			areas := func(by ranking, counts []float64) []reading {
				half := len(counts) / 2
				return []reading{by(area, counts[half:], counts[:half])}
			}
			list := s.intervals(func(counts [][]float64) []reading { return areas(ranked, counts[0]) })
			raised(list, areas(overChords, s.pure()[0]))
			return list
		})
		if t.Logf("%s: %v of %v miss", name, missed, known); missed[area.name] > 13 || known[area.name] < c.known {
			t.Errorf("%s: %v of %v miss", name, missed, known)
		}
	}
}

// Slopes of calibration are held where noise among sure scores pulls them towards 0, and Brier scores where cells are wide. At 5 % more than 6
// of 30 miss with probability 6e-4, for each of the four.
func TestProbabilitiesAreCovered(t *testing.T) {
	for name, c := range map[string]struct {
		law
		deviation, slope float64
	}{
		"noise":      {law{steps(-12, 12, 24), 10_000, 15, logistic(4, 1)}, 4, 1},
		"wide cells": {law{steps(-12, 12, 6), 10_000, 3, logistic(4, 0.8)}, 4, 0.8},
	} {
		of := newScored(c.edges, histogram.Fold{Low: 1, High: 1}, 1, 0, gradedBy(losses.Logit), c.noise)
		brier, weight := 0.0, 0.0
		for _, u := range steps(-6, 6, 2000) {
			q, p, w := losses.Logit.Mean(c.deviation*u), losses.Logit.Mean(c.slope*c.deviation*u), math.Exp(-u*u/2)
			brier += w * (q*q*(1-p) + (1-q)*(1-q)*p)
			weight += w
		}
		truth := map[string]float64{calibratedBy.name: c.slope, brierScore.name: brier / weight}
		missed, known := c.missed(30, truth, of.intervals)
		t.Logf("%s: %v of %v miss", name, missed, known)
		for figure := range truth {
			if missed[figure] > 6 || known[figure] < 15 {
				t.Errorf("%s: %s: %d of %d miss", name, figure, missed[figure], known[figure])
			}
		}
	}
}
