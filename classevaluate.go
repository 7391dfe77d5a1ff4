package dpglm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/histogram"
	"github.com/dpglm/dpglm/internal/release"
	"github.com/dpglm/dpglm/internal/vector"
	"github.com/dpglm/dpglm/losses"
)

// EvaluateClassesConfig holds the parameters of [EvaluateClasses], which are public; its zero
// value has their defaults.
type EvaluateClassesConfig struct {
	// Level is that of the intervals, in (0, 1); 0 takes 0.95.
	Level float64 `json:"level"`
}

// EvaluateClasses tells how good a model of several classes is on the rows of d, privately,
// with intervals, as [Evaluate] does for other models. Labels are classes, as in training.
// Models of losses.Ordinal, whose levels ascend, are for [EvaluateLevels].
//
// Errors are those of [EvaluateClassesConfig.Ledger], of a model that wasn't trained with the
// facts of d, and of labels that aren't its classes ([ErrLabel]), before anything is released;
// a call that stops later has an [Interrupted].
//
// # Privacy
//
// Replace-one. All that is released are histograms: of the log-odds of each of the K
// classes' probabilities, of those of a row's own class, for rows of a class and for all
// others; of the Brier score; and of rows by their class and the one that is predicted.
// Where a row is counted depends on that row and on public or released edges, so replacing
// it takes 1 from one count and adds 1 to another in each histogram that it is in: √2 in
// L2 for one of them, √(2K) for all rows in all classes' and √(2(K−1)) for the rows of other
// classes, and counts are exact. Noise is Gaussian, all from one pool of μ². Everything in
// a [ClassEvaluation] is computed from these counts and public numbers. What [Evaluate] says
// of the model's weights and of composition holds here.
//
// # Accuracy
//
// Intervals include sampling and noise, by simulating both. Classes have most of their noise
// in their own rows, of which there are fewest: these have a share of μ² that is √(K−1)
// times that of all other rows, so that K areas under curves cost hardly more than one. The
// interval of their mean takes errors in the ranks of other classes' rows to be alike for all
// classes, and is too wide rather than too narrow. The log-loss counts rows of rare classes,
// which may weigh most in it: over a range that is found from the log-odds of all rows. Recall
// and precision are left out where the rows that they are a part of don't stand out from noise.
//
// It takes 22 passes over the rows, of O(n·d·K). There may be at most 100 classes. A model
// without probabilities has neither log-loss nor Brier score, and its curves rank rows by
// 1/(1 + e^(−score)) over the sum of all classes'.
func EvaluateClasses(ctx context.Context, d *Dataset, m *ClassModel, b Budget, cfg EvaluateClassesConfig, env *Env) (*ClassEvaluation, error) {
	if err := d.whole(ctx); err != nil {
		return nil, err
	}
	if err := m.usable(); err != nil {
		return nil, err
	}
	p, err := cfg.plan(d.Shape(), len(m.weights), b)
	if err != nil {
		return nil, err
	}
	if err := p.take(m); err != nil {
		return nil, err
	}
	if !sameFeatures(d.facts, m.facts) {
		return nil, check.Fail(ErrShape, "dataset", nil, "must have the bounds or the schema of the model's")
	}
	rows, err := d.data.Classes(ctx, p.k)
	if err != nil {
		return nil, err
	}
	ledger := env.mark(p.ledger, d)
	e := &ClassEvaluation{Rows: p.shape.Rows, Level: p.Level, Ledger: ledger}
	if p.allow, err = env.allow(p.schedule, d, ledger, m, cfg); err != nil {
		return nil, err
	}
	p.ctx = ctx
	if p.in, err = rows.Frame(ctx, curator.Frame{}); err != nil {
		return nil, err
	}
	if err := p.evaluate(e); err != nil {
		return nil, stopped(p.allow, ledger, err)
	}
	for k, name := range m.Levels() {
		e.Classes[k].Name = name
	}
	return e, nil
}

