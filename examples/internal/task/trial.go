package task

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// Trial is a split of a table into rows to train on and rows to score on.
type Trial struct {
	// Train is the training part, for the library.
	Train *dpglm.Dataset
	// Public are rows that nobody protects, apart from these; nil where there are none.
	Public *dpglm.Dataset
	// Delta is the default δ of the training part.
	Delta float64
	// Held are the labels that were held out.
	Held []float64

	loss        losses.Loss
	classes     int      // where there is a score for each, else 0
	levels      []string // of the label, if it has several
	train, test *table.Table
}

// HeldOut is how many rows were held out, or persons, where the table has them; a bound on it where that is secret.
func (t *Trial) HeldOut() int {
	if t.test.Persons() != nil || t.test.AtMost() > 0 {
		return t.test.PersonCount()
	}
	return len(t.Held)
}

// DefaultDelta is the number of rows, or persons, to the power -1.5, in the six digits that
// ledgers print.
func DefaultDelta(units int) float64 {
	delta, _ := strconv.ParseFloat(strconv.FormatFloat(math.Pow(float64(units), -1.5), 'g', 6, 64), 64)
	return delta
}

// Trial reads the file and holds out the share of its rows by a public seed.
func (s *Source) Trial(ctx context.Context, seed uint64) (*Trial, error) {
	return s.TrialOf(ctx, 0, seed)
}

// TrialOf is Trial of at most so many rows, which the seed draws; 0 takes all.
func (s *Source) TrialOf(ctx context.Context, rows int, seed uint64) (*Trial, error) {
	t, err := s.Load(ctx)
	if err != nil {
		return nil, err
	}
	if n, _ := t.Dims(); rows > 0 && n > rows {
		if _, err := t.HoldOut(Split(n, float64(n-rows)/float64(n), seed)); err != nil {
			return nil, err
		}
	}
	return s.Divide(t, seed)
}

// Divide is Trial for a table that was loaded, of which it takes out the rows to hold
// out.
func (s *Source) Divide(t *table.Table, seed uint64) (*Trial, error) {
	test, err := s.holdOut(t, seed)
	if err != nil {
		return nil, Usage("-test %g leaves no row on one side of the split", s.HeldOut)
	}
	var public *dpglm.Dataset
	if s.Public > 0 {
		n, _ := t.Dims()
		known, err := t.HoldOut(Split(n, s.Public, seed))
		if err != nil {
			return nil, Usage("-public %g leaves no row on one side of the split", s.Public)
		}
		if s.Turned {
			turn(known.Labels(), known.Label().Range)
		}
		if public, err = s.Dataset(known); err != nil {
			return nil, err
		}
	}
	data, err := s.Dataset(t)
	if err != nil {
		return nil, err
	}
	return &Trial{Train: data, Public: public, Delta: DefaultDelta(data.Shape().Rows), Held: test.Labels(), loss: s.Loss, classes: s.Classes, levels: t.Label().Levels, train: t, test: test}, nil
}

// holdOut takes out a fraction of the rows by a public seed, or of the persons by secret coins.
func (s *Source) holdOut(t *table.Table, seed uint64) (*table.Table, error) {
	if t.Persons() != nil || t.AtMost() > 0 {
		return t.HoldOutPersons(s.HeldOut, s.Coins)
	}
	n, _ := t.Dims()
	return t.HoldOut(Split(n, s.HeldOut, seed))
}

// Dataset is that of a table that was loaded.
func (s *Source) Dataset(t *table.Table) (*dpglm.Dataset, error) {
	return dpglm.NewTableDataset(t, s.Order()...)
}

// Order is that of persons, for the library.
func (s *Source) Order() []dpglm.PersonOrder {
	if s.Coins == nil {
		return nil
	}
	return []dpglm.PersonOrder{{ForTests: s.Coins}}
}

// Split returns the rows, of 0 … n−1 in ascending order, that are held out: a share of
// them, rounded, at random by a public seed and without looking at them.
func Split(n int, share float64, seed uint64) []int {
	held := rand.New(mechanisms.NewSeededSource(seed)).Perm(n)[:int(math.Round(share*float64(n)))]
	slices.Sort(held)
	return held
}

// NoiseSeed makes the noise of each fit independent of the others' and of the
// split, and the same whatever else is compared.
func NoiseSeed(method string, epsilon float64, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %g %d", method, epsilon, seed)
	return h.Sum64()
}

// Score scores a model on the rows that were held out.
func (t *Trial) Score(model *dpglm.Model) ([]metrics.Metric, error) {
	if t.levels != nil {
		p, err := model.Probabilities(t.test.Matrix())
		if err != nil {
			return nil, err
		}
		return metrics.OfLevels(p, t.Held), nil
	}
	z, err := model.Scores(t.test.Matrix())
	if err != nil {
		return nil, err
	}
	return t.of(z.RawMatrix().Data), nil
}

// Centred is Score of a model whose scores are all moved by one number, so that it predicts for the rows that were held out, on average,
// what the best constant of the training labels predicts: it tells what a model's slopes are worse or better than no slopes, whatever the noise in
// its intercept. There are no such scores of labels with levels.
func (t *Trial) Centred(model *dpglm.Model) ([]metrics.Metric, error) {
	if t.levels != nil {
		return nil, nil
	}
	z, err := model.Scores(t.test.Matrix())
	if err != nil {
		return nil, err
	}
	return t.centred(z.RawMatrix().Data), nil
}

