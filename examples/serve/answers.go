package main

import (
	"bytes"
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// predictor is the kind of a model's predictions, and how they are made.
func predictor(m *dpglm.Model) (kind string, predict func(x mat.Matrix, exposures []float64) ([]any, error)) {
	switch {
	case m.Levels() != nil:
		return "levels", levels(m)
	case m.Link().Probability():
		return "probability", numbers(m.MeansAt)
	case m.Encoder().Label().Kind == table.Binary: // a loss without probabilities
		return "class", numbers(func(x mat.Matrix, _ []float64) ([]float64, error) { return m.Predict(x) })
	}
	return "mean", numbers(m.MeansAt)
}

// numbers predicts one for each row, whose offset is the logarithm of its exposure.
func numbers(predict func(x mat.Matrix, offsets []float64) ([]float64, error)) func(x mat.Matrix, exposures []float64) ([]any, error) {
	return func(x mat.Matrix, exposures []float64) ([]any, error) {
		offsets := make([]float64, len(exposures))
		for i, exposure := range exposures {
			offsets[i] = math.Log(exposure)
		}
		values, err := predict(x, offsets)
		out := make([]any, len(values))
		for i, v := range values {
			out[i] = v
		}
		return out, err
	}
}

// levels predicts a probability for each level of the label.
func levels(m *dpglm.Model) func(x mat.Matrix, exposures []float64) ([]any, error) {
	names := m.Levels()
	return func(x mat.Matrix, _ []float64) ([]any, error) {
		p, err := m.Probabilities(x)
		if err != nil {
			return nil, err
		}
		n, _ := p.Dims()
		out := make([]any, n)
		for i := range out {
			row := p.RawRowView(i)
			of := dpglm.LevelPrediction{Level: names[floats.MaxIdx(row)], Probabilities: make(map[string]float64, len(row))}
			for k, v := range row {
				of.Probabilities[names[k]] = v
			}
			out[i] = of
		}
		return out, nil
	}
}

// maxBatch is how many features are held at a time.
const maxBatch = 1 << 16

// answers predicts for records as they come, of which it holds a batch.
type answers struct {
	*server
	with, without *table.Binding // of records with an exposure, and of others
	fields        []string
	x             *mat.Dense
	exposures     []float64
	records       int
	text          bytes.Buffer     // the predictions so far, as a JSON list that is open
	held          map[string][]int // by column, the records that were held to its range
	size          int              // of held
}

func newAnswers(s *server) *answers {
	features := len(s.encoder.Features())
	rows := max(1, min(1024, maxBatch/max(features, 1)))
	return &answers{server: s, x: mat.NewDense(rows, max(features, 1), nil), exposures: make([]float64, 0, rows), held: map[string][]int{}}
}

// bind is how a record is read that has an exposure, or hasn't.
func (a *answers) bind(exposed bool) (*table.Binding, error) {
	kept, header := &a.without, a.encoder.Inputs()
	if exposed {
		kept, header = &a.with, append(header, a.schema.AtRisk())
	}
	var err error
	if *kept == nil {
		*kept, err = a.encoder.Bind(header)
	}
	return *kept, err
}

// add predicts for another record, which it doesn't keep.
func (a *answers) add(record map[string]string) error {
	a.records++
	row := a.x.RawRowView(len(a.exposures))
	_, exposed := record[a.schema.AtRisk()]
	exposed = exposed && a.schema.AtRisk() != ""
	b, err := a.bind(exposed)
	if err != nil {
		return err
	}
	a.fields = a.fields[:0]
	for _, name := range a.encoder.Inputs() {
		text, ok := record[name]
		if !ok {
			return a.encoder.Encode(row, record) // which says so
		}
		a.fields = append(a.fields, text)
	}
	if exposed {
		a.fields = append(a.fields, record[a.schema.AtRisk()])
	}
	b.At("record", a.records)
	if err := b.Encode(row, a.fields); err != nil { // it names the record, the column and what is wrong
		return err
	}
	exposure, err := b.Exposure(a.fields)
	if err != nil {
		return err
	}
	for _, name := range b.Clamped() {
		a.held[name] = append(a.held[name], a.records)
		a.size += 8
	}
	if a.exposures = append(a.exposures, exposure); len(a.exposures) == cap(a.exposures) {
		return a.flush()
	}
	return nil
}

// flush predicts for the batch.
func (a *answers) flush() error {
	if len(a.exposures) == 0 {
		return nil
	}
	_, columns := a.x.Dims()
	predicted, err := a.predict(a.x.Slice(0, len(a.exposures), 0, columns), a.exposures)
	if err != nil {
		return err
	}
	for _, v := range predicted {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		separator := byte(',')
		if a.text.Len() == 0 {
			separator = '['
		}
		a.text.WriteByte(separator)
		a.text.Write(text)
		if a.text.Len()+a.size > maxReply {
			return errReply
		}
	}
	a.exposures = a.exposures[:0]
	return nil
}

// end is the list of all predictions.
func (a *answers) end() (json.RawMessage, error) {
	err := a.flush()
	a.text.WriteByte(']')
	return a.text.Bytes(), err
}
