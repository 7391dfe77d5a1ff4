package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// model is a *dpglm.Model or, of several classes, a *dpglm.ClassModel.
type model interface {
	Label() string
	Levels() []string
	Ledger() *dpglm.Ledger
	Encoder() *table.Encoder
	PredictLevels(records ...map[string]string) ([]dpglm.LevelPrediction, error)
}

// server answers for one model, which any number of requests may use at the same time.
type server struct {
	model
	kind    string // of the predictions
	predict func(records []map[string]string) (any, error)
}

func newServer(m model) http.Handler {
	s := &server{model: m, kind: "levels", predict: func(records []map[string]string) (any, error) { return m.PredictLevels(records...) }}
	if one, ok := m.(*dpglm.Model); ok && m.Levels() == nil {
		s.kind, s.predict = "mean", numbers(one, one.Means)
		switch {
		case one.Link().Probability():
			s.kind = "probability"
		case one.Encoder().Label().Kind == table.Binary: // a loss without probabilities
			s.kind, s.predict = "class", numbers(one, one.Predict)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /model", s.describe)
	mux.HandleFunc("POST /predict", s.answer)
	return mux
}

// numbers predicts one for each record.
func numbers(m *dpglm.Model, predict func(x mat.Matrix) ([]float64, error)) func(records []map[string]string) (any, error) {
	return func(records []map[string]string) (any, error) {
		x, err := m.Encode(records...)
		if err != nil { // it names the record, the column and what is wrong
			return nil, err
		}
		return predict(x)
	}
}

// describe says what is predicted, from what, and under which guarantee.
func (s *server) describe(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Label   string        `json:"label"`
		Kind    string        `json:"kind"`
		Levels  []string      `json:"levels,omitempty"`
		Columns []string      `json:"columns"`
		Per     string        `json:"per,omitempty"`
		Ledger  *dpglm.Ledger `json:"ledger"`
	}{s.Label(), s.kind, s.Levels(), s.Encoder().Inputs(), s.per(), s.Ledger()})
}

// per says of what exposure the predictions are, where the schema has one: records' own don't
// count.
func (s *server) per() string {
	if name := s.Encoder().Schema().Exposure; name != "" {
		return name + " = 1"
	}
	return ""
}

// maxBody is how many bytes a request may have.
const maxBody = 1 << 20

// answer predicts for the records of a request.
func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	records, err := decode(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		refuse(w, err)
		return
	}
	predictions, err := s.predict(records)
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Label       string `json:"label"`
		Kind        string `json:"kind"`
		Per         string `json:"per,omitempty"`
		Predictions any    `json:"predictions"`
	}{s.Label(), s.kind, s.per(), predictions})
}

// wanted is what the body of a request should be.
const wanted = `give a record such as {"age": 64, "ward": "icu"}, or a list of records`

// decode reads a record or a list of records, whose fields are texts, numbers, or null for
// a missing value.
func decode(body io.Reader) ([]map[string]string, error) {
	var text json.RawMessage
	whole := json.NewDecoder(body)
	if err := whole.Decode(&text); err == io.EOF {
		return nil, errors.New("the body is empty: " + wanted)
	} else if err != nil {
		return nil, err
	}
	if _, err := whole.Token(); err != io.EOF {
		return nil, errors.New("something follows the record; put records into a list")
	}
	var fields []map[string]any
	if bytes.HasPrefix(text, []byte("{")) {
		text = bytes.Join([][]byte{[]byte("["), text, []byte("]")}, nil)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("%s: %w", wanted, err)
	}
	records := make([]map[string]string, len(fields))
	for i, f := range fields {
		records[i] = make(map[string]string, len(f))
		for name, v := range f {
			switch v := v.(type) {
			case nil:
				records[i][name] = ""
			case string:
				records[i][name] = v
			case json.Number:
				records[i][name] = v.String()
			default:
				return nil, fmt.Errorf("record %d, column %q: a field must be a text, a number or null", i+1, name)
			}
		}
	}
	return records, nil
}

// refuse says what is wrong with a request.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
	}
	reply(w, status, map[string]string{"error": err.Error()})
}

func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n')) // whoever asked may be gone
}
