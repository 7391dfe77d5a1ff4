package dpglm

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
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
	if m == nil || m.response.thresholds == nil {
		return nil
	}
	return levelNames(m.facts, len(m.response.thresholds)+1)
}

// LevelProbabilities returns the probability of each of the K Levels for each row of raw
// features, n×K; those of a row sum to 1. Only models of losses.Ordinal have them.
func (m *Model) LevelProbabilities(x mat.Matrix) (*mat.Dense, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.response.thresholds == nil {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "defines no probabilities of levels; losses.Ordinal does")
	}
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	loss, p := losses.Ordinal{Thresholds: m.response.thresholds}, mat.NewDense(len(z), len(m.response.thresholds)+1, nil)
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
