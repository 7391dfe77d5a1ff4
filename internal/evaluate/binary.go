package evaluate

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Binary are models of two classes.
type Binary struct {
	Score     Score
	Link      losses.Link
	Threshold float64 // the probability above which a row is classified as 1
}

// BinarySize is that of [Binary.Evaluate].
func BinarySize() Size { return Size{2, 2 * max(firstDim(), mostListed+histogram.MostFarther)} }

// leastBound is that of scores which are all 0: edges need a range.
const leastBound = 1e-6

// Evaluate releases how many rows of each class have scores between edges, and makes figures of
// them. The question is the slope of losses.Logistic, which tells the class and the score.
func (b Binary) Evaluate(t Task, in *curator.Framed) (*Result, error) {
	first := histogram.ScoreEdges(math.Max(b.Score.Bound, leastBound))
	zeros, ones, spread, err := b.scores(t, in, tuning.RangeShare, first)
	if err != nil {
		return nil, err
	}
	both := floats.AddTo(make([]float64, len(zeros)), zeros, ones)
	cut := math.Log(b.Threshold) - math.Log1p(-b.Threshold)
	if b.Link == losses.ProbitLink {
		cut = distuv.UnitNormal.Quantile(b.Threshold)
	}
	near, beyond := histogram.Cuts(first, both, float64(spread*math.Sqrt2), t.cells(1, tuning.CellWidth))
	near = append(near, cut)
	sort.Float64s(near)
	edges := histogram.Farther(near, b.Score.Bound)
	if zeros, ones, spread, err = b.scores(t, in, 1-tuning.RangeShare, edges); err != nil {
		return nil, err
	}
	both = floats.AddTo(make([]float64, len(zeros)), zeros, ones)
	below, above := slices.Index(edges, near[0]), len(edges)-1-slices.Index(edges, near[len(near)-1])
	c := newScored(edges, histogram.Folded(both, spread*math.Sqrt2, below, above), beyond, cut, gradedBy(b.Link), spread)
	of := t.sample(append(zeros, ones...), spread)
	list := c.intervals(of)
	if c.by.probabilities {
		c.allowForFar(list, of.counts, b.Score.Bound)
	}
	raised(list, []reading{c.areaOverChords(of.pure())})
	r := &Result{ROC: curve(list, falsePositive, truePositive), Calibration: curve(list, predicted, observed)}
	r.add(list[:c.plain()]...)
	return r, nil
}

// scores releases the counts of zeros and of ones between increasing edges of scores.
// φ' is the probability σ(z) for zeros and σ(z) − 1 for ones, so the decreasing edges
// of its histogram are those for zeros, 0, and those for ones. Where scores may lie beyond
// those that are told apart all are scaled, and the edges between them too.
func (b Binary) scores(t Task, in *curator.Framed, share float64, edges []float64) (zeros, ones []float64, spread float64, err error) {
	scale, at := 1.0, b.Score
	if at.Bound > farthest {
		scale = farthest / at.Bound
		at = at.scaled(scale)
	}
	k := len(edges)
	slopes := make([]float64, 2*k+1)
	for i, e := range edges {
		e *= scale
		slopes[k-1-i] = losses.Logit.Mean(e)
		slopes[2*k-i] = -losses.Logit.Mean(-e)
	}
	answer, err := in.Slopes(t.Ctx, slopes, at.Weights, at.Offset, curator.Ends{})
	if err != nil {
		return nil, nil, 0, err
	}
	counts, spread, err := t.count(share, 1, answer)
	if err != nil {
		return nil, nil, 0, err
	}
	zeros, ones = make([]float64, k+1), make([]float64, k+1)
	for i := range zeros {
		zeros[i], ones[i] = counts[k-i], counts[2*k+1-i]
	}
	return zeros, ones, spread, nil
}
