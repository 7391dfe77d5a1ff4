package dpglm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

// The formats and the version of the JSON that this package writes and reads.
const (
	modelFormat  = "dpglm model"
	classFormat  = "dpglm class model" // of several classes
	modelVersion = 1
)

// modelJSON is a model. What a reader without this
// library wants to know of the guarantee stands beside the ledger, which claims the same.
type modelJSON struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Library string `json:"library"`
	// Of several classes Loss and Link are those of one class against the rest, and missing for
	// softmax; Labels are missing.
	Loss   string          `json:"loss,omitempty"`
	Labels losses.Labels   `json:"labels,omitempty"`
	Link   losses.Link     `json:"link,omitempty"`
	Unit   mechanisms.Unit `json:"unit"`
	mechanisms.Claim
	Columns int `json:"columns"`
	factsJSON
	Weights scoreWeights `json:"weights"`
	Offset  float64      `json:"offset,omitempty"`
	Ledger  *Ledger      `json:"ledger"`
	// Thresholds are the parameter of losses.Ordinal, and Levels the names of the levels between,
	// or of classes.
	Thresholds []float64 `json:"thresholds,omitempty"`
	Levels     []string  `json:"levels,omitempty"`
}

// scoreWeights are the weights of each score; those of one are written as they are.
type scoreWeights [][]float64

func (w scoreWeights) MarshalJSON() ([]byte, error) {
	if len(w) == 1 {
		return json.Marshal(w[0])
	}
	return json.Marshal([][]float64(w))
}

func (w *scoreWeights) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[][]float64)(w)) == nil && len(*w) != 1 {
		return nil
	}
	*w = scoreWeights{nil}
	return json.Unmarshal(data, &(*w)[0])
}

// factsJSON has the facts in one of its fields.
type factsJSON struct {
	Bounds *Bounds       `json:"bounds,omitempty"`
	Schema *Schema       `json:"schema,omitempty"`
	Table  *table.Schema `json:"table,omitempty"`
}

func newFactsJSON(facts Facts) (j factsJSON) {
	switch f := facts.(type) {
	case Bounds:
		j.Bounds = &f
	case Schema:
		j.Schema = &f
	case tableFacts:
		s := f.encoder.Schema()
		j.Table = &s
	}
	return j
}

// claimed returns what a ledger claims, and for what unit.
func claimed(l *Ledger) (mechanisms.Claim, mechanisms.Unit) {
	c, _ := l.Claim()
	return c, l.Unit()
}

// MarshalJSON writes the model. Its last field, "sum", is the SHA-256 of the object without it, in
// compact form: white space may change, and nothing else. It fails for a model that was
// neither trained nor decoded.
func (m *Model) MarshalJSON() ([]byte, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	j := modelJSON{Format: modelFormat, Version: modelVersion, Library: m.library, Loss: m.response.loss, Labels: m.response.labels, Link: m.response.link,
		Columns: m.columns, factsJSON: newFactsJSON(m.facts), Weights: m.weights, Offset: m.offset, Ledger: m.ledger, Thresholds: m.response.thresholds, Levels: m.Levels()}
	if m.response.classes > 0 {
		j.Format, j.Labels = classFormat, ""
	}
	if m.response.joint() {
		j.Loss = ""
	}
	j.Claim, j.Unit = claimed(m.ledger)
	return sealed.Marshal(j)
}

// UnmarshalJSON reads a model that MarshalJSON wrote. It refuses another format or
// version, one whose checksum doesn't fit what is written, fields that it doesn't know or that are
// repeated, and numbers that contradict one another.
func (m *Model) UnmarshalJSON(data []byte) error {
	if m == nil {
		return check.Fail(ErrModel, "model", nil, "must not be nil")
	}
	j, err := decodeModel[modelJSON](data, modelFormat, classFormat)
	if err != nil {
		return err
	}
	d := Model{j.Weights, nil, j.Columns, response{j.Loss, j.Labels, j.Link, j.Thresholds, 0}, j.Offset, j.Ledger, j.Library}
	if several := len(d.weights) > 1; several != (j.Format == classFormat) || len(d.weights) == 0 || several && j.Labels != "" {
		return check.Fail(ErrModel, "format, labels, weights", fmt.Sprintf("%q, %q, of %d scores", j.Format, j.Labels, len(d.weights)), "must be those of one score, or of several classes")
	} else if several {
		d.response.classes, d.response.labels = len(d.weights), losses.Binary
	}
	if d.response.joint() && d.response.loss == "" {
		d.response.loss = softmax
	}
	if d.facts, err = j.facts(); err != nil {
		return err
	}
	if err := d.validate(); err != nil {
		return ofModel(err)
	}
	if !slices.Equal(d.Levels(), j.Levels) {
		return check.Fail(ErrModel, "levels", j.Levels, fmt.Sprintf("must be %q", d.Levels()))
	}
	if claim, unit := claimed(d.ledger); claim != j.Claim || unit != j.Unit {
		return check.Fail(ErrModel, "rows, person_rows, group, unit, epsilon, delta, mu", nil, "must be those that the ledger claims")
	}
	*m = d
	return nil
}

