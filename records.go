package dpglm

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/table"
)

// Encoder returns the encoder of the table that the model was trained on, which has its
// schema, or nil for one that was trained on a plain matrix.
func (m *Model) Encoder() *table.Encoder {
	if m == nil {
		return nil
	}
	f, _ := m.facts.(tableFacts)
	return f.encoder
}

// Encode turns records, each its columns' texts by name, into rows for [Model.Predict],
// [Model.Probabilities], [Model.Means] and [Model.Scores]. The names that it needs are
// Encoder().Inputs(); it passes over others. Missing values and levels that aren't listed
// are treated by the schema's rules. An error is a [*table.Error] that names the record,
// counted from 1, and the column.
func (m *Model) Encode(records ...map[string]string) (*mat.Dense, error) {
	e, err := m.encoder(len(records))
	if err != nil {
		return nil, err
	}
	return encoded(e, len(records), func(i int, dst []float64) error { return e.Encode(dst, records[i]) })
}

// EncodeRows is Encode for records whose fields come in the order of a header.
func (m *Model) EncodeRows(header []string, rows ...[]string) (*mat.Dense, error) {
	e, err := m.encoder(len(rows))
	if err != nil {
		return nil, err
	}
	b, err := e.Bind(header)
	if err != nil {
		return nil, err
	}
	return encoded(e, len(rows), func(i int, dst []float64) error { return b.Encode(dst, rows[i]) })
}

// encoder returns the encoder for a number of records.
func (m *Model) encoder(records int) (*table.Encoder, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.Encoder() == nil {
		return nil, check.Fail(ErrModel, "model", nil, "was not trained on a table.Table, so it knows no records; give Predict, Probabilities, Means or Scores a matrix as in training")
	}
	if records == 0 {
		return nil, check.Fail(ErrShape, "records", records, "must be at least 1")
	}
	return m.Encoder(), nil
}

// encoded makes a row of each record.
func encoded(e *table.Encoder, records int, encode func(i int, dst []float64) error) (*mat.Dense, error) {
	x := mat.NewDense(records, len(e.Features()), nil)
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
