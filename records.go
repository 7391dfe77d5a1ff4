package dpglm

import (
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// Encoder returns the encoder of the table that the model was trained on, which has its
// schema, or nil for one that was trained on a plain matrix.
func (m *Model) Encoder() *table.Encoder {
	if m == nil {
		return nil
	}
	return encoderOf(m.facts)
}

// Encode turns records, each its columns' texts by name, into rows for [Model.Predict],
// [Model.Probabilities], [Model.Means] and [Model.Scores]. For a model of a table, the names
// that it needs are Encoder().Inputs(), and missing values and levels that aren't listed are
// treated by the table's schema; for a model of a matrix with a [Schema], they are its
// Columns, all of them numbers. It passes over other names. It fails without records,
// where one lacks a column, and for a model of [Bounds] or of a LIBSVM file, whose columns have
// no names. An error about a field is a [*table.Error] that names the record, counted from 1,
// and the column.
func (m *Model) Encode(records ...map[string]string) (*mat.Dense, error) {
	e, columns, err := readerOf(m, len(records))
	if err != nil {
		return nil, err
	}
	return encoded(columns, len(records), func(i int, dst []float64) error { return e.Encode(dst, records[i]) })
}

// EncodeRows is Encode for records whose fields come in the order of a header. It fails as
// Encode does, and where the header lacks a column or has one twice.
func (m *Model) EncodeRows(header []string, rows ...[]string) (*mat.Dense, error) {
	e, columns, err := readerOf(m, len(rows))
	if err != nil {
		return nil, err
	}
	b, err := e.Bind(header)
	if err != nil {
		return nil, err
	}
	return encoded(columns, len(rows), func(i int, dst []float64) error { return b.Encode(dst, rows[i]) })
}

// reader makes rows of records.
type reader interface {
	Encode(dst []float64, record map[string]string) error
	Bind(header []string) (*table.Binding, error)
}

// readerOf returns that of a number of records, and the columns of its rows.
func readerOf(m *Model, records int) (reader, int, error) {
	if err := m.usable(); err != nil {
		return nil, 0, err
	}
	if records == 0 {
		return nil, 0, check.Fail(ErrShape, "records", records, "must be at least 1")
	}
	switch f := m.facts.(type) {
	case tableFacts:
		return f.encoder, len(f.encoder.Features()), nil
	case Schema:
		return table.NewRaw(f.Columns), len(f.Columns), nil
	}
	return nil, 0, check.Fail(ErrModel, "model", nil, "was trained on a matrix whose columns have no names; give Predict, Probabilities, Means or Scores a matrix as in training, or train with a Schema or a table.Table")
}

// encoded makes a row of each record.
func encoded(columns, records int, encode func(i int, dst []float64) error) (*mat.Dense, error) {
	x := mat.NewDense(records, columns, nil)
	for i := range records {
		if err := encode(i, x.RawRowView(i)); err != nil {
			var at *table.Error
			if errors.As(err, &at) {
				at.Unit, at.Number = "record", i+1
			}
			return nil, err
		}
	}
	return x, nil
}

// Label says what is predicted, such as "readmitted = yes" for the probability of that,
// or the name of a column of numbers or of several classes; "class 1" or "label" for a model that was trained
// on a plain matrix.
func (m *Model) Label() string {
	switch e := m.Encoder(); {
	case e != nil && m.response.classes > 0:
		return e.Label().Column
	case e != nil:
		return e.Label().String()
	case m.usable() == nil && m.response.labels == losses.Binary && m.response.classes == 0:
		return "class 1"
	}
	return "label"
}

// LevelPrediction is what a model of several levels says of a record.
type LevelPrediction struct {
	// Level is the most likely one, the first of those that are alike.
	Level string `json:"level"`
	// Probabilities are those of all levels by their names; they sum to 1.
	Probabilities map[string]float64 `json:"probabilities"`
}

// Levels are the names of the classes, or of the levels that a model of losses.Ordinal predicts, in their
// order: those of the table's schema or, if there are none, 0, 1, …. It is nil for other
// models.
func (m *Model) Levels() []string {
	switch {
	case m == nil:
		return nil
	case m.response.classes > 0:
		return levelNames(m.facts, m.response.classes)
	case m.response.thresholds != nil:
		return levelNames(m.facts, len(m.response.thresholds)+1)
	}
	return nil
}

// PredictLevels returns what a model of several classes, or of losses.Ordinal, says of records,
// each its columns' texts by name, which it reads as Encode does. Other models have no levels, and fail.
func (m *Model) PredictLevels(records ...map[string]string) ([]LevelPrediction, error) {
	x, err := m.Encode(records...)
	if err != nil {
		return nil, err
	}
	if m.Levels() == nil {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "has no levels; those of several classes and losses.Ordinal have")
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
