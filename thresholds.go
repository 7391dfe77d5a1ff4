package dpglm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/estimate"
	"github.com/dpglm/dpglm/internal/evaluate"
	"github.com/dpglm/dpglm/losses"
)

// ordered is the problem with thresholds to estimate, of which the counts are those of an
// evaluation of levels.
func (o *standardised) ordered(r *run) estimate.Ordered {
	return estimate.Ordered{Problem: o.estimate, Levels: o.unknown, Count: func(w []float64, share float64) (estimate.Cells, error) {
		return o.count(r, w, share)
	}}
}

// count releases how many rows have each level and a score in each cell, as Evaluate does of levels, with
// a share of μ²; for weights of 0 how many have each level.
func (o *standardised) count(r *run, w []float64, share float64) (c estimate.Cells, err error) {
	sums, err := r.data.Under(losses.Squared{})
	if err != nil {
		return c, err
	}
	in, err := sums.Frame(r.ctx, curator.Frame{})
	if err != nil {
		return c, err
	}
	at, err := evaluate.NewScore(w, o.shape.Intercept, 0, o.shape.rowBound(), 0)
	if err != nil {
		return c, err
	}
	t := evaluate.Task{Ctx: r.ctx, Allow: r.allow, Mu: o.estimate.Mu, Rows: o.shape.Rows, Whole: !o.shape.Weighted && o.shape.PersonRows == 0}
	rows := evaluate.NewLevelCounts(t, in, o.unknown, at, o.shape.shift(losses.Real))
	if floats.Norm(w[:o.shape.features()], math.Inf(1)) == 0 { // one cell
		c.Scores = []float64{w[len(w)-1]}
		c.Counts, c.Spread, err = rows.Between(share, nil)
		return c, err
	}
	j, err := rows.Joint(share, evaluate.Cells(math.Sqrt(float64(o.shape.Rows)*o.estimate.Mu*math.Sqrt(share)/float64(o.unknown))))
	if err != nil {
		return c, err
	}
	c.Scores = append(c.Scores, j.Edges[0]-j.Beyond)
	for k := 1; k < len(j.Edges); k++ {
		c.Scores = append(c.Scores, (j.Edges[k-1]+j.Edges[k])/2)
	}
	c.Scores = append(c.Scores, j.Edges[len(j.Edges)-1]+j.Beyond)
	c.Counts, c.Spread = j.Counts, j.Spread
	return c, nil
}
