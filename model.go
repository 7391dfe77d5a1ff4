package dpglm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// Model is a released linear model. It holds the weights, the public facts that
// it needs to predict on raw features, and the ledger; nothing else that was
// computed from data. It is immutable and safe for concurrent use.
type Model struct {
	weights []float64
	facts   Facts
	columns int
	loss    string
	labels  losses.Labels
	link    losses.Link
	offset  float64 // of all scores: the labels' centre, where no intercept holds it
	ledger  *Ledger
}

// newModel moves the scores of real labels to the labels' own scale.
func newModel(w []float64, d *Dataset, loss losses.Loss, ledger *Ledger) *Model {
	s := d.Shape()
	m := &Model{w, d.facts, d.data.Facts().Columns, loss.Name(), loss.Labels(), losses.LinkOf(loss), s.shift(loss.Labels()), ledger}
	if s.Intercept {
		m.weights = slices.Clone(w)
		m.weights[s.Dim-1] += m.offset
		m.offset = 0
	}
	return m
}

// Weights returns a copy of the weights of the encoded features (scaled to
// [−1, 1] where a Schema says so), the intercept last if there is one. Where real
// labels were given a range, the intercept includes its middle; without an intercept
// the weights are those of labels less the middle, which Scores adds.
func (m *Model) Weights() []float64 {
	if m == nil {
		return nil
	}
	return slices.Clone(m.weights)
}

// usable refuses a model that was neither trained nor decoded.
func (m *Model) usable() error {
	if m == nil || m.facts == nil {
		return check.Fail(ErrModel, "model", nil, "must be trained or decoded")
	}
	return nil
}

// String says what the model is.
func (m *Model) String() string {
	if m.usable() != nil {
		return "empty model"
	}
	return fmt.Sprintf("%s model of %d weights\n%v", m.loss, len(m.weights), m.ledger)
}

// Ledger returns what training released, and how private that is.
func (m *Model) Ledger() *Ledger {
	if m == nil {
		return nil
	}
	return m.ledger
}

// Scores returns ⟨w, x⟩ for each row of raw features, bounded as in training, on the
// scale of the labels where they are real.
func (m *Model) Scores(x mat.Matrix) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	x, columns, err := raw(x)
	if err != nil {
		return nil, err
	}
	if columns != m.columns {
		return nil, check.Fail(ErrShape, "columns of x", columns, fmt.Sprintf("must equal the %d that the model was trained on", m.columns))
	}
	enc, err := m.facts.encoding(m.columns)
	if err != nil {
		return nil, err
	}
	z, err := curator.Scores(x, enc, m.weights)
	if err == nil && m.offset != 0 {
		floats.AddConst(m.offset, z)
	}
	return z, err
}

// Predict returns a prediction for each row of raw features: the class 1 or 0
// for binary losses, the mean count for counts, the score otherwise.
func (m *Model) Predict(x mat.Matrix) ([]float64, error) {
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	for i, v := range z {
		z[i] = prediction(m.labels, m.link, v)
	}
	return z, nil
}

// prediction is the class for binary labels and the mean otherwise, at a score.
func prediction(labels losses.Labels, link losses.Link, score float64) float64 {
	switch {
	case labels == losses.Binary && score > 0:
		return 1
	case labels == losses.Binary:
		return 0
	default:
		return link.Mean(score)
	}
}

// Probabilities returns the probability of class 1 for each row of raw
// features; only the logistic loss defines one.
func (m *Model) Probabilities(x mat.Matrix) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.link != losses.Logit {
		return nil, check.Fail(ErrConfig, "loss", m.loss, "defines no probabilities")
	}
	z, err := m.Scores(x)
	for i, v := range z {
		z[i] = m.link.Mean(v)
	}
	return z, err
}

type modelJSON struct {
	Loss    string        `json:"loss"`
	Labels  losses.Labels `json:"labels"`
	Link    losses.Link   `json:"link"`
	Columns int           `json:"columns"`
	Bounds  *Bounds       `json:"bounds,omitempty"`
	Schema  *Schema       `json:"schema,omitempty"`
	Weights []float64     `json:"weights"`
	Offset  float64       `json:"offset,omitempty"`
	Ledger  *Ledger       `json:"ledger"`
}

// MarshalJSON writes the model.
func (m *Model) MarshalJSON() ([]byte, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	j := modelJSON{Loss: m.loss, Labels: m.labels, Link: m.link, Columns: m.columns, Weights: m.weights, Offset: m.offset, Ledger: m.ledger}
	switch f := m.facts.(type) {
	case Bounds:
		j.Bounds = &f
	case Schema:
		j.Schema = &f
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads a model that MarshalJSON wrote and refuses any other.
func (m *Model) UnmarshalJSON(data []byte) error {
	if m == nil {
		return check.Fail(ErrModel, "model", nil, "must not be nil")
	}
	var j modelJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	d := Model{j.Weights, nil, j.Columns, j.Loss, j.Labels, j.Link, j.Offset, j.Ledger}
	switch {
	case j.Bounds != nil && j.Schema == nil:
		d.facts = *j.Bounds
	case j.Schema != nil && j.Bounds == nil:
		d.facts = *j.Schema
	default:
		return check.Fail(ErrModel, "bounds, schema", nil, "must have exactly one of them")
	}
	if err := d.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrModel, err)
	}
	*m = d
	return nil
}

func (m *Model) validate() error {
	if m.ledger == nil {
		return check.Fail(ErrModel, "ledger", nil, "is missing")
	}
	if m.columns < 1 || m.columns > len(m.weights) {
		return check.Fail(ErrShape, "columns", m.columns, "must fit the weights")
	}
	enc, err := m.facts.encoding(m.columns)
	if err != nil {
		return err
	}
	if len(m.weights) != enc.Dim() {
		return check.Fail(ErrShape, "weights", len(m.weights), fmt.Sprintf("must have length %d", enc.Dim()))
	}
	for j, w := range m.weights {
		if math.IsNaN(w) || math.Abs(w) > check.MaxScale*check.MaxScale {
			return check.Fail(ErrValue, "weights", w, fmt.Sprintf("must be finite at %d", j))
		}
	}
	if m.loss == "" || !m.labels.Valid() || !m.link.Suits(m.labels) {
		return check.Fail(ErrModel, "loss, labels, link", fmt.Sprintf("%q, %q, %q", m.loss, m.labels, m.link), "must be known and suit one another")
	}
	centre, _, err := m.facts.labels()
	if err != nil {
		return err
	}
	if m.labels != losses.Real || m.facts.intercept() {
		centre = 0
	}
	if m.offset != centre {
		return check.Fail(ErrModel, "offset", m.offset, fmt.Sprintf("must be %g by the bounds or the schema", centre))
	}
	return nil
}
