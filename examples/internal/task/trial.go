package task

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
)

// Trial is a split of a sample into rows to train on and rows to score on.
type Trial struct {
	// Train is the training part, for the library.
	Train *dpglm.Dataset
	// Delta is the default δ, the number of training rows to the power -1.5.
	Delta float64
	// Held are the labels that were held out.
	Held []float64

	loss  losses.Loss
	train *Sample
	test  features
	xTest mat.Matrix
}

// Trial splits the sample by a public seed.
func (s *Sample) Trial(seed uint64) (*Trial, error) {
	train, test, err := s.split(seed)
	if err != nil {
		return nil, err
	}
	x, err := train.rows.matrix()
	if err != nil {
		return nil, err
	}
	xTest, err := test.rows.matrix()
	if err != nil {
		return nil, err
	}
	data, err := dpglm.NewDataset(x, train.labels, train.facts)
	if err != nil {
		return nil, err
	}
	return &Trial{Train: data, Delta: math.Pow(float64(len(train.labels)), -1.5), Held: test.labels,
		loss: s.source.Loss, train: train, test: test.rows, xTest: xTest}, nil
}

// split deals the rows into a training and a test part.
func (s *Sample) split(seed uint64) (train, test *Sample, err error) {
	a, b := tabular.Split(len(s.labels), s.source.heldOut, seed)
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, fmt.Errorf("-test %g leaves no row on one side of the split of %d rows", s.source.heldOut, len(s.labels))
	}
	return s.take(a), s.take(b), nil
}

func (s *Sample) take(rows []int) *Sample {
	return &Sample{source: s.source, rows: s.rows.take(rows), labels: tabular.TakeLabels(s.labels, rows), facts: s.facts}
}

// Score scores a model on the rows that were held out.
func (t *Trial) Score(model *dpglm.Model) ([]metrics.Metric, error) {
	z, err := model.Scores(t.xTest)
	if err != nil {
		return nil, err
	}
	return metrics.Of(t.loss, z, t.Held), nil
}

// NonPrivate scores a model that is fitted without privacy; there is none, and
// no scores, for a loss with a kink.
func (t *Trial) NonPrivate() ([]metrics.Metric, error) {
	model, err := baseline.Fit(t.train.rows, t.train.labels, t.loss)
	if errors.Is(err, baseline.ErrNotSmooth) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return metrics.Of(t.loss, model.Scores(t.test), t.Held), nil
}

// Constant scores the best model of the training labels that ignores the features.
func (t *Trial) Constant() []metrics.Metric {
	z := baseline.Constant(t.train.labels, t.loss)
	return metrics.Of(t.loss, slices.Repeat([]float64{z}, len(t.Held)), t.Held)
}
