package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/losses"
)

// ordered is the problem with thresholds to estimate, of which the counts are those of
// EvaluateLevels.
func (o *standardised) ordered(r *run) estimate.Ordered {
	return estimate.Ordered{Problem: o.estimate, Levels: o.unknown, Count: func(w []float64, share float64) (estimate.Cells, error) {
		return o.count(r, w, share)
	}}
}

// count releases how many rows have each level and a score in each cell, as EvaluateLevels does, with
// a share of μ²; for weights of 0 how many have each level.
func (o *standardised) count(r *run, w []float64, share float64) (c estimate.Cells, err error) {
	sums, err := r.data.Under(losses.Squared{})
	if err != nil {
		return c, err
	}
	p := &levelEvaluation{counting: counts(o.shape, o.estimate.Mu), shape: o.shape, k: o.unknown}
	p.ctx, p.allow = r.ctx, r.allow
	p.cells = min(max(int(math.Sqrt(float64(o.shape.Rows)*p.mu*math.Sqrt(share)/float64(p.k))), leastCells), mostCells)
	if err := p.take(&Model{weights: w}); err != nil {
		return c, err
	}
	if p.in, err = sums.Frame(r.ctx, curator.Frame{}); err != nil {
		return c, err
	}
	if floats.Norm(w[:o.shape.features()], math.Inf(1)) == 0 { // one cell
		c.Scores = []float64{w[len(w)-1]}
		c.Counts, c.Spread, err = p.levels(share, nil)
		return c, err
	}
	edges, beyond, err := p.scoreCells(share)
	if err != nil {
		return c, err
	}
	c.Scores = append(c.Scores, edges[0]-beyond)
	for j := 1; j < len(edges); j++ {
		c.Scores = append(c.Scores, (edges[j-1]+edges[j])/2)
	}
	c.Scores = append(c.Scores, edges[len(edges)-1]+beyond)
	c.Counts, c.Spread, err = p.levels((1-rangeShare)*share, edges)
	return c, err
}
