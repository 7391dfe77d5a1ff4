package evaluate

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Numbers are models of real labels, counts or amounts.
type Numbers struct {
	Score Score
	Loss  losses.Loss // whose slope is the mean less the label: losses.Squared or losses.CappedPoisson
	Whole bool        // whether labels are whole numbers
	// LabelBound is half the width of the labels' range, and Centre its middle, or the range's
	// upper end and 0 for counts and amounts.
	LabelBound, Centre float64
	// Ends are those that scores for real labels are held to, less Centre; others are held by Loss.
	Ends curator.Ends
}

// NumbersSize is that of [Numbers.Evaluate].
func NumbersSize() Size {
	return Size{2 + 2*histogram.Shifts, max(len(histogram.SpanEdges(1))+1, 2*mostListed)}
}

// residual is a number of each row that is counted: the φ' of a model.
type residual struct {
	in     *curator.Framed
	score  Score
	ends   curator.Ends // of scores
	edges  []float64    // of the first histogram
	share  float64      // of μ²
	number histogram.Numbers
}

// errors are the errors of prediction: the model's mean less the label.
func (m Numbers) errors(in *curator.Framed) residual {
	bound := m.LabelBound
	of := residual{in: in, score: m.Score, share: 1 - tuning.LabelShare}
	if m.Whole {
		of.number.Apart = 1
	}
	if m.Loss.Labels().FromZero() { // means are held to the largest label, or, of events, to the loss's largest
		most := math.Max(1, bound)
		if c, ok := m.Loss.(losses.CappedPoisson); ok {
			most = math.Max(most, c.Cap)
		}
		of.number.Low, of.number.High = -bound, math.Min(math.Exp(math.Min(m.Score.Bound, largestExponent)), most)
		of.edges = histogram.RangeEdges(bound + of.number.High)
		return of
	}
	of.ends = m.Ends
	low, high := m.Ends.Hold(-m.Score.Bound), m.Ends.Hold(m.Score.Bound)
	most := bound + math.Max(math.Abs(low), math.Abs(high))
	of.number.Low, of.number.High, of.edges = -most, most, histogram.RangeEdges(most)
	return of
}

// largestExponent is that of a float64.
const largestExponent = 700

// labels are 1 less the label, for counts and amounts, and the centre less it for others.
func (m Numbers) labels(in *curator.Framed) residual {
	bound := m.LabelBound
	of := residual{in: in, score: Score{Weights: make([]float64, len(m.Score.Weights))}, share: tuning.LabelShare, number: histogram.Numbers{Whole: m.Whole}}
	if m.Loss.Labels().FromZero() {
		of.number.Low, of.number.High, of.edges = 1-bound, 1, histogram.RangeEdges(bound+1)
		return of
	}
	of.number.Low, of.number.High, of.number.Origin, of.edges = -bound, bound, m.Centre, histogram.SpanEdges(bound)
	return of
}

// counted are errors and labels in cells, as they were released.
type counted struct {
	of             *sampled
	errors, labels histogram.Grid
}

// Evaluate releases how many rows have errors of prediction between edges, of rows with their
// offsets, and how many have labels, of rows without, and makes figures of both.
func (m Numbers) Evaluate(t Task, shifted, plain *curator.Framed) (*Result, error) {
	c := counted{of: t.sampling()}
	var err error
	if c.errors, err = t.grid(c.of, m.errors(shifted)); err != nil {
		return nil, err
	}
	if c.labels, err = t.grid(c.of, m.labels(plain)); err != nil {
		return nil, err
	}
	s := c.of.simulate(c.figures)
	f := ofErrors{s.interval(s.at(meanError)), s.interval(s.at(rootSquare)), s.explained()}
	spread := c.errors.Beyond(c.of.counts[0], c.of.spreads[0], 0, true).Spread
	f = f.widened(c.sums(c.of.counts, false), c.sums(c.of.counts, true), spread/math.Sqrt(float64(t.Rows)), c.mayHide())
	if f.mean = f.mean.within(c.errors.Least, c.errors.Most); f.mean.Low == c.errors.Least && f.mean.High == c.errors.Most {
		f.mean = Interval{} // it says nothing
	}
	r := &Result{}
	low, high := c.errors.Ends(c.of.counts[0], c.of.spreads[0], (1-t.Confidence)/2, bothEnds)
	r.Errors = [2]float64{low, high}
	r.add(meanError.figure(f.mean), rootSquare.figure(f.root), explained.figure(f.part))
	return r, nil
}

// bothEnds are the standard deviations that each of two ends is off by, for both together to hold too little once in
// twenty times: 1.645/√2, as their errors are independent and margins add up.
const bothEnds = 1.163

