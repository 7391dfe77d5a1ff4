package dpglm

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
)

// rangeEdges are fixed edges within ±reach: 0 and ±reach/2^j, decreasing.
func rangeEdges(reach float64) []float64 {
	const halvings = 25
	edges := make([]float64, 2*halvings+1)
	for j := range halvings {
		e := math.Ldexp(reach, -j)
		edges[j], edges[2*halvings-j] = e, -e
	}
	return edges
}

// spanEdges are those and equal steps between them, for what may lie far from 0.
func spanEdges(reach float64) []float64 {
	const steps = 32
	edges := rangeEdges(reach)
	for k := -steps; k <= steps; k++ {
		edges = append(edges, reach*float64(k)/steps)
	}
	slices.Sort(edges)
	slices.Reverse(edges)
	return slices.Compact(edges)
}

// residual is a number of each row that is counted: the φ' of a model.
type residual struct {
	in        *curator.Framed
	weights   []float64
	offset    float64
	low, high float64   // what it can be
	edges     []float64 // of the first histogram
	part      float64   // of μ²
	whole     bool      // whether it is a whole number
	origin    float64   // what it is whole numbers apart from, where labels are whole
}

// errors are the errors of prediction: the model's mean less the label.
func (p *evaluation) errors() residual {
	bound := p.shape.LabelBound
	of := residual{in: p.shifted, weights: p.weights, offset: p.offset, part: 1 - labelPart}
	if p.loss.Labels().FromZero() { // means beyond a million labels are one cell
		of.low, of.high = -bound, math.Min(math.Exp(math.Min(p.reach, 700)), 1e6*(1+bound))
		of.edges = rangeEdges(bound + of.high)
		return of
	}
	of.low, of.high, of.edges = -bound-p.reach, bound+p.reach, rangeEdges(bound+p.reach)
	return of
}

// labels are 1 less the label, for counts and amounts, and the centre less it for others.
func (p *evaluation) labels() residual {
	bound := p.shape.LabelBound
	of := residual{in: p.plain, weights: make([]float64, len(p.weights)), part: labelPart, whole: p.whole}
	if p.loss.Labels().FromZero() {
		of.low, of.high, of.edges = 1-bound, 1, rangeEdges(bound+1)
		return of
	}
	of.low, of.high, of.edges, of.origin = -bound, bound, spanEdges(bound), p.shape.shift(p.loss.Labels())
	return of
}

