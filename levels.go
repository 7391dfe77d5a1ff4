package dpglm

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// LevelPrediction is what a model of several levels says of a record.
type LevelPrediction struct {
	// Level is the most likely one, the first of those that are alike.
	Level string `json:"level"`
	// Probabilities are those of all levels by their names; they sum to 1.
	Probabilities map[string]float64 `json:"probabilities"`
}

// Levels are the names of the levels that a model of losses.Ordinal predicts, in their
// order: those of the table's schema or, if there are none, 0, 1, …. It is nil for other
// models.
func (m *Model) Levels() []string {
	if m == nil || m.thresholds == nil {
		return nil
	}
	return levelNames(m.facts, len(m.thresholds)+1)
}

// kind is the loss's name without thresholds, for people to read.
func (m *Model) kind() string {
	if m.thresholds != nil {
		return "ordinal"
	}
	return m.loss
}

// LevelProbabilities returns the probability of each of the K Levels for each row of raw
// features, n×K; those of a row sum to 1. Only models of losses.Ordinal have them.
func (m *Model) LevelProbabilities(x mat.Matrix) (*mat.Dense, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.thresholds == nil {
		return nil, check.Fail(ErrConfig, "loss", m.loss, "defines no probabilities of levels; losses.Ordinal does")
	}
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	loss, p := losses.Ordinal{Thresholds: m.thresholds}, mat.NewDense(len(z), len(m.thresholds)+1, nil)
	for i, v := range z {
		p.SetRow(i, loss.Probabilities(v))
	}
	return p, nil
}

// PredictLevels returns what a model of losses.Ordinal says of records, each its columns'
// texts by name, which it reads as Encode does. Other models have no levels, and fail.
func (m *Model) PredictLevels(records ...map[string]string) ([]LevelPrediction, error) {
	x, err := m.Encode(records...)
	if err != nil {
		return nil, err
	}
	p, err := m.LevelProbabilities(x)
	if err != nil {
		return nil, err
	}
	return predictLevels(m.Levels(), p), nil
}

// Levels are the names of the classes, in their order: those of the table's schema or, if
// there are none, 0, 1, ….
func (m *ClassModel) Levels() []string {
	if m.usable() != nil {
		return nil
	}
	return levelNames(m.facts, len(m.weights))
}

// PredictLevels returns the probability of each class by its name, and the most likely one,
// for records, each its columns' texts by name, which it reads as Encode does. Where
// Probabilities has none, it fails.
func (m *ClassModel) PredictLevels(records ...map[string]string) ([]LevelPrediction, error) {
	x, err := m.Encode(records...)
	if err != nil {
		return nil, err
	}
	p, err := m.Probabilities(x)
	if err != nil {
		return nil, err
	}
	return predictLevels(m.Levels(), p), nil
}

// predictLevels names probabilities of rows.
func predictLevels(names []string, p *mat.Dense) []LevelPrediction {
	n, _ := p.Dims()
	out := make([]LevelPrediction, n)
	for i := range out {
		row := p.RawRowView(i)
		out[i] = LevelPrediction{names[floats.MaxIdx(row)], make(map[string]float64, len(row))}
		for k, v := range row {
			out[i].Probabilities[names[k]] = v
		}
	}
	return out
}

// suitsLevels refuses a loss that is not for the levels of a table's label.
func suitsLevels(l losses.Loss, label table.Label) error {
	ordinal, ok := l.(losses.Ordinal)
	switch k := len(label.Levels); {
	case !ok:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf("is for one score, and %q has %d levels by the table's schema: use Softmax or, where they ascend, losses.OrdinalFromShares or Ordinal", label.Column, k))
	case !label.Ordered:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf(`is for levels that ascend; the table's schema must say so of %q by "ordered", or use Softmax`, label.Column))
	case len(ordinal.Filled().Thresholds) != k-1:
		return check.Fail(ErrLabel, "Problem.Loss", l.Name(), fmt.Sprintf("must have %d thresholds for the %d levels of %q by the table's schema", k-1, k, label.Column))
	}
	return nil
}

// suitsClasses refuses a number of classes that is not that of the levels of a table's label.
func (d *Dataset) suitsClasses(param string, classes int) error {
	f, ok := d.facts.(tableFacts)
	if !ok || f.encoder.Label().Levels == nil {
		return nil
	}
	if label := f.encoder.Label(); len(label.Levels) != classes {
		return check.Fail(ErrConfig, param, classes, fmt.Sprintf("must be %d, the levels of %q by the table's schema", len(label.Levels), label.Column))
	}
	return nil
}
