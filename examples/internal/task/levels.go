package task

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// resolveLevels chooses the loss for a label of several levels: that of one against the rest, or
// that of levels that ascend.
func (s *Source) resolveLevels(label table.Column) error {
	switch {
	case !s.TakesLevels:
		return Usage(`the label %q has several levels, which %s doesn't do: csvfit does, or declare the label as binary with "positive" and "negative"`, label.Name, s.program)
	case s.libsvm != nil:
		return Usage("-schema %s: a label of several levels needs a file with columns, and a LIBSVM file has none: write it as CSV", s.Schema)
	case s.lossName == "softmax":
		return Usage("-loss softmax: softmax is a method; leave out -loss, and it is the default for a label of several levels")
	case s.lossName == "":
		s.Loss, s.Classes = losses.Logistic{}, len(label.Levels)
		return nil
	}
	if _, err := lookUp(lossTable, "loss", s.lossName); err != nil {
		return err
	}
	switch {
	case s.lossName != "ordinal":
		return Usage(`-loss %s is for one number or class a row, and %q has several levels: leave out -loss or, where levels ascend ("ordered": true in the schema), take -loss ordinal`, s.lossName, label.Name)
	case !label.Ordered:
		return Usage(`-loss ordinal is for levels that ascend, and the schema doesn't say so of %q: add "ordered": true to it, with "levels" from the lowest to the highest, or leave out -loss`, label.Name)
	}
	e, err := table.NewEncoder(*s.facts)
	if err != nil {
		return err
	}
	if s.Loss = (losses.Ordinal{Levels: len(e.Label().Levels)}); e.Label().Shares != nil {
		s.Loss, err = losses.OrdinalFromFractions(e.Label().Shares...)
	}
	return err
}

// LevelFigures say how well each level of the rows that were held out is told from others.
type LevelFigures struct {
	Levels    []string
	AUC       []float64 // against all others; NaN where it isn't defined
	Confusion [][]int   // by the row's level, then the most likely one
}

// Levels are figures of each level, nil where the label hasn't several.
func (t *Trial) Levels(m *dpglm.Model) (*LevelFigures, error) {
	if t.levels == nil {
		return nil, nil
	}
	p, err := m.Probabilities(t.test.Matrix())
	if err != nil {
		return nil, err
	}
	return &LevelFigures{m.Levels(), metrics.LevelAUC(p, t.Held), metrics.Confusion(p, t.Held)}, nil
}

// nonPrivateLevels scores a model of the same kind that is fitted without privacy.
func (t *Trial) nonPrivateLevels() ([]metrics.Metric, error) {
	if t.classes > 0 {
		m, err := baseline.FitClasses(rowsOf(t.train), t.train.Labels(), weights(t.train), t.classes)
		if err != nil {
			return nil, err
		}
		return metrics.OfLevels(m.Probabilities(rowsOf(t.test)), t.Held), nil
	}
	loss := t.loss.(losses.Ordinal)
	if loss.Estimated() {
		m, err := baseline.FitOrdinal(rowsOf(t.train), t.train.Labels(), weights(t.train), len(t.levels))
		if err != nil {
			return nil, err
		}
		return metrics.OfLevels(m.Probabilities(rowsOf(t.test)), t.Held), nil
	}
	of, labels := byRow(t.train, loss)
	m, err := baseline.Fit(rowsOf(t.train), labels, of)
	if err != nil {
		return nil, err
	}
	return metrics.OfLevels((&baseline.Ordinal{Model: *m, Loss: loss}).Probabilities(rowsOf(t.test)), t.Held), nil
}

// constantLevels scores the levels' shares among the training rows.
func (t *Trial) constantLevels() []metrics.Metric {
	shares, weights := make([]float64, len(t.levels)), weights(t.train)
	for i, y := range t.train.Labels() {
		shares[int(y)] += weigh(weights, i) / float64(len(t.train.Labels()))
	}
	return metrics.OfLevels(mat.NewDense(len(t.Held), len(shares), slices.Repeat(shares, len(t.Held))), t.Held)
}
