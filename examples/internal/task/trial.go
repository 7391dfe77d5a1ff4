package task

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

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
	// Delta is the default δ of the training part.
	Delta float64
	// Held are the labels that were held out.
	Held []float64

	loss        losses.Loss
	train, test *table.Table
}

// DefaultDelta is the number of rows to the power -1.5.
func DefaultDelta(rows int) float64 { return math.Pow(float64(rows), -1.5) }

// Trial reads the file and holds out the share of its rows by a public seed.
func (s *Source) Trial(seed uint64) (*Trial, error) {
	t, err := s.Load()
	if err != nil {
		return nil, err
	}
	return s.Divide(t, seed)
}

// Divide is Trial for a table that was loaded, of which it takes out the rows to hold
// out.
func (s *Source) Divide(t *table.Table, seed uint64) (*Trial, error) {
	n, _ := t.Dims()
	held := Split(n, s.HeldOut, seed)
	if len(held) == 0 || len(held) == n {
		return nil, Usage("-test %g leaves no row on one side of the split of %d rows", s.HeldOut, n)
	}
	test, err := t.HoldOut(held)
	if err != nil {
		return nil, err
	}
	data, err := dpglm.NewTableDataset(t)
	if err != nil {
		return nil, err
	}
	return &Trial{Train: data, Delta: DefaultDelta(n - len(held)), Held: test.Labels(), loss: s.Loss, train: t, test: test}, nil
}

// Split returns the rows, of 0 … n−1 in ascending order, that are held out: a share of
// them, rounded, at random by a public seed and without looking at them.
func Split(n int, share float64, seed uint64) []int {
	held := rand.New(mechanisms.NewSeededSource(seed)).Perm(n)[:int(math.Round(share*float64(n)))]
	slices.Sort(held)
	return held
}

// Score scores a model on the rows that were held out.
func (t *Trial) Score(model *dpglm.Model) ([]metrics.Metric, error) {
	z, err := model.Scores(t.test.Matrix())
	if err != nil {
		return nil, err
	}
	return metrics.Of(t.loss, z, t.Held), nil
}

// NonPrivate scores a model that is fitted without privacy; there is none, and
// no scores, for a loss with a kink.
func (t *Trial) NonPrivate() ([]metrics.Metric, error) {
	model, err := baseline.Fit(rowsOf(t.train), t.train.Labels(), t.loss)
	if errors.Is(err, baseline.ErrNotSmooth) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return metrics.Of(t.loss, model.Scores(rowsOf(t.test)), t.Held), nil
}

// Constant scores the best model of the training labels that ignores the features.
func (t *Trial) Constant() []metrics.Metric {
	z := baseline.Constant(t.train.Labels(), t.loss)
	return metrics.Of(t.loss, slices.Repeat([]float64{z}, len(t.Held)), t.Held)
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
