package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateLevels tells how good a model of losses.Ordinal is on the rows of d, privately, with
// intervals, as [Evaluate] does for other models. Labels are levels, as in training.
//
// Errors are those of [EvaluateClassesConfig.LevelsLedger], and of a model of another loss or
// one that wasn't trained with the facts of d, before anything is released; a call that stops
// later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are two histograms of rows by their level and their
// score, the first between fixed edges, the second between edges made of the first. They
// are asked for as those of [Evaluate] are: as the slopes of the squared loss at the score,
// shrunk to (0, 1) by a public bound on it, less the level, so that each level has an interval of
// its own. A row is in one cell of each, so that replacing it takes 1 from one count and adds 1
// to another: √2 in L2, and counts are exact. Noise is Gaussian, both from one pool of μ².
// Everything in the [ClassEvaluation] is computed from these counts and public numbers. What
// [Evaluate] says of the model's weights and of composition holds here.
//
// # Accuracy
//
// Intervals include sampling and noise, by simulating both. There are 8 to 64 cells for each
// level; rows are taken to be spread evenly over a cell, and the area under the curve of a level
// ranks cells by its mean probability in them. It takes two passes over the rows, O(n·d).
// There may be at most 100 levels.
func EvaluateLevels(ctx context.Context, d *Dataset, m *Model, b Budget, cfg EvaluateClassesConfig, env *Env) (*ClassEvaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.thresholds == nil {
		return nil, check.Fail(ErrModel, "model", m.loss, "must be one of losses.Ordinal")
	}
	p, err := cfg.planLevels(d.Shape(), losses.Ordinal{Thresholds: m.thresholds}, b)
	if err != nil {
		return nil, err
	}
	if err := p.take(m); err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	if _, err := d.data.Classes(ctx, p.k); err != nil {
		return nil, err
	}
	sums, err := d.data.Under(losses.Squared{})
	if err != nil {
		return nil, err
	}
	ledger := env.mark(p.ledger, d)
	if p.allow, err = env.allow(p.schedule, d, ledger, m, cfg); err != nil {
		return nil, err
	}
	p.ctx = ctx
	if p.in, err = sums.Frame(ctx, curator.Frame{}); err != nil {
		return nil, err
	}
	e := &ClassEvaluation{Rows: p.shape.Rows, Level: p.Level, Ledger: ledger}
	if err := p.evaluate(e); err != nil {
		return nil, stopped(p.allow, ledger, err)
	}
	for k, name := range m.Levels() {
		e.Classes[k].Name = name
	}
	return e, nil
}

