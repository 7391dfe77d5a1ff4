package evaluate

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/tuning"
	"github.com/dpglm/dpglm/losses"
)

// Classes are models of several classes.
type Classes struct {
	At       curator.ClassPoint
	Against  losses.Loss // of one class against the rest; nil for softmax
	Probable bool        // whether there are probabilities
	Bound    float64     // of each class's score
}

// ClassesSize is that of [Classes.Evaluate] of k classes.
func ClassesSize(k int) Size {
	return Size{besideMeans + tuning.LossShifts + tuning.BrierShifts, k * max(k, firstDim(), mostListed)}
}

// besideMeans are the releases of classes beside those of −log p and of the Brier score.
const besideMeans = 4

// counter releases histograms of rows' classes.
type counter struct {
	task  Task
	of    Classes
	in    *curator.ClassFramed
	k     int
	used  float64 // the sum of the shares: less than 1 without probabilities
	bound float64 // on log-odds that are told apart
}

// Evaluate releases the histograms and makes figures of them.
func (m Classes) Evaluate(t Task, in *curator.ClassFramed) (*Result, error) {
	c := counter{task: t, of: m, in: in, k: len(m.At.U), used: 1}
	if !m.Probable {
		c.used -= tuning.OwnShare + tuning.BrierShare
	}
	c.bound = math.Min(float64(2*m.Bound)+2*math.Log(float64(c.k)), farthest)
	r := &Result{}
	if err := c.confusion(r); err != nil {
		return nil, err
	}
	all, err := c.all()
	if err != nil {
		return nil, err
	}
	if err := c.ranks(r, all); err != nil {
		return nil, err
	}
	if m.Probable {
		if err := c.logLoss(r, all); err != nil {
			return nil, err
		}
		if err := c.brier(r); err != nil {
			return nil, err
		}
	}
	r.arrange()
	return r, nil
}

// confusion releases how many rows of each class are predicted to be of each.
func (c counter) confusion(r *Result) error {
	answer, err := c.in.Confusion(c.task.Ctx, c.of.At)
	if err != nil {
		return err
	}
	counts, spread, err := c.task.count(tuning.ConfusionShare/c.used, 1, answer)
	if err != nil {
		return err
	}
	r.add(seen(c.task.sample(counts, spread), c.k)...)
	r.table(counts, c.k)
	return nil
}

// all releases the log-odds of all classes among all rows, around what even probabilities have.
func (c counter) all() (everywhere, error) {
	first := histogram.ScoreEdges(c.bound)
	for j := range first {
		first[j] -= math.Log(float64(c.k - 1))
	}
	counts, spread, err := c.logOdds(curator.Every, tuning.RangesShare, slices.Repeat([][]float64{first}, c.k))
	return everywhere{first, counts, spread}, err
}

// everywhere are log-odds of all classes among all rows: counts between the same edges, class by
// class.
type everywhere struct {
	edges, counts []float64
	spread        float64
}

// of are the counts of a class.
func (e everywhere) of(k int) []float64 {
	total := len(e.edges) + 1
	return e.counts[k*total : (k+1)*total]
}

// logOdds releases the log-odds of classes between edges that increase, for each class a list
// of counts.
func (c counter) logOdds(of curator.Counted, share float64, edges [][]float64) (list []float64, spread float64, err error) {
	in := map[curator.Counted]int{curator.Own: 1, curator.Others: c.k - 1, curator.Every: c.k}[of]
	falling, total := make([][]float64, c.k), 0
	for k, v := range edges {
		falling[k] = reversed(v)
	}
	answer, err := c.in.LogOdds(c.task.Ctx, of, falling, c.of.At, c.of.Against)
	if err != nil {
		return nil, 0, err
	}
	if list, spread, err = c.task.count(share/c.used, float64(in), answer); err != nil {
		return nil, 0, err
	}
	for _, v := range edges {
		slices.Reverse(list[total : total+len(v)+1])
		total += len(v) + 1
	}
	return list, spread, nil
}

// ranks releases the log-odds of each class, of its rows and of all others, in cells over the
// range that they have among all rows.
func (c counter) ranks(r *Result, all everywhere) (err error) {
	edges, starts := make([][]float64, c.k), make([]int, c.k+1)
	for k := range edges {
		edges[k], _ = histogram.Cuts(all.edges, all.of(k), all.spread, c.task.cells(float64(c.k), tuning.CellWidth))
		starts[k+1] = starts[k] + len(edges[k]) + 1
	}
	others := 1 / (1 + math.Sqrt(float64(c.k-1)))
	of := c.task.sampling()
	of.counts, of.spreads = make([][]float64, 2), make([]float64, 2)
	if of.counts[0], of.spreads[0], err = c.logOdds(curator.Own, tuning.RanksShare*(1-others), edges); err != nil {
		return err
	}
	if of.counts[1], of.spreads[1], err = c.logOdds(curator.Others, tuning.RanksShare*others, edges); err != nil {
		return err
	}
	r.add(ranks{of, starts}.figures()...)
	return nil
}

