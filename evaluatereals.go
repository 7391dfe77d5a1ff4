package dpglm

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
)

// residual is a number of each row that is counted: the φ' of a model.
type residual struct {
	in      *curator.Framed
	weights []float64
	offset  float64
	edges   []float64 // of the first histogram
	part    float64   // of μ²
	histogram.Numbers
}

// errors are the errors of prediction: the model's mean less the label.
func (p *evaluation) errors() residual {
	bound := p.shape.LabelBound
	of := residual{in: p.shifted, weights: p.weights, offset: p.offset, part: 1 - labelPart}
	if p.loss.Labels().FromZero() { // means beyond a million labels are one cell
		of.Low, of.High = -bound, math.Min(math.Exp(math.Min(p.reach, 700)), 1e6*(1+bound))
		of.edges = histogram.RangeEdges(bound + of.High)
		return of
	}
	of.Low, of.High, of.edges = -bound-p.reach, bound+p.reach, histogram.RangeEdges(bound+p.reach)
	return of
}

// labels are 1 less the label, for counts and amounts, and the centre less it for others.
func (p *evaluation) labels() residual {
	bound := p.shape.LabelBound
	of := residual{in: p.plain, weights: make([]float64, len(p.weights)), part: labelPart, Numbers: histogram.Numbers{Whole: p.whole}}
	if p.loss.Labels().FromZero() {
		of.Low, of.High, of.edges = 1-bound, 1, histogram.RangeEdges(bound+1)
		return of
	}
	of.Low, of.High, of.edges, of.Origin = -bound, bound, histogram.SpanEdges(bound), p.shape.shift(p.loss.Labels())
	return of
}

// residuals releases how many rows have errors of prediction between edges, and how many
// have labels, and makes figures of both.
func (p *evaluation) residuals(e *Evaluation) error {
	r := &sampled{level: p.Level}
	var grids []histogram.Grid
	for _, of := range []residual{p.errors(), p.labels()} {
		g, err := p.grid(r, of)
		if err != nil {
			return err
		}
		grids = append(grids, g)
	}
	sums := func(slow bool) func(counts [][]float64) []float64 {
		return func(counts [][]float64) []float64 {
			mean, square := grids[0].Moments(counts[0])
			label, labels := grids[1].Moments(counts[1])
			errors := grids[0].Beyond(counts[0], r.spreads[0], 0, slow)
			apart := grids[1].Beyond(counts[1], r.spreads[1], label, slow)
			square += errors.Square
			spread := labels - float64(label*label) + apart.Square - float64(apart.Mean*apart.Mean)
			return []float64{mean + errors.Mean, math.Sqrt(square), square, spread}
		}
	}
	s := r.simulate(sums(false))
	e.MeanError = s.interval(0, math.Inf(-1), math.Inf(1))
	e.RMSE = s.interval(1, 0, math.Inf(1))
	e.R2 = s.explained(2, 3)
	allow(e, s.released, sums(true)(r.counts), grids[0].Beyond(r.counts[0], r.spreads[0], 0, true).Spread/math.Sqrt(float64(p.shape.Rows)))
	return nil
}

// allow widens intervals by what may lie beyond the cells: sums by the law that is seen are
// released, those by a slower one are slow, and the spread is that of the mean square by sampling
// rows from there. A mean square that may be more than four times what is seen isn't known.
func allow(e *Evaluation, released, slow []float64, spread float64) {
	square := math.Hypot(slow[2]-released[2], 2*spread)
	if !(square < 3*released[2]) {
		e.RMSE, e.R2 = Interval{}, Interval{}
	}
	off := slow[0] - released[0]
	e.MeanError = e.MeanError.wider(math.Max(0, -off), math.Max(0, off))
	e.RMSE = e.RMSE.wider(0, math.Sqrt(released[2]+square)-released[1])
	all := slow[3] - released[3]
	e.R2 = e.R2.wider(square/released[3], released[2]*all/float64(released[3]*released[3])).within(math.Inf(-1), 1)
}

// wider has ends that lie farther out; what drowned stays so.
func (x Interval) wider(below, above float64) Interval {
	if x == (Interval{}) {
		return x
	}
	return Interval{x.Value, x.Low - below, x.High + above}
}

// explained is 1 less the ratio of two sums, the second of which has no known sign: the
// ratio is taken of the sums that may be, and where more than a tail of the second are not
// above 0 nothing is known of it.
func (s *simulated) explained(rest, all int) Interval {
	x := 1 - s.released[rest]/s.released[all]
	may := make([]float64, simulations)
	for k := range may {
		may[k] = math.NaN()
		if of := s.released[all] - s.drawn[all][k]; of > 0 {
			may[k] = 1 - math.Max(0, s.released[rest]-s.drawn[rest][k])/of
		}
	}
	slices.Sort(may) // NaN first, as ratios without a bound are
	at := s.tail()
	if !(s.released[rest] > 0 && s.released[all] > 0) || math.IsNaN(may[at-1]) {
		return Interval{}
	}
	return Interval{x, math.Min(x, may[at-1]), math.Max(x, may[simulations-at])}
}

// grid releases a number of each row in cells over the range that stands out from noise, and
// adds the counts to those that are sampled.
func (p *evaluation) grid(r *sampled, of residual) (histogram.Grid, error) {
	counts, spread, err := p.histogram(of.in, of.part*rangeShare, of.edges, of.weights, of.offset)
	if err != nil {
		return histogram.Grid{}, err
	}
	low, high := of.Span(of.edges, counts, spread)
	g := of.Grid(low, high, p.cells)
	lists, share := make([][]float64, g.Shifts), of.part*(1-rangeShare)/float64(g.Shifts)
	for k := range lists {
		if lists[k], spread, err = p.histogram(of.in, share, g.Edges(k), of.weights, of.offset); err != nil {
			return histogram.Grid{}, err
		}
	}
	r.counts, r.spreads, r.shifts = append(r.counts, histogram.Overlay(lists)), append(r.spreads, spread), append(r.shifts, g.Shifts)
	return g, nil
}
