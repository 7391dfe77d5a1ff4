package dpglm

import (
	"math"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
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

// residuals releases how many rows have errors of prediction between edges, and how many
// have labels, and makes figures of both.
func (p *evaluation) residuals(e *Evaluation) error {
	bound := p.shape.LabelBound
	reach := bound + p.reach
	if p.loss.Labels() == losses.Count { // means beyond a million labels are one cell
		reach = bound + math.Min(math.Exp(math.Min(p.reach, 700)), 1e6*(1+bound))
	}
	r := &sampled{level: p.Level}
	var grids []grid
	for _, of := range []struct {
		in            *curator.Framed
		weights       []float64
		offset, reach float64
		part          float64
		whole         bool
	}{
		{p.shifted, p.weights, p.offset, reach, 1 - labelPart, false},
		// 0 or 1, less the label
		{p.plain, make([]float64, len(p.weights)), 0, bound + 1, labelPart, p.whole},
	} {
		g, err := p.grid(r, of.in, of.weights, of.offset, of.reach, of.part, of.whole)
		if err != nil {
			return err
		}
		grids = append(grids, g)
	}
	v := r.intervals(func(counts [][]float64) []float64 {
		mean, square := grids[0].moments(counts[0])
		labelMean, labelSquare := grids[1].moments(counts[1])
		return []float64{mean, math.Sqrt(square), 1 - square/(labelSquare-float64(labelMean*labelMean))}
	}, func(k int) (low, high float64) {
		return []float64{math.Inf(-1), 0, math.Inf(-1)}[k], []float64{math.Inf(1), math.Inf(1), 1}[k]
	})
	e.MeanError, e.RMSE, e.R2 = v[0], v[1], v[2]
	return nil
}

// grid is equal cells between two ends, with a cell of what lies beyond on either side.
type grid struct {
	high, step float64
	lattice    float64 // the distance between numbers that occur, 0 for any
}

// grid releases φ' of a model in cells over the range that stands out from noise, with a
// part of μ², and adds the counts to those that are sampled. Cells of whole numbers begin
// and end between them.
func (p *evaluation) grid(r *sampled, in *curator.Framed, weights []float64, offset, reach, part float64, whole bool) (grid, error) {
	edges := rangeEdges(reach)
	counts, spread, err := p.histogram(in, part*rangeShare, edges, weights, offset)
	if err != nil {
		return grid{}, err
	}
	first, last := standOut(counts, spread)
	high, low := edges[min(max(first-1, 0), len(edges)-1)], edges[min(last, len(edges)-1)]
	if !(low < high) {
		high, low = reach, -reach
	}
	high, low = high+float64(stretch*math.Abs(high)), low-float64(stretch*math.Abs(low))
	g := grid{high: high, step: (high - low) / float64(p.cells)}
	if whole {
		g = grid{math.Floor(high) + 0.5, math.Ceil(g.step), 1}
	}
	within := make([]float64, p.cells+1)
	for k := range within {
		within[k] = g.high - float64(float64(k)*g.step)
	}
	if counts, spread, err = p.histogram(in, part*(1-rangeShare), within, weights, offset); err != nil {
		return grid{}, err
	}
	r.counts, r.spreads = append(r.counts, counts), append(r.spreads, spread)
	return g, nil
}

// stretch is how far cells go beyond what stands out, for the tail that doesn't.
const stretch = 0.4

// moments are the mean and the mean square of what was counted, each in the middle of its
// cell, and what lies beyond half a cell beyond. Sheppard's correction takes away what the
// square gains by grouping, (step² − lattice²)/12 for numbers that are spread evenly.
func (g grid) moments(counts []float64) (mean, square float64) {
	var n float64
	for k, c := range counts {
		v := g.high - float64((float64(k)-0.5)*g.step)
		n += c
		mean += float64(c * v)
		square += float64(c * v * v)
	}
	return mean / n, square/n - float64((float64(g.step*g.step)-float64(g.lattice*g.lattice))/12)
}