// centred is Centred of scores.
func (t *Trial) centred(z []float64) []metrics.Metric {
	link := losses.LinkOf(t.loss)
	moved := func(by float64) []float64 {
		list := slices.Clone(z)
		floats.AddConst(by, list)
		return list
	}
	sum := func(z []float64) (all float64) {
		for _, v := range t.held(z) {
			all += link.Mean(v)
		}
		return all
	}
	want, ends := sum(t.constant()), [2]float64{-1, 1}
	for k := range ends {
		for range doublings {
			if (sum(moved(ends[k])) < want) == (k == 0) {
				break
			}
			ends[k] *= 2
		}
	}
	for range doublings {
		if middle := (ends[0] + ends[1]) / 2; sum(moved(middle)) < want {
			ends[0] = middle
		} else {
			ends[1] = middle
		}
	}
	return t.of(moved(ends[1]))
}

// doublings of 1 reach any score that Centred needs, and as many halvings then find it.
const doublings = 60

// held are scores at each row's own exposure, whose means are within the range of labels, as a model's are, in z.
func (t *Trial) held(z []float64) []float64 {
	if t.test.Exposure() != nil {
		floats.Add(z, t.test.LogExposure())
	}
	switch label := t.test.Label(); {
	case label.Kind == table.Numeric && t.loss.Labels() == losses.Real:
		metrics.Hold(z, label.Range)
	case losses.LinkOf(t.loss) == losses.Log:
		metrics.Hold(z, [2]float64{math.Inf(-1), math.Log(label.Range[1])})
	}
	return z
}

// of are the metrics of scores of the rows that were held out, at an exposure of 1.
func (t *Trial) of(z []float64) []metrics.Metric {
	m := metrics.Of(t.loss, t.held(z), t.Held)
	for i := range m {
		if at := t.test.Exposure(); at != nil && m[i].Name == "deviance_explained" { // against one rate for all
			m[i].Value = 1 - metrics.Value(m, "deviance")/metrics.Deviance(oneRate(t.Held, at), t.Held)
		}
	}
	return m
}

// oneRate is what a rate that all have makes of exposures.
func oneRate(y, exposures []float64) []float64 {
	mean := slices.Clone(exposures)
	floats.Scale(floats.Sum(y)/floats.Sum(exposures), mean)
	return mean
}

// NonPrivate scores a model that is fitted without privacy, of the same rows by their weights and exposures; there is none, and
// no scores, for a loss with a kink.
func (t *Trial) NonPrivate(ctx context.Context) ([]metrics.Metric, error) {
	return Await(ctx, t.nonPrivate)
}

func (t *Trial) nonPrivate() ([]metrics.Metric, error) {
	if t.levels != nil {
		return t.nonPrivateLevels()
	}
	loss, labels := byRow(t.train, t.loss)
	model, err := baseline.Fit(rowsOf(t.train), labels, loss)
	if errors.Is(err, baseline.ErrNotSmooth) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return t.of(model.Scores(rowsOf(t.test))), nil
}

// Constant scores the best model of the training labels that ignores the features.
func (t *Trial) Constant() []metrics.Metric {
	if t.levels != nil {
		return t.constantLevels()
	}
	return t.of(t.constant())
}

// constant are the scores of that model.
func (t *Trial) constant() []float64 {
	loss, labels := byRow(t.train, t.loss)
	return slices.Repeat([]float64{baseline.Constant(labels, loss)}, len(t.Held))
}

// PrivateConstant scores what the best constant is on average if no more than the labels' mean is known, by the Gaussian mechanism with
// the whole of a budget: mu is that of Gaussian DP, and another row moves the mean by the width of the labels' range over their number.
// It is what any method that learns nothing else must lose; nothing is released. There are no such scores of labels with levels, nor where rows have weights.
func (t *Trial) PrivateConstant(mu float64) []metrics.Metric {
	if t.levels != nil || t.train.Weights() != nil {
		return nil
	}
	var all []metrics.Metric
	for k := range constants {
		z := distuv.UnitNormal.Quantile((float64(k) + .5) / constants)
		loss, labels := byRowOf(t.train, t.loss, t.moved(z/mu))
		scores := t.of(slices.Repeat([]float64{baseline.Constant(labels, loss)}, len(t.Held)))
		if all == nil {
			all = scores
			for i := range all {
				all[i].Value /= constants
			}
			continue
		}
		for i := range all {
			all[i].Value += scores[i].Value / constants
		}
	}
	return all
}

// constants are how many equally likely ones PrivateConstant tries.
const constants = 32

// moved are the training labels with another sum: that of so many rows more at the end of their range. A count, and either class, is had at least once.
func (t *Trial) moved(rows float64) []float64 {
	y := slices.Clone(t.train.Labels())
	n, sum := float64(len(y)), floats.Sum(y)
	ends := t.train.Label().Range
	more := rows * (ends[1] - ends[0])
	switch t.loss.Labels() {
	case losses.Binary:
		ones := int(math.Round(max(1, min(sum+rows, n-1))))
		clear(y)
		for i := range ones {
			y[i] = 1
		}
	case losses.Count:
		floats.Scale(max(1, sum+more)/sum, y)
	default:
		floats.AddConst(more/n, y)
	}
	return y
}

// rowsOf are a table's rows for package baseline.
func rowsOf(t *table.Table) baseline.Rows {
	if x := t.Sparse(); x != nil {
		return sparse{x}
	}
	return baseline.Dense{Dense: t.Dense()}
}

type sparse struct{ *table.CSR }

// Row returns the columns and values of row i.
func (s sparse) Row(i int) (columns []int, values []float64) {
	lo, hi := s.Indptr[i], s.Indptr[i+1]
	return s.Indices[lo:hi:hi], s.Values[lo:hi:hi]
}

// turn turns labels around in their range, that of classes being 0 and 1.
func turn(labels []float64, ends [2]float64) {
	if ends == [2]float64{} {
		ends[1] = 1
	}
	for i, y := range labels {
		labels[i] = ends[0] + ends[1] - min(max(y, ends[0]), ends[1])
	}
}
