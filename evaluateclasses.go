package dpglm

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/losses"
)

// classes releases how many rows of each class have scores between edges, and makes
// figures of them.
func (p *evaluation) classes(e *Evaluation, m *Model) error {
	first := histogram.ScoreEdges(max(p.reach, 1e-6))
	zeros, ones, spread, err := p.scores(rangeShare, first)
	if err != nil {
		return err
	}
	both := make([]float64, len(zeros))
	for k := range both {
		both[k] = zeros[k] + ones[k]
	}
	g := gradedBy(m.link)
	cut := math.Log(p.Threshold) - math.Log1p(-p.Threshold)
	if m.link == losses.ProbitLink {
		cut = distuv.UnitNormal.Quantile(p.Threshold)
	}
	edges, beyond := histogram.Cuts(first, both, float64(spread*math.Sqrt2), p.cells)
	edges = append(edges, cut)
	sort.Float64s(edges)
	if zeros, ones, spread, err = p.scores(1-rangeShare, edges); err != nil {
		return err
	}
	c := newClassed(edges, beyond, cut, g)
	r := &sampled{level: p.Level, counts: [][]float64{append(zeros, ones...)}, spreads: []float64{spread}}
	c.fill(e, r.intervals(c.figures, rangeOf))
	return nil
}

// scores releases the counts of zeros and of ones between increasing edges of scores.
// φ' is the probability σ(z) for zeros and σ(z) − 1 for ones, so the decreasing edges
// of its histogram are those for zeros, 0, and those for ones.
func (p *evaluation) scores(share float64, edges []float64) (zeros, ones []float64, spread float64, err error) {
	k := len(edges)
	slopes := make([]float64, 2*k+1)
	for i, e := range edges {
		e *= p.scale
		slopes[k-1-i] = losses.Logit.Mean(e)
		slopes[2*k-i] = -losses.Logit.Mean(-e)
	}
	counts, spread, err := p.histogram(p.plain, share, slopes, p.weights, p.offset)
	if err != nil {
		return nil, nil, 0, err
	}
	zeros, ones = make([]float64, k+1), make([]float64, k+1)
	for i := range zeros {
		zeros[i], ones[i] = counts[k-i], counts[2*k+1-i]
	}
	return zeros, ones, spread, nil
}

// graded are a model's probabilities at scores, or those of a logistic model where it has
// none.
type graded struct {
	probabilities bool
	loss          losses.Loss // −log of a class's probability
	mean, logOdds func(z float64) float64
}

func gradedBy(link losses.Link) graded {
	if link != losses.ProbitLink {
		return graded{link == losses.Logit, losses.Logistic{}, losses.Logit.Mean, func(z float64) float64 { return z }}
	}
	loss := losses.Probit{}
	return graded{true, loss, link.Mean, func(z float64) float64 { return loss.Value(z, -1) - loss.Value(z, 1) }}
}

// classed makes figures of counts of zeros, then ones, between edges.
type classed struct {
	edges         []float64
	cut           int // the cells from here on are classified as 1
	probabilities bool
	// Of each cell, of rows spread evenly over it: the mean log-odds, probability,
	// squared probability and the losses of ones and of zeros.
	score, mean, square, one, zero []float64
	groups                         [][2]int // of the calibration curve
}

func newClassed(edges []float64, beyond, cut float64, g graded) *classed {
	c := &classed{edges: edges, cut: sort.SearchFloat64s(edges, cut) + 1, probabilities: g.probabilities}
	const points = 8
	ends := append(append([]float64{edges[0] - beyond}, edges...), edges[len(edges)-1]+beyond)
	for k := range len(ends) - 1 {
		low, high := ends[k], ends[k+1]
		var score, mean, square, one, zero float64
		for i := range points {
			z := low + float64((high-low)*(float64(i)+0.5)/points)
			q := g.mean(z)
			score += g.logOdds(z) / points
			mean += q / points
			square += float64(q*q) / points
			one += g.loss.Value(z, 1) / points
			zero += g.loss.Value(z, -1) / points
		}
		c.score, c.mean, c.square = append(c.score, score), append(c.mean, mean), append(c.square, square)
		c.one, c.zero = append(c.one, one), append(c.zero, zero)
	}
	cells := len(c.score)
	groups := min(10, cells)
	for g := range groups {
		c.groups = append(c.groups, [2]int{g * cells / groups, (g + 1) * cells / groups})
	}
	return c
}