// LevelsLedger is what [EvaluateLevels] would spend on data of the given shape, for a model of
// the loss: a dry run, before there is a model. It fails, by an [ArgumentError], where the shape,
// the loss, the budget or a parameter breaks its rule.
func (c EvaluateClassesConfig) LevelsLedger(s Shape, l losses.Ordinal, b Budget) (*Ledger, error) {
	p, err := c.planLevels(s, l, b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

// levelEvaluation is a planned one.
type levelEvaluation struct {
	EvaluateClassesConfig
	counting
	shape    Shape
	loss     losses.Ordinal
	k        int // levels
	cells    int // of each, in the second histogram
	schedule *release.Schedule
	ledger   *Ledger

	weights       []float64 // of the features, and offset, on the scale of (0, 1)
	offset, scale float64
	reach         float64 // bound on a score
	in            *curator.Framed
}

func (c EvaluateClassesConfig) planLevels(s Shape, l losses.Ordinal, b Budget) (*levelEvaluation, error) {
	var err error
	if c.Level, err = fraction("EvaluateClassesConfig.Level", c.Level, 0.95); err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	l = l.Filled()
	p := &levelEvaluation{EvaluateClassesConfig: c, loss: l, k: len(l.Thresholds) + 1}
	if p.k > mostEvaluated {
		return nil, check.Fail(ErrConfig, "levels", p.k, fmt.Sprintf("must be at most %d, to be evaluated", mostEvaluated))
	}
	if p.shape, err = s.under(losses.Squared{}); err != nil {
		return nil, err
	}
	if s.largestOffset() != 0 {
		return nil, check.Fail(ErrConfig, "dataset", nil, "must have no offsets, for levels")
	}
	const releases = 2
	dim := levelDim(p.k)
	each, err := b.gaussian(releases, dim)
	if err != nil {
		return nil, err
	}
	p.counting = counts(p.shape, each.Mu*math.Sqrt(releases)*(1-1e-9))
	p.cells = min(max(int(math.Sqrt(float64(p.shape.Rows)*p.mu/float64(p.k))/1.5), leastCells), mostCells)
	if p.schedule, err = release.Pool("evaluation of levels", p.mu, releases, dim); err != nil {
		return nil, err
	}
	p.ledger, err = b.ledger(p.schedule, p.shape)
	return p, err
}

// take scales the model's scores to (0, 1), less the labels' centre.
func (p *levelEvaluation) take(m *Model) error {
	s, offset := p.shape, m.offset
	if len(m.weights) != s.Dim {
		return check.Fail(ErrShape, "model", len(m.weights), fmt.Sprintf("must have %d weights", s.Dim))
	}
	p.weights = slices.Clone(m.weights[:s.features()])
	if s.Intercept {
		offset += m.weights[s.Dim-1]
	}
	p.reach = math.Max(1e-6, float64(s.rowBound()*vector.Norm(p.weights))+math.Abs(offset))
	if !(p.reach <= check.MaxScale) {
		return check.Fail(ErrModel, "largest score", p.reach, fmt.Sprintf("must be at most %g", check.MaxScale))
	}
	p.scale = 0.45 / p.reach
	floats.Scale(p.scale, p.weights)
	p.offset = float64(p.scale*offset) + 0.5 - s.shift(losses.Real)
	return nil
}

// levels releases the counts of rows of each level between increasing edges of scores: the
// slope at a scaled score u is u − y, so that decreasing edges are those of the first level,
// 0, those of the second less 1, and so on.
func (p *levelEvaluation) levels(share float64, edges []float64) (list []float64, spread float64, err error) {
	var slopes []float64
	for y := range p.k {
		for j := len(edges) - 1; j >= 0; j-- {
			slopes = append(slopes, float64(p.scale*edges[j])+0.5-float64(y))
		}
		if y < p.k-1 {
			slopes = append(slopes, -float64(y))
		}
	}
	answer, err := p.in.Slopes(p.ctx, slopes, p.weights, p.offset)
	if err != nil {
		return nil, 0, err
	}
	if list, spread, err = p.count(share, 1, 1, answer); err != nil {
		return nil, 0, err
	}
	for y := range p.k {
		slices.Reverse(list[y*(len(edges)+1) : (y+1)*(len(edges)+1)])
	}
	return list, spread, nil
}

// scoreCells releases the first of two histograms that have a share of μ² together, and returns
// the edges of the second, and how far rows lie beyond them.
func (p *levelEvaluation) scoreCells(share float64) (edges []float64, beyond float64, err error) {
	first := histogram.ScoreEdges(p.reach)
	list, spread, err := p.levels(rangeShare*share, first)
	if err != nil {
		return nil, 0, err
	}
	all := make([]float64, len(first)+1)
	for k, v := range list {
		all[k%len(all)] += v
	}
	edges, beyond = histogram.Cuts(first, all, float64(spread*math.Sqrt(float64(p.k))), p.cells)
	return edges, beyond, nil
}

// evaluate releases both histograms and makes figures of the second.
func (p *levelEvaluation) evaluate(e *ClassEvaluation) error {
	edges, beyond, err := p.scoreCells(1)
	if err != nil {
		return err
	}
	for _, z := range p.changes() {
		if math.Abs(z) < p.reach {
			edges = append(edges, z)
		}
	}
	sort.Float64s(edges)
	edges = slices.Compact(edges)
	list, spread, err := p.levels(1-rangeShare, edges)
	if err != nil {
		return err
	}
	newLevelled(p.loss, edges, beyond).fill(e, &sampled{level: p.Level, counts: [][]float64{list}, spreads: []float64{spread}})
	return nil
}

// changes are the scores at which another level becomes the most likely one, which is a higher
// one the higher the score.
func (p *levelEvaluation) changes() (list []float64) {
	likely := func(z float64) int { return floats.MaxIdx(p.loss.Probabilities(z)) }
	low, high := p.loss.Thresholds[0]-farthest, p.loss.Thresholds[p.k-2]+farthest
	for now := likely(low); now < likely(high); {
		z := crossing(low, high, func(z float64) bool { return likely(z) <= now })
		list = append(list, z)
		now = likely(z + math.Ldexp(high-low, -38)) // crossings are exact to 2⁻⁴⁰ of that
	}
	return list
}

// levelled makes figures of counts of rows of levels, in cells of scores.
type levelled struct {
	k      int
	likely []int       // of each cell, its most likely level
	mean   [][]float64 // of each level, its mean probability in each cell
	loss   [][]float64 // and the mean of −log of that
	square []float64   // of each cell, the mean sum of squared probabilities
	order  [][]int     // of each level, cells by its mean probability, the least first
}

func newLevelled(l losses.Ordinal, edges []float64, beyond float64) *levelled {
	const points = 8
	c := &levelled{k: len(l.Thresholds) + 1}
	ends := append(append([]float64{edges[0] - beyond}, edges...), edges[len(edges)-1]+beyond)
	c.mean, c.loss = make([][]float64, c.k), make([][]float64, c.k)
	for j := range len(ends) - 1 {
		mean, loss, square := make([]float64, c.k), make([]float64, c.k), 0.0
		for i := range points {
			z := ends[j] + float64((ends[j+1]-ends[j])*(float64(i)+0.5)/points)
			for y, q := range l.Probabilities(z) {
				mean[y] += q / points
				loss[y] += l.Value(z, float64(y)) / points
				square += float64(q*q) / points
			}
		}
		for y := range c.k {
			c.mean[y], c.loss[y] = append(c.mean[y], mean[y]), append(c.loss[y], loss[y])
		}
		c.square = append(c.square, square)
		c.likely = append(c.likely, floats.MaxIdx(l.Probabilities((ends[j]+ends[j+1])/2)))
	}
	for y := range c.k {
		order := make([]int, len(c.square))
		for j := range order {
			order[j] = j
		}
		sort.SliceStable(order, func(a, b int) bool { return c.mean[y][order[a]] < c.mean[y][order[b]] })
		c.order = append(c.order, order)
	}
	return c
}

// levelFigures is the number of figures before the levels'.
const levelFigures = 4

// figures are accuracy, log-loss, Brier score and the mean area under curves; rate, recall,
// precision and area of each level; and how many rows of each are taken for each.
func (c *levelled) figures(counts [][]float64) []float64 {
	cells := len(c.square)
	confusion, rows := make([]float64, c.k*c.k), make([]float64, cells)
	var n, loss, brier float64
	for y := range c.k {
		for j, v := range counts[0][y*cells : (y+1)*cells] {
			confusion[y*c.k+c.likely[j]] += v
			rows[j] += v
			n += v
			loss += float64(v * c.loss[y][j])
			brier += float64(v * (1 - 2*c.mean[y][j] + c.square[j]))
		}
	}
	var right, areas float64
	var levels []float64
	for y := range c.k {
		own, predicted, both := floats.Sum(confusion[y*c.k:(y+1)*c.k]), 0.0, confusion[y*c.k+y]
		for other := range c.k {
			predicted += confusion[other*c.k+y]
		}
		area := c.area(y, counts[0][y*cells:(y+1)*cells], rows)
		right, areas = right+both, areas+area
		levels = append(levels, own/n, both/own, both/predicted, area)
	}
	out := append([]float64{right / n, loss / n, brier / n, areas / float64(c.k)}, levels...)
	return append(out, confusion...)
}

// area is that under the ROC curve of a level's probability.
func (c *levelled) area(y int, own, rows []float64) float64 {
	ones, zeros := make([]float64, len(own)), make([]float64, len(own))
	for k, j := range c.order[y] {
		ones[k], zeros[k] = own[j], rows[j]-own[j]
	}
	return histogram.AUC(ones, zeros)
}

// fill writes the figures where they belong.
func (c *levelled) fill(e *ClassEvaluation, r *sampled) {
	v := r.intervals(c.figures, func(k int) (low, high float64) {
		switch {
		case k == 1 || k >= levelFigures+4*c.k: // log-loss, and counts
			return 0, math.Inf(1)
		case k == 2:
			return 0, 2
		}
		return 0, 1
	})
	e.Accuracy, e.LogLoss, e.Brier, e.AUC = v[0], v[1], v[2], v[3]
	for y := range c.k {
		of := v[levelFigures+4*y:]
		e.Classes = append(e.Classes, ClassFigures{Rate: of[0], Recall: of[1], Precision: of[2], AUC: of[3]})
	}
	counts := c.figures(r.counts)[levelFigures+4*c.k:]
	pure := histogram.Nonnegative(counts, math.Max(1, floats.Sum(counts)))
	for y := range c.k {
		e.Confusion = append(e.Confusion, pure[y*c.k:(y+1)*c.k])
	}
}