// ofModel makes an error that of an encoded model, unless it is one.
func ofModel(err error) error {
	if errors.Is(err, ErrModel) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrModel, err)
}

// decodeModel reads the fields, each of which must be known and occur once.
func decodeModel[T any](data []byte, formats ...string) (*T, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, ofModel(err)
	}
	if !slices.Contains(formats, head.Format) {
		return nil, check.Fail(ErrModel, "format", fmt.Sprintf("%q", head.Format), fmt.Sprintf("must be one of %q", formats))
	}
	if head.Version != modelVersion {
		return nil, check.Fail(ErrModel, "version", head.Version, fmt.Sprintf("is not known: this library, %s, reads version %d", Version, modelVersion))
	}
	data, err := unsealed(data)
	if err != nil {
		return nil, err
	}
	j := new(T)
	if err := sealed.Decode(data, j); err != nil {
		return nil, ofModel(err)
	}
	return j, nil
}

// unsealed is what is written without its checksum, which must fit.
func unsealed(data []byte) ([]byte, error) {
	object, err := sealed.Open(data)
	if errors.Is(err, sealed.ErrNone) || errors.Is(err, sealed.ErrOther) {
		return nil, check.Fail(ErrModel, "sum", nil, "must fit what is written: "+err.Error())
	}
	if err != nil {
		return nil, ofModel(err)
	}
	return object, nil
}

// facts returns the one kind of facts that there is.
func (j *factsJSON) facts() (Facts, error) {
	var found []Facts
	if j.Bounds != nil {
		found = append(found, *j.Bounds)
	}
	if j.Schema != nil {
		found = append(found, *j.Schema)
	}
	if j.Table != nil {
		e, err := table.NewEncoder(*j.Table)
		if err != nil {
			return nil, ofModel(err)
		}
		found = append(found, newTableFacts(e))
	}
	if len(found) != 1 {
		return nil, check.Fail(ErrModel, "bounds, schema, table", nil, "must have exactly one of them")
	}
	return found[0], nil
}

func (m *Model) validate() error {
	if m.ledger == nil {
		return check.Fail(ErrModel, "ledger", nil, "is missing")
	}
	if c, ok := m.ledger.Claim(); !ok || c.Rows < 1 {
		return check.Fail(ErrModel, "rows", c.Rows, "must be at least 1, by the ledger's claim")
	}
	if m.ledger.Unit() == (mechanisms.Unit{}) {
		return check.Fail(ErrModel, "unit", nil, "must be stated by the ledger")
	}
	for _, w := range m.weights {
		if err := fits(m.facts, m.columns, w); err != nil {
			return err
		}
	}
	if err := m.response.validate(m.facts); err != nil {
		return err
	}
	centre, _, err := m.facts.labels()
	if err != nil {
		return err
	}
	if m.response.labels != losses.Real || m.facts.intercept() {
		centre = 0
	}
	if m.offset != centre {
		return check.Fail(ErrModel, "offset", m.offset, fmt.Sprintf("must be %g by the bounds or the schema", centre))
	}
	return nil
}

// fits refuses weights of a score that contradict the facts.
func fits(facts Facts, columns int, weights []float64) error {
	if columns < 1 || columns > len(weights) {
		return check.Fail(ErrShape, "columns", columns, "must fit the weights")
	}
	enc, err := facts.encoding(columns)
	if err != nil {
		return err
	}
	if len(weights) != enc.Dim() {
		return check.Fail(ErrShape, "weights", len(weights), fmt.Sprintf("must have length %d", enc.Dim()))
	}
	for j, w := range weights {
		if math.IsNaN(w) || math.Abs(w) > check.MaxScale*check.MaxScale {
			return check.Fail(ErrValue, "weights", w, fmt.Sprintf("must be finite at %d", j))
		}
	}
	return nil
}
