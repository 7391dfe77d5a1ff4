package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// server answers for one model, which any number of requests may use at the same time.
type server struct {
	*dpglm.Model
	encoder *table.Encoder
	schema  table.Schema
	kind    string // of the predictions
	// predict says what the model does of rows of features with their exposures, one value
	// for JSON each.
	predict func(x mat.Matrix, exposures []float64) ([]any, error)
	slots   chan struct{} // one for each request that is at work
}

// maxAtWork is how many requests are answered at a time: each may take some 20 MB.
const maxAtWork = 8

// maxBody is how many bytes a request may have, and maxReply an answer's predictions.
const (
	maxBody  = 1 << 20
	maxReply = 4 << 20
)

func newServer(m *dpglm.Model) http.Handler {
	s := &server{Model: m, encoder: m.Encoder(), schema: m.Encoder().Schema(), slots: make(chan struct{}, maxAtWork)}
	s.kind, s.predict = predictor(m)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /model", s.describe)
	mux.HandleFunc("POST /predict", s.admit)
	return mux
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
	}{s.Label(), s.kind, s.Levels(), s.encoder.Inputs(), s.per(), s.Ledger()})
}

// per says of what exposure the predictions are, where the schema has one.
func (s *server) per() string {
	if name := s.schema.Exposure; name != "" {
		return "each record's " + name + ", or 1 where it has none"
	}
	if name := s.schema.Offset; name != "" {
		return "each record's offset " + name + ", or 0 where it has none"
	}
	return ""
}

// admit answers a request, unless as many as may are at work.
func (s *server) admit(w http.ResponseWriter, r *http.Request) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		s.answer(w, r)
	default:
		w.Header().Set("Retry-After", "1")
		reply(w, http.StatusServiceUnavailable, map[string]string{"error": "too many requests at a time; ask again in a second"})
	}
}

// answer predicts for the records of a request.
func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	a := newAnswers(s)
	if err := decode(http.MaxBytesReader(w, r.Body, maxBody), cmp.Or(a.schema.Decimal, "."), a.add); err != nil {
		refuse(w, err)
		return
	}
	predictions, err := a.end()
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, http.StatusOK, struct {
		Label       string           `json:"label"`
		Kind        string           `json:"kind"`
		Per         string           `json:"per,omitempty"`
		Predictions json.RawMessage  `json:"predictions"`
		Held        map[string][]int `json:"held_to_range,omitempty"`
	}{s.Label(), s.kind, s.per(), predictions, a.held})
}

// errReply is about a request whose answer would be too long.
var errReply = errors.New("the answer would be too large: ask for fewer records at a time")

// refuse says what is wrong with a request.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) || errors.Is(err, errReply):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, err = http.StatusRequestTimeout, errors.New("the body came too slowly")
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