// Ledger is what [EvaluateClasses] would spend on data of the given shape, for a model of so
// many classes: a dry run, before there is a model. It fails, by an [ArgumentError], where the
// shape, the number of classes, the budget or a parameter breaks its rule.
func (c EvaluateClassesConfig) Ledger(s Shape, classes int, b Budget) (*Ledger, error) {
	p, err := c.plan(s, classes, b)
	if err != nil {
		return nil, err
	}
	return p.ledger, nil
}

// classEvaluation is a planned one.
type classEvaluation struct {
	EvaluateClassesConfig
	counting
	shape    Shape
	k        int
	cells    int // bins of the later histograms
	schedule *release.Schedule
	ledger   *Ledger

	at    curator.ClassPoint
	loss  losses.Loss // of one class against the rest; nil for softmax
	used  float64     // the sum of the shares: less than 1 without probabilities
	reach float64     // bound on log-odds that are told apart
	in    *curator.ClassFramed
}

// Shares of μ²: of the histograms that find the ranges of classes' log-odds, and of those
// that figures are made of.
const (
	rangesShare    = 0.12
	ranksShare     = 0.4
	confusionShare = 0.2
	ownShare       = 0.17
	brierShare     = 0.11
)

// mostEvaluated is the largest number of classes that an evaluation tells apart: their pairs
// are counted.
const mostEvaluated = 100

func (c EvaluateClassesConfig) plan(s Shape, classes int, b Budget) (*classEvaluation, error) {
	var err error
	if c.Level, err = fraction("EvaluateClassesConfig.Level", c.Level, 0.95); err != nil {
		return nil, err
	}
	if classes > mostEvaluated {
		return nil, check.Fail(ErrConfig, "classes", classes, fmt.Sprintf("must be at most %d, to be evaluated", mostEvaluated))
	}
	if err := ofClasses("classes", classes, s); err != nil {
		return nil, err
	}
	p := &classEvaluation{EvaluateClassesConfig: c, k: classes}
	if p.shape, err = s.under(losses.Logistic{}); err != nil {
		return nil, err
	}
	const releases = 6 + lossShifts
	dim := classes * max(classes, len(histogram.ScoreEdges(1))+1, mostCells+4)
	each, err := b.gaussian(releases, dim)
	if err != nil {
		return nil, err
	}
	p.counting = counts(p.shape, each.Mu*math.Sqrt(releases)*(1-1e-9))
	p.cells = min(max(int(math.Sqrt(float64(p.shape.Rows)*p.mu/float64(classes))/2.5), leastCells), mostCells)
	if p.schedule, err = release.Pool("evaluation of classes", p.mu, releases, dim); err != nil {
		return nil, err
	}
	p.ledger, err = b.ledger(p.schedule, p.shape)
	return p, err
}

// take splits the model's weights from its intercepts.
func (p *classEvaluation) take(m *ClassModel) error {
	s, reach := p.shape, 0.0
	if p.loss, p.used = m.against(), 1; !m.probable() {
		p.used -= ownShare + brierShare
	}
	for _, of := range m.weights {
		if len(of) != s.Dim {
			return check.Fail(ErrShape, "model", len(of), fmt.Sprintf("must have %d weights", s.Dim))
		}
		u, b := slices.Clone(of[:s.features()]), 0.0
		if s.Intercept {
			b = of[s.Dim-1]
		}
		p.at.U, p.at.B = append(p.at.U, u), append(p.at.B, b)
		reach = math.Max(reach, float64(s.rowBound()*vector.Norm(u))+math.Abs(b))
	}
	if !(reach <= check.MaxScale) {
		return check.Fail(ErrModel, "largest score", reach, fmt.Sprintf("must be at most %g", check.MaxScale))
	}
	p.reach = math.Min(float64(2*reach)+2*math.Log(float64(p.k)), farthest)
	return nil
}

