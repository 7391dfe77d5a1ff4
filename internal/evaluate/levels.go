package evaluate

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// MostClasses is the largest number of classes that an evaluation tells apart: their pairs are
// counted.
const MostClasses = 100

// shrunk is the bound on scores that are moved by ½, so that they stay between two whole numbers.
const shrunk = 0.45

// halvings of a range of scores are enough for where a level begins.
const halvings = 40

// Levels are models of losses.Ordinal.
type Levels struct {
	Score  Score
	Loss   losses.Ordinal
	Centre float64 // of the range of labels
}

// LevelsSize is that of [Levels.Evaluate] of k levels.
func LevelsSize(k int) Size { return Size{2, k * max(firstDim(), tuning.MostCells+k+1)} }

// LevelCounts releases how many rows have each level and a score in each cell. The question is
// the slope of losses.Squared at the score, shrunk to (0, 1), less the level.
type LevelCounts struct {
	task   Task
	in     *curator.Framed
	levels int
	at     Score // shrunk
	scale  float64
	bound  float64 // of a score before that
}

// NewLevelCounts takes rows under losses.Squared and the centre of their labels' range.
func NewLevelCounts(t Task, in *curator.Framed, levels int, of Score, centre float64) LevelCounts {
	c := LevelCounts{task: t, in: in, levels: levels, bound: math.Max(leastBound, of.Bound)}
	c.scale = shrunk / c.bound
	c.at = of.scaled(c.scale)
	c.at.Offset = float64(c.scale*of.Offset) + 0.5 - centre
	return c
}

// Between releases the counts of rows of each level between increasing edges of scores, with a
// share of μ²: the slope at a scaled score u is u − y, so that decreasing edges are those of the
// first level, 0, those of the second less 1, and so on.
func (c LevelCounts) Between(share float64, edges []float64) (list []float64, spread float64, err error) {
	var slopes []float64
	for y := range c.levels {
		for j := len(edges) - 1; j >= 0; j-- {
			slopes = append(slopes, float64(c.scale*edges[j])+0.5-float64(y))
		}
		if y < c.levels-1 {
			slopes = append(slopes, -float64(y))
		}
	}
	answer, err := c.in.Slopes(c.task.Ctx, slopes, c.at.Weights, c.at.Offset, curator.Ends{})
	if err != nil {
		return nil, 0, err
	}
	if list, spread, err = c.task.count(share, 1, answer); err != nil {
		return nil, 0, err
	}
	for y := range c.levels {
		slices.Reverse(list[y*(len(edges)+1) : (y+1)*(len(edges)+1)])
	}
	return list, spread, nil
}

// Joint is a histogram of scores for each level, one level after the other.
type Joint struct {
	Edges  []float64 // of the cells, increasing
	Beyond float64   // how far rows reach beyond them
	Counts []float64
	Spread float64 // standard deviation of a count's noise
}

// Joint releases a histogram with a share of μ², a part of which finds the range. There are so
// many cells, and more where others are cut by the given scores.
func (c LevelCounts) Joint(share float64, cells int, cuts ...float64) (j Joint, err error) {
	first := histogram.ScoreEdges(c.bound)
	list, spread, err := c.Between(tuning.RangeShare*share, first)
	if err != nil {
		return j, err
	}
	all := make([]float64, len(first)+1)
	for k, v := range list {
		all[k%len(all)] += v
	}
	j.Edges, j.Beyond = histogram.Cuts(first, all, float64(spread*math.Sqrt(float64(c.levels))), cells)
	if len(cuts) > 0 {
		for _, z := range cuts {
			if math.Abs(z) < c.bound {
				j.Edges = append(j.Edges, z)
			}
		}
		sort.Float64s(j.Edges)
		j.Edges = slices.Compact(j.Edges)
	}
	j.Counts, j.Spread, err = c.Between((1-tuning.RangeShare)*share, j.Edges)
	return j, err
}

// Evaluate releases how many rows have each level and a score in each cell, of rows under
// losses.Squared, and makes figures of that.
func (l Levels) Evaluate(t Task, in *curator.Framed) (*Result, error) {
	k := len(l.Loss.Thresholds) + 1
	j, err := NewLevelCounts(t, in, k, l.Score, l.Centre).Joint(1, t.cells(float64(k), tuning.CellWidthLevels), l.changes()...)
	if err != nil {
		return nil, err
	}
	c := newGrades(l.Loss, j.Edges, j.Beyond)
	r := &Result{}
	of := t.sample(j.Counts, j.Spread)
	list := of.intervals(c.figures)
	c.allowForFar(find(list, logLoss), j, l)
	raised(list, c.areas(overChords, of.pure()[0]))
	r.add(list...)
	r.table(c.confusion(j.Counts), k)
	r.arrange()
	return r, nil
}

// changes are the scores at which another level becomes the most likely one, which is a higher
// one the higher the score.
func (l Levels) changes() (list []float64) {
	likely := func(z float64) int { return floats.MaxIdx(l.Loss.Probabilities(z)) }
	low, high := l.Loss.Thresholds[0]-farthest, l.Loss.Thresholds[len(l.Loss.Thresholds)-1]+farthest
	for now := likely(low); now < likely(high); {
		z, up := low, high
		for range halvings {
			if middle := (z + up) / 2; likely(middle) <= now {
				z = middle
			} else {
				up = middle
			}
		}
		list = append(list, z)
		now = likely(z + math.Ldexp(high-low, 2-halvings))
	}
	return list
}