// residuals releases how many rows have errors of prediction between edges, and how many
// have labels, and makes figures of both.
func (p *evaluation) residuals(e *Evaluation) error {
	r := &sampled{level: p.Level}
	var grids []grid
	for _, of := range []residual{p.errors(), p.labels()} {
		g, err := p.grid(r, of)
		if err != nil {
			return err
		}
		grids = append(grids, g)
	}
	sums := func(slow bool) func(counts [][]float64) []float64 {
		return func(counts [][]float64) []float64 {
			mean, square := grids[0].moments(counts[0])
			label, labels := grids[1].moments(counts[1])
			errors := grids[0].tails(counts[0], r.spreads[0], 0, slow)
			apart := grids[1].tails(counts[1], r.spreads[1], label, slow)
			square += errors.square
			spread := labels - float64(label*label) + apart.square - float64(apart.mean*apart.mean)
			return []float64{mean + errors.mean, math.Sqrt(square), square, spread}
		}
	}
	s := r.simulate(sums(false))
	e.MeanError = s.interval(0, math.Inf(-1), math.Inf(1))
	e.RMSE = s.interval(1, 0, math.Inf(1))
	e.R2 = s.explained(2, 3)
	allow(e, s.released, sums(true)(r.counts), grids[0].tails(r.counts[0], r.spreads[0], 0, true).spread/math.Sqrt(float64(p.shape.Rows)))
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

// grid is equal cells between two ends, with a cell of what lies beyond on either side. All
// are counted so many times, each time lower by an equal part of a cell.
type grid struct {
	high, step    float64
	least, most   float64 // what the number can be
	cells, shifts int
	lattice       float64 // the distance between numbers that occur, 0 for any
}

// shifts is how often cells are counted, each time with a part of μ²: the mean of all
// has the noise of one grid, and cells as narrow as all edges together make them.
const shifts = 4

// grid releases a number of each row in cells over the range that stands out from noise, and
// adds the counts to those that are sampled.
func (p *evaluation) grid(r *sampled, of residual) (grid, error) {
	counts, spread, err := p.histogram(of.in, of.part*rangeShare, of.edges, of.weights, of.offset)
	if err != nil {
		return grid{}, err
	}
	low, high := of.span(counts, spread)
	g := of.grid(low, high, p.cells)
	lists, share := make([][]float64, g.shifts), of.part*(1-rangeShare)/float64(g.shifts)
	for k := range lists {
		if lists[k], spread, err = p.histogram(of.in, share, g.edges(k), of.weights, of.offset); err != nil {
			return grid{}, err
		}
	}
	r.counts, r.spreads, r.shifts = append(r.counts, overlaid(lists)), append(r.spreads, spread), append(r.shifts, g.shifts)
	return g, nil
}

// span is the range that stands out from noise and a part of it on both sides, for the tail
// that doesn't.
func (of residual) span(counts []float64, spread float64) (low, high float64) {
	const stretch = 0.4
	first, last := standOut(counts, spread)
	high, low = of.edges[min(max(first-1, 0), len(of.edges)-1)], of.edges[min(last, len(of.edges)-1)]
	width := high - low
	high = math.Min(high+float64(stretch*math.Min(math.Abs(high), width)), of.high)
	low = math.Max(low-float64(stretch*math.Min(math.Abs(low), width)), of.low)
	if !(low < high) {
		return of.low, of.high
	}
	return low, high
}

// grid is so many cells, or fewer, and those beyond. Whole numbers are in the middle of a narrow
// cell, of those that all edges make, where these aren't wider than 1; where they are wider
// no edge is on one, if all are whole, and else the origin is in the middle.
func (of residual) grid(low, high float64, cells int) grid {
	g := grid{step: (high - low) / float64(cells), least: of.low, most: of.high, shifts: shifts}
	switch narrow := g.step / shifts; {
	case of.whole && g.step <= shifts:
		g.step = math.Max(1, math.Ceil(g.step))
		g.shifts, g.lattice = int(g.step), 1
	case of.whole:
		g.step, g.lattice = shifts*math.Ceil(narrow), 1
	case narrow < 1:
		g.step = shifts / math.Floor(1/narrow)
	}
	// The grids' ends lie about those of the range, and what the number can be is in their
	// cells or in those beyond.
	narrow, part := g.step/float64(g.shifts), 1/float64(g.shifts)
	about := (g.step - narrow) / 2
	apart := narrow
	if of.whole {
		apart = 1
	}
	g.high = of.origin + float64(apart*(math.Round((math.Min(high+about, of.high-narrow)-of.origin)/apart)+0.5))
	within, all := (g.high-low-about)/g.step-part, (g.high-of.low)/g.step-1+float64(part/2)
	g.cells = max(1, int(math.Ceil(math.Min(within, all)-1e-9)))
	return g
}

// edges are those of the cells when they are counted for the k-th time.
func (g grid) edges(k int) []float64 {
	edges := make([]float64, g.cells+1)
	for j := range edges {
		edges[j] = g.high - float64((float64(j)+float64(k)/float64(g.shifts))*g.step)
	}
	return edges
}

// overlaid are the counts of the narrow cells that grids make together, each lower by one of
// these than that before: the mean of the grids, in which rows are spread evenly over a
// cell.
func overlaid(lists [][]float64) []float64 {
	shifts := len(lists)
	out := make([]float64, shifts*(len(lists[0])+1)-1)
	for k, counts := range lists {
		for j, c := range counts {
			for i := range shifts {
				out[k+j*shifts+i] += c / float64(shifts*shifts)
			}
		}
	}
	return out
}

// moments are the mean and the mean square of what was counted, each in the middle of its
// narrow cell, where what lies beyond is taken to be within a cell. Sheppard's correction
// takes away what the square gains by grouping, (step² − lattice²)/12 for numbers that are
// spread evenly, and what it gains by overlaying the grids.
func (g grid) moments(counts []float64) (mean, square float64) {
	var n float64
	narrow := g.step / float64(g.shifts)
	for k, c := range counts {
		v := g.high + g.step - float64((float64(k)+0.5)*narrow)
		n += c
		mean += float64(c * v)
		square += float64(c * v * v)
	}
	gained := 2*float64(g.step*g.step) - float64(narrow*narrow) - float64(g.lattice*g.lattice)
	return mean / n, square/n - gained/12
}