// plainFigures is the number of figures before the curves.
const plainFigures = 7

// figures are accuracy, AUC, rate of ones, log-loss, Brier score, intercept and slope of
// calibration; true positive rates and false positive rates at each edge, from the
// highest; mean probabilities and rates of ones of the groups of cells.
func (c *classed) figures(counts [][]float64) []float64 {
	cells := len(c.score)
	zeros, ones := counts[0][:cells], counts[0][cells:]
	var n0, n1, right, loss, brier float64
	for k := range cells {
		n0 += zeros[k]
		n1 += ones[k]
		if k >= c.cut {
			right += ones[k]
		} else {
			right += zeros[k]
		}
		loss += float64(ones[k]*c.one[k]) + float64(zeros[k]*c.zero[k])
		brier += float64(ones[k]*(1-2*c.mean[k]+c.square[k])) + float64(zeros[k]*c.square[k])
	}
	n := n0 + n1
	intercept, slope := math.NaN(), math.NaN()
	if c.probabilities {
		intercept, slope = c.calibrate(zeros, ones)
	}
	out := []float64{right / n, histogram.AUC(ones, zeros), n1 / n, loss / n, brier / n, intercept, slope}
	var t0, t1 float64
	for k := cells - 1; k > 0; k-- {
		t0 += zeros[k]
		t1 += ones[k]
		out = append(out, t1/n1, t0/n0)
	}
	for _, g := range c.groups {
		var mean, rate, rows float64
		for k := g[0]; k < g[1]; k++ {
			rows += zeros[k] + ones[k]
			rate += ones[k]
			mean += float64(c.mean[k] * (zeros[k] + ones[k]))
		}
		out = append(out, mean/rows, rate/rows)
	}
	return out
}

// rangeOf is what the k-th of these figures can be.
func rangeOf(k int) (low, high float64) {
	switch {
	case k < 3 || k == 4 || k >= plainFigures: // a share of rows, or a mean of what lies in [0, 1]
		return 0, 1
	case k == 3:
		return 0, math.Inf(1)
	}
	return math.Inf(-1), math.Inf(1)
}

// calibrate fits classes to an intercept and a slope of the cells' mean log-odds, by
// Newton's method; NaN where counts drown in noise.
func (c *classed) calibrate(zeros, ones []float64) (a, b float64) {
	b = 1
	for range 50 {
		var ga, gb, haa, hab, hbb float64
		for k, z := range c.score {
			q, rows := losses.Logit.Mean(a+float64(b*z)), zeros[k]+ones[k]
			g, h := ones[k]-float64(rows*q), float64(rows*q*(1-q))
			ga += g
			gb += float64(g * z)
			haa += h
			hab += float64(h * z)
			hbb += float64(h * z * z)
		}
		det := float64(haa*hbb) - float64(hab*hab)
		if !(haa > 0 && det > 1e-9*haa*hbb) {
			break
		}
		da, db := (float64(hbb*ga)-float64(hab*gb))/det, (float64(haa*gb)-float64(hab*ga))/det
		longest := math.Max(math.Abs(da), math.Abs(db))
		held := math.Min(1, 1/longest)
		a, b = a+float64(held*da), b+float64(held*db)
		if longest < 1e-10 {
			return a, b
		}
	}
	return math.NaN(), math.NaN()
}

// fill writes the figures where they belong.
func (c *classed) fill(e *Evaluation, v []Interval) {
	e.Accuracy, e.AUC, e.Rate = v[0], v[1], v[2]
	if c.probabilities {
		e.LogLoss, e.Brier, e.CalibrationIntercept, e.CalibrationSlope = v[3], v[4], v[5], v[6]
	}
	v = v[plainFigures:]
	for range len(c.score) - 1 {
		e.ROC, v = append(e.ROC, [2]Interval{v[1], v[0]}), v[2:]
	}
	for range c.groups {
		if c.probabilities {
			e.Calibration = append(e.Calibration, [2]Interval{v[0], v[1]})
		}
		v = v[2:]
	}
}
