package evaluate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/histogram"
)

// far are rows that may lie beyond cells of scores, on one side of them, of classes that scores there tell against: how many, at which score on average,
// and what they lose beyond what is lost at the cells' end.
type far struct{ rows, score, loss float64 }

// farFrom are those of a side, of so many that are counted there: where the law that is seen has them, or at the end of all scores where by that law they
// lose more than a limit, as then nothing that is seen says where they lie.
func farFrom(b histogram.Beyond, counted, noise, limit float64, loss func(score float64) float64) far {
	rows, mean := b.MayHide(counted, noise)
	at := func(distance float64) far {
		return far{rows, b.At(distance), rows * math.Max(0, loss(b.At(distance))-loss(b.From))}
	}
	if f := at(mean); f.loss <= limit {
		return f
	}
	return at(b.Most)
}

// find is the figure of a measure among some.
func find(list []Figure, m measure) *Figure {
	return &list[slices.IndexFunc(list, func(f Figure) bool { return f.Name == m.name })]
}

// allowForFar lengthens intervals by what rows may add that lie beyond the cells, scores being within ±bound, and are of the class that scores tell against:
// log-loss by what such rows lose, and calibration to what it is with these.
func (c *scored) allowForFar(list []Figure, counts [][]float64, bound float64) {
	zeros, ones := c.classes(counts)
	both := slices.Clone(zeros)
	floats.Add(both, ones)
	n, loss := floats.Sum(both), find(list, logLoss)
	low, high := histogram.BeyondEdges(c.cells[1:len(c.cells)-1], both, c.noise*math.Sqrt2, bound)
	limit := n * (loss.Of.High - loss.Of.Low) / 2
	below := farFrom(low, ones[0], c.noise*math.Sqrt(float64(c.fold.Low)), limit, func(z float64) float64 { return c.by.loss.Value(z, 1) })
	above := farFrom(high, zeros[len(zeros)-1], c.noise*math.Sqrt(float64(c.fold.High)), limit, func(z float64) float64 { return c.by.loss.Value(z, -1) })
	loss.Of = loss.Of.wider(0, (below.loss+above.loss)/n)
	var intercepts, slopes []float64
	for _, is := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		a, b := c.calibrateWith(zeros, ones, below, above, is)
		intercepts, slopes = append(intercepts, a), append(slopes, b)
	}
	find(list, calibratedAt).hold(intercepts)
	find(list, calibratedBy).hold(slopes)
}

// calibrateWith is calibrate where rows far off below and above the cells lie there, in place of those that are counted in the outermost cells.
func (c *scored) calibrateWith(zeros, ones []float64, below, above far, is [2]bool) (a, b float64) {
	zeros, ones = slices.Clone(zeros), slices.Clone(ones)
	with, last, rows := *c, len(zeros)-1, [2]float64{}
	if is[0] {
		rows[0], ones[0] = below.rows, math.Min(ones[0], 0)
	}
	if is[1] {
		rows[1], zeros[last] = above.rows, math.Min(zeros[last], 0)
	}
	with.score = append(slices.Clone(c.score), c.by.logOdds(below.score), c.by.logOdds(above.score))
	return with.calibrate(append(c.spread(zeros), 0, rows[1]), append(c.spread(ones), rows[0], 0))
}

// allowForFar lengthens the interval of log-loss by what rows may add that lie beyond the cells and aren't of the outermost level there.
func (c *grades) allowForFar(f *Figure, j Joint, l Levels) {
	all := make([]float64, len(c.square))
	for y := range c.k {
		floats.Add(all, c.of(y, j.Counts))
	}
	n, last, noise := floats.Sum(all), len(all)-1, j.Spread*math.Sqrt(float64(c.k-1))
	low, high := histogram.BeyondEdges(j.Edges, all, j.Spread*math.Sqrt(float64(c.k)), l.Score.Bound)
	limit := n * (f.Of.High - f.Of.Low) / 2
	below := farFrom(low, all[0]-c.of(0, j.Counts)[0], noise, limit, func(z float64) float64 { return l.Loss.Value(z, float64(c.k-1)) })
	above := farFrom(high, all[last]-c.of(c.k-1, j.Counts)[last], noise, limit, func(z float64) float64 { return l.Loss.Value(z, 0) })
	f.Of = f.Of.wider(0, (below.loss+above.loss)/n)
}

// hold lengthens an interval by how far values lie from the first of them; it says nothing where one isn't known.
func (f *Figure) hold(values []float64) {
	if floats.HasNaN(values) {
		f.Of = Interval{}
		return
	}
	f.Of = f.Of.wider(values[0]-floats.Min(values), floats.Max(values)-values[0])
}