// grid releases a number of each row in cells over the range that stands out from noise, and
// adds the counts to those that are sampled.
func (t Task) grid(r *sampled, of residual) (histogram.Grid, error) {
	ask := func(share float64, edges []float64) ([]float64, float64, error) {
		answer, err := of.in.Slopes(t.Ctx, edges, of.score.Weights, of.score.Offset, of.ends)
		if err != nil {
			return nil, 0, err
		}
		return t.count(share, 1, answer)
	}
	counts, spread, err := ask(of.share*tuning.RangeShare, of.edges)
	if err != nil {
		return histogram.Grid{}, err
	}
	low, high := of.number.Span(of.edges, counts, spread)
	g := of.number.Grid(low, high, t.cells(1, tuning.CellWidth))
	lists, share := make([][]float64, g.Shifts), of.share*(1-tuning.RangeShare)/float64(g.Shifts)
	for k := range lists {
		if lists[k], spread, err = ask(share, g.Edges(k)); err != nil {
			return histogram.Grid{}, err
		}
	}
	r.counts, r.spreads, r.shifts = append(r.counts, histogram.Overlay(lists)), append(r.spreads, spread), append(r.shifts, g.Shifts)
	return g, nil
}

// sums are what figures of errors are made of.
type sums struct{ mean, root, square, variance float64 }

// sums are those of counts, with what lies beyond the cells by the law that is seen, or by one
// that falls more slowly.
func (c counted) sums(counts [][]float64, slow bool) sums {
	mean, square := c.errors.Moments(counts[0])
	label, labels := c.labels.Moments(counts[1])
	errors := c.errors.Beyond(counts[0], c.of.spreads[0], 0, slow)
	apart := c.labels.Beyond(counts[1], c.of.spreads[1], label, slow)
	square += errors.Square
	spread := labels - float64(label*label) + apart.Square - float64(apart.Mean*apart.Mean)
	return sums{mean + errors.Mean, math.Sqrt(square), square, spread}
}

// hidden is what rows may add that noise hides: to the mean error on either side, to the mean square, and to the labels' variance.
type hidden struct {
	below, above     histogram.Added
	square, variance float64
}

func (c counted) mayHide() (h hidden) {
	h.below, h.above, h.square = c.errors.MayHide(c.of.counts[0], c.of.spreads[0], 0)
	label, _ := c.labels.Moments(c.of.counts[1])
	_, _, h.variance = c.labels.MayHide(c.of.counts[1], c.of.spreads[1], label)
	return h
}

func (c counted) figures(counts [][]float64) []reading {
	s := c.sums(counts, false)
	return []reading{{meanError, s.mean}, {rootSquare, s.root}, {meanSquare, s.square}, {variance, s.variance}}
}

// ofErrors are the mean, the root of the mean square, and the part of the labels' variance that
// is explained.
type ofErrors struct{ mean, root, part Interval }

// widened are intervals with what may lie beyond the cells: sums by the law that is seen are
// released, those by a slower one are slow, and the spread is that of the mean square by sampling
// rows from there. A mean square isn't known that rows which noise hides may double. Where by the law that is seen these
// add more to a mean than its interval is long to a side they may lie anywhere. A labels' variance that is larger by what they add makes R² larger.
func (f ofErrors) widened(released, slow sums, spread float64, may hidden) ofErrors {
	square := math.Hypot(slow.square-released.square, 2*spread)
	if !(math.Max(square, may.square) < tuning.Doubtless*released.square) {
		f.root, f.part = Interval{}, Interval{}
	}
	all, half := math.Max(slow.variance-released.variance, may.variance), (f.mean.High-f.mean.Low)/2
	return ofErrors{
		f.mean.wider(may.below.Within(half), may.above.Within(half)),
		f.root.wider(0, math.Sqrt(released.square+square)-released.root),
		f.part.wider(square/released.variance, released.square*all/(released.variance*(released.variance+all))).within(math.Inf(-1), 1),
	}
}

// explained is 1 less the ratio of two sums, the second of which has no known sign: the
// ratio is taken of the sums that may be, and where more than a tail of the second are not
// above 0 nothing is known of it.
func (s *simulated) explained() Interval {
	rest, all := s.at(meanSquare), s.at(variance)
	left, whole := s.released[rest].value, s.released[all].value
	x := 1 - left/whole
	may := make([]float64, simulations)
	for k := range may {
		may[k] = math.NaN()
		if of := s.may[all][k]; of > 0 {
			may[k] = 1 - math.Max(0, s.may[rest][k])/of
		}
	}
	slices.Sort(may) // NaN first, as ratios without a bound are
	at := s.tail()
	if !(left > 0 && whole > 0) || math.IsNaN(may[at-1]) {
		return Interval{}
	}
	return Interval{x, math.Min(x, may[at-1]), math.Max(x, may[simulations-at])}
}
