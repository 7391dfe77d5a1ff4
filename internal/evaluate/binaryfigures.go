package evaluate

import (
	"math"
	"slices"
	"sort"

	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

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

// scored makes figures of counts of zeros, then ones, in cells of scores.
type scored struct {
	cut    int // the cells from here on are classified as 1
	by     graded
	cells  cells
	fold   histogram.Fold // of counts between all edges to cells
	noise  float64        // standard deviation of a count's
	even   bool           // whether rows are taken to be spread evenly over cells
	groups [][2]int       // of the calibration curve
	// Of points of each cell, one cell after the other.
	score, mean, square, one, zero []float64
}

// newScored has cells between edges that are left of a fold.
func newScored(edges []float64, fold histogram.Fold, beyond, cut float64, g graded, noise float64) *scored {
	left := fold.Edges(edges)
	c := &scored{cut: sort.SearchFloat64s(left, cut) + 1, by: g, cells: ends(left, beyond), fold: fold, noise: noise}
	for k := range len(c.cells) - 1 {
		for i := range points {
			z := within(c.cells[k], c.cells[k+1], i)
			q := g.mean(z)
			c.score, c.mean, c.square = append(c.score, g.logOdds(z)), append(c.mean, q), append(c.square, q*q)
			c.one, c.zero = append(c.one, g.loss.Value(z, 1)), append(c.zero, g.loss.Value(z, -1))
		}
	}
	cells := len(c.cells) - 1
	groups := min(tuning.CalibrationGroups, cells)
	for g := range groups {
		c.groups = append(c.groups, [2]int{g * cells / groups, (g + 1) * cells / groups})
	}
	return c
}

// How many figures come before the curves.
const (
	probableFigures = 7 // where there are probabilities
	scoreFigures    = 3 // and else
)

// plain is the number of figures before the curves.
func (c *scored) plain() int {
	if c.by.probabilities {
		return probableFigures
	}
	return scoreFigures
}

// classes are the counts of zeros and of ones in cells.
func (c *scored) classes(counts [][]float64) (zeros, ones []float64) {
	half := len(counts[0]) / 2
	return c.fold.Of(counts[0][:half]), c.fold.Of(counts[0][half:])
}

// areaOverChords is by how much more the area may be, by counts that aren't negative.
func (c *scored) areaOverChords(counts [][]float64) reading {
	zeros, ones := c.classes(counts)
	return overChords(area, ones, zeros)
}

// figures are those of all rows, and points of curves.
func (c *scored) figures(counts [][]float64) []reading {
	zeros, ones := c.classes(counts)
	var n0, n1, right float64
	for k := range zeros {
		n0 += zeros[k]
		n1 += ones[k]
		if k >= c.cut {
			right += ones[k]
		} else {
			right += zeros[k]
		}
	}
	n := n0 + n1
	list := []reading{
		{accuracy, right / n},
		ranked(area, ones, zeros),
		{rateOfOnes, n1 / n},
	}
	curve := c.roc(zeros, ones, n0, n1)
	if !c.by.probabilities {
		return append(list, curve...)
	}
	zeros, ones = c.spread(zeros), c.spread(ones)
	list = append(list, c.ofProbabilities(zeros, ones, n)...)
	list = append(list, curve...)
	return append(list, c.calibration(zeros, ones)...)
}

// spread are counts at points.
func (c *scored) spread(counts []float64) (list []float64) {
	if !c.even {
		return c.cells.spread(counts, c.noise)
	}
	for _, rows := range counts {
		list = append(list, slices.Repeat([]float64{rows / points}, points)...)
	}
	return list
}

// intervals are those of all figures, longer by as much as it changes them that rows aren't taken to be spread evenly over cells, to the same
// side: what neighbouring cells don't tell is taken to be no more than what they do.
func (c *scored) intervals(of *sampled) []Figure {
	list := of.intervals(c.figures)
	c.even = true
	for k, v := range c.figures(of.counts) {
		if by := list[k].Of.Value - math.Max(v.of.low, math.Min(v.value, v.of.high)); !math.IsNaN(by) {
			list[k].Of = list[k].Of.wider(math.Max(0, -by), math.Max(0, by)).within(v.of.low, v.of.high)
		}
	}
	c.even = false
	return list
}

// ofProbabilities are log-loss, Brier score and calibration, of rows at points.
func (c *scored) ofProbabilities(zeros, ones []float64, n float64) []reading {
	var loss, brier float64
	for k := range c.score {
		loss += float64(ones[k]*c.one[k]) + float64(zeros[k]*c.zero[k])
		brier += float64(ones[k]*(1-2*c.mean[k]+c.square[k])) + float64(zeros[k]*c.square[k])
	}
	intercept, slope := c.calibrate(zeros, ones)
	return []reading{
		{logLoss, loss / n},
		{brierScore, brier / n},
		{calibratedAt, intercept},
		{calibratedBy, slope},
	}
}

// roc are both rates at each edge, from the highest.
func (c *scored) roc(zeros, ones []float64, n0, n1 float64) (list []reading) {
	var t0, t1 float64
	for k := len(zeros) - 1; k > 0; k-- {
		t0 += zeros[k]
		t1 += ones[k]
		list = append(list, reading{truePositive, part(t1, n1)}, reading{falsePositive, part(t0, n0)})
	}
	return list
}

// calibration are mean probabilities and rates of ones of the groups of cells.
func (c *scored) calibration(zeros, ones []float64) (list []reading) {
	for _, g := range c.groups {
		var mean, rate, rows float64
		for k := points * g[0]; k < points*g[1]; k++ {
			rows += zeros[k] + ones[k]
			rate += ones[k]
			mean += float64(c.mean[k] * (zeros[k] + ones[k]))
		}
		list = append(list, reading{predicted, part(mean, rows)}, reading{observed, part(rate, rows)})
	}
	return list
}

// What Newton's method needs.
const (
	newtonRounds = 50
	definite     = 1e-9  // determinant over the diagonal's product, from which on a Hessian can be inverted
	settled      = 1e-10 // a step that is none
	near         = 1e-4  // one at which a parabola is close
)

// missed is the log-loss of rows at points, all together, by an intercept and a slope of the log-odds there.
func (c *scored) missed(zeros, ones []float64, a, b float64) (sum float64) {
	loss := losses.Logistic{}
	for k, z := range c.score {
		sum += float64(ones[k]*loss.Value(a+float64(b*z), 1)) + float64(zeros[k]*loss.Value(a+float64(b*z), -1))
	}
	return sum
}

// calibrate fits classes of rows at points to an intercept and a slope of the log-odds there, by
// Newton's method; NaN where counts drown in noise.
func (c *scored) calibrate(zeros, ones []float64) (a, b float64) {
	b = 1
	for range newtonRounds {
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
		if !(haa > 0 && det > definite*haa*hbb) {
			break
		}
		da, db := (float64(hbb*ga)-float64(hab*gb))/det, (float64(haa*gb)-float64(hab*ga))/det
		gap := math.Max(math.Abs(da), math.Abs(db))
		held := math.Min(1, 1/gap)
		for held*gap > near && c.missed(zeros, ones, a+float64(held*da), b+float64(held*db)) > c.missed(zeros, ones, a, b) {
			held /= 2 // few rows far out bend what others make a parabola
		}
		a, b = a+float64(held*da), b+float64(held*db)
		if held*gap < settled {
			return a, b
		}
	}
	return math.NaN(), math.NaN()
}