// evaluate releases the histograms and makes figures of them.
func (p *classEvaluation) evaluate(e *ClassEvaluation) error {
	if err := p.confusion(e); err != nil {
		return err
	}
	first := histogram.ScoreEdges(p.reach)
	for j := range first { // around what even probabilities have
		first[j] -= math.Log(float64(p.k - 1))
	}
	all, spread, err := p.logOdds(curator.Every, rangesShare, slices.Repeat([][]float64{first}, p.k))
	if err != nil {
		return err
	}
	if err := p.ranks(e, first, all, spread); err != nil || p.used < 1 {
		return err
	}
	if err := p.logLoss(e, first, all, spread); err != nil {
		return err
	}
	return p.brier(e)
}

// confusion releases how many rows of each class are predicted to be of each.
func (p *classEvaluation) confusion(e *ClassEvaluation) error {
	answer, err := p.in.Confusion(p.ctx, p.at)
	if err != nil {
		return err
	}
	counts, spread, err := p.count(confusionShare/p.used, 1, 1, answer)
	if err != nil {
		return err
	}
	e.confuse(&sampled{level: p.Level, counts: [][]float64{counts}, spreads: []float64{spread}}, p.k)
	return nil
}

// logOdds releases the log-odds of classes between edges that increase, for each class a list
// of counts.
func (p *classEvaluation) logOdds(of curator.Counted, share float64, edges [][]float64) (list []float64, spread float64, err error) {
	in := map[curator.Counted]int{curator.Own: 1, curator.Others: p.k - 1, curator.Every: p.k}[of]
	falling, total := make([][]float64, p.k), 0
	for k, v := range edges {
		falling[k] = slices.Clone(v)
		slices.Reverse(falling[k])
	}
	answer, err := p.in.LogOdds(p.ctx, of, falling, p.at, p.loss)
	if err != nil {
		return nil, 0, err
	}
	if list, spread, err = p.count(share/p.used, float64(in), float64(in), answer); err != nil {
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
func (p *classEvaluation) ranks(e *ClassEvaluation, first, all []float64, spread float64) (err error) {
	edges, starts, total := make([][]float64, p.k), make([]int, p.k+1), len(first)+1
	for k := range edges {
		edges[k], _ = histogram.Cuts(first, all[k*total:(k+1)*total], spread, p.cells)
		starts[k+1] = starts[k] + len(edges[k]) + 1
	}
	others := 1 / (1 + math.Sqrt(float64(p.k-1)))
	r := &sampled{level: p.Level, counts: make([][]float64, 2), spreads: make([]float64, 2)}
	if r.counts[0], r.spreads[0], err = p.logOdds(curator.Own, ranksShare*(1-others), edges); err != nil {
		return err
	}
	if r.counts[1], r.spreads[1], err = p.logOdds(curator.Others, ranksShare*others, edges); err != nil {
		return err
	}
	e.rank(r, starts)
	return nil
}

// logLoss releases −log p of rows' own classes, in overlaid cells over the range that the
// log-odds of all classes let expect.
func (p *classEvaluation) logLoss(e *ClassEvaluation, first, all []float64, spread float64) error {
	share := ownShare / lossShifts
	rows := math.Sqrt2 / (p.mu * math.Sqrt(ownShare/p.used)) / 4 // a quarter of the noise in a cell
	most := p.mostLoss(first, all, spread, rows)
	g := histogram.Grid{High: most, Cells: min(max(int(math.Sqrt(float64(p.shape.Rows)*p.mu)/5), 4), mostCells), Shifts: lossShifts}
	g.Step = most / float64(g.Cells+1)
	lists := make([][]float64, g.Shifts)
	for k := range lists {
		edges := g.Edges(k) // of −log p, which falls where log-odds rise
		for j, loss := range edges {
			edges[j] = -math.Log(math.Expm1(math.Max(loss, 1e-13)))
		}
		slices.Reverse(edges)
		answer, err := p.in.OwnLogOdds(p.ctx, edges, p.at, p.loss)
		if err != nil {
			return err
		}
		if lists[k], spread, err = p.count(share/p.used, 1, 1, answer); err != nil {
			return err
		}
		slices.Reverse(lists[k])
	}
	r := &sampled{level: p.Level, counts: [][]float64{histogram.Overlay(lists)}, spreads: []float64{spread}, shifts: []int{g.Shifts}}
	e.LogLoss = r.intervals(func(counts [][]float64) []float64 {
		mean, _ := g.Moments(counts[0])
		return []float64{mean}
	}, func(int) (low, high float64) { return 0, math.Inf(1) })[0]
	return nil
}

// lossShifts is how often own classes' −log p is counted, each time in cells that are moved by
// a part of one. What these tell of the mean is exact to that part, so that few cells will do,
// which have the least noise.
const lossShifts = 16

// mostLoss is the −log p of own classes that is exceeded in as many rows as are given, by the
// log-odds of all classes among all rows: rows of a class are taken to have as large a part of
// those with probability p as √p. That is more than p, and allows for models that are too sure.
// It is the largest that can be where a class doesn't stand out from noise.
func (p *classEvaluation) mostLoss(first, all []float64, spread, rows float64) float64 {
	total, at := len(first)+1, 0
	expected := make([]float64, total)
	for k := range p.k {
		counts := all[k*total : (k+1)*total]
		low, high := histogram.StandOut(counts, spread)
		if low > high {
			clear(expected)
			break
		}
		for j := max(low-1, 0); j <= min(high+1, len(first)-1); j++ {
			expected[j] += math.Max(counts[j], 0) * math.Sqrt(losses.Logit.Mean(first[j]))
		}
	}
	for sum := expected[0]; sum <= rows && at < len(first); at++ {
		sum += expected[at+1]
	}
	if at == len(first) {
		at = 0
	}
	return losses.Logistic{}.Value(first[max(at-1, 0)], 1)
}

// brier releases the Brier score, first in cells that are narrow towards both ends, where
// those of rows lie whose class is sure.
func (p *classEvaluation) brier(e *ClassEvaluation) error {
	const most = 2
	var first []float64
	for z := -8.0; z <= 8; z += 0.25 {
		first = append(first, most*losses.Logit.Mean(z))
	}
	edges, beyond, counts, spread, err := p.numbers(p.in.Brier, first, brierShare)
	if err != nil {
		return err
	}
	ends := append([]float64{math.Max(0, edges[0]-beyond)}, edges...)
	ends = append(ends, math.Min(most, edges[len(edges)-1]+beyond))
	middle := make([]float64, len(counts))
	for k := range middle {
		middle[k] = (ends[k] + ends[k+1]) / 2
	}
	e.Brier = meanOf(counts, spread, middle, p.Level, most)
	return nil
}

// numbers releases a number of each row, with a share of μ²: first in cells between fixed
// edges, which increase, then in narrower ones over the range that stands out.
func (p *classEvaluation) numbers(ask classQuestion, first []float64, share float64) (edges []float64, beyond float64, counts []float64, spread float64, err error) {
	release := func(share float64, edges []float64) ([]float64, float64, error) {
		falling := slices.Clone(edges)
		slices.Reverse(falling)
		answer, err := ask(p.ctx, falling, p.at, p.loss)
		if err != nil {
			return nil, 0, err
		}
		counts, spread, err := p.count(share/p.used, 1, 1, answer)
		slices.Reverse(counts)
		return counts, spread, err
	}
	if counts, spread, err = release(share*rangeShare, first); err != nil {
		return nil, 0, nil, 0, err
	}
	edges, beyond = histogram.Cuts(first, counts, spread, p.cells)
	counts, spread, err = release(share*(1-rangeShare), edges)
	return edges, beyond, counts, spread, err
}

// classQuestion asks for a histogram of a number of each row.
type classQuestion = func(ctx context.Context, edges []float64, at curator.ClassPoint, loss losses.Loss) (release.Answer, error)