// logLoss releases −log p of rows' own classes, in overlaid cells over the range that the
// log-odds of all classes let expect.
func (c counter) logLoss(r *Result, all everywhere) error {
	hidden := math.Sqrt2 / (c.task.Mu * math.Sqrt(tuning.OwnShare/c.used)) / tuning.LossHidden
	high := all.mostLoss(c.k, hidden)
	g := c.grid(high, tuning.LossShifts)
	lists, spread, err := c.overlaid(tuning.OwnShare, g, func(falling []float64) (release.Answer, error) {
		edges := reversed(falling) // of −log p, which falls where log-odds rise
		for j, loss := range edges {
			edges[j] = -math.Log(math.Expm1(math.Max(loss, leastLoss)))
		}
		return c.in.OwnLogOdds(c.task.Ctx, edges, c.of.At, c.of.Against)
	})
	if err != nil {
		return err
	}
	for _, counts := range lists {
		slices.Reverse(counts)
	}
	list := c.mean(logLoss, g, lists, spread)
	g.Most = float64(2*c.of.Bound) + math.Log(float64(c.k))
	_, above, _ := g.MayHide(histogram.Overlay(lists), spread, 0)
	list[0].Of = list[0].Of.wider(0, above.Within((list[0].Of.High-list[0].Of.Low)/2))
	r.add(list...)
	return nil
}

// grid is cells from 0 up to an end, that are counted so many times.
func (c counter) grid(high float64, shifts int) histogram.Grid {
	g := histogram.Grid{High: high, Shifts: shifts}
	g.Cells = min(max(int(math.Sqrt(float64(c.task.Rows)*c.task.Mu)/tuning.LossCellWidth), tuning.LossLeastCells), tuning.MostCells)
	g.Step = high / float64(g.Cells+1)
	return g
}

// overlaid releases a number of each row as often as a grid is counted, with a share of μ².
func (c counter) overlaid(share float64, g histogram.Grid, ask asked) (lists [][]float64, spread float64, err error) {
	lists = make([][]float64, g.Shifts)
	for k := range lists {
		answer, err := ask(g.Edges(k))
		if err != nil {
			return nil, 0, err
		}
		if lists[k], spread, err = c.task.count(share/float64(g.Shifts)/c.used, 1, answer); err != nil {
			return nil, 0, err
		}
	}
	return lists, spread, nil
}

// mean is that of the number.
func (c counter) mean(m measure, g histogram.Grid, lists [][]float64, spread float64) []Figure {
	of := c.task.sample(histogram.Overlay(lists), spread)
	of.shifts = []int{g.Shifts}
	return of.intervals(func(counts [][]float64) []reading {
		mean, _ := g.Moments(counts[0])
		return []reading{{m, mean}}
	})
}

// mostLoss is the −log p of own classes that is exceeded in as many rows as are given, by the
// log-odds of all classes among all rows: rows of a class are taken to have as large a part of
// those with probability p as √p. That is more than p, and allows for models that are too sure.
// It is the largest that can be where a class doesn't stand out from noise.
func (e everywhere) mostLoss(classes int, rows float64) float64 {
	at, expected := 0, make([]float64, len(e.edges)+1)
	for k := range classes {
		counts := e.of(k)
		low, high := histogram.StandOut(counts, e.spread)
		if low > high {
			clear(expected)
			break
		}
		for j := max(low-1, 0); j <= min(high+1, len(e.edges)-1); j++ {
			expected[j] += math.Max(counts[j], 0) * math.Sqrt(losses.Logit.Mean(e.edges[j]))
		}
	}
	for sum := expected[0]; sum <= rows && at < len(e.edges); at++ {
		sum += expected[at+1]
	}
	if at == len(e.edges) {
		at = 0
	}
	return losses.Logistic{}.Value(e.edges[max(at-1, 0)], 1)
}

// leastLoss keeps the log-odds of an edge at 0 finite.
const leastLoss = 1e-13

// brier releases the Brier score in overlaid cells over all that it can be: where noise hides rows beyond a range that stands out,
// they are what it depends on most, and cells over all of it have hardly more noise than its sum.
func (c counter) brier(r *Result) error {
	g := c.grid(brierSum.high, tuning.BrierShifts)
	g.High -= g.Step / float64(2*g.Shifts) // so that all edges lie within
	lists, spread, err := c.overlaid(tuning.BrierShare, g, func(falling []float64) (release.Answer, error) {
		return c.in.Brier(c.task.Ctx, falling, c.of.At, c.of.Against)
	})
	if err != nil {
		return err
	}
	r.add(c.mean(brierSum, g, lists, spread)...)
	return nil
}
