package dpglm

import (
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
//
// As JSON it can be stored and published. The format has a version, and says which
// library wrote it, what was protected, among how many rows, and by what budget.
type Model struct {
	weights  []float64
	facts    Facts
	columns  int
	response response
	offset   float64 // of all scores: the labels' centre, where no intercept holds it
	ledger   *Ledger
	library  string // version of the library that trained it
}

// newModel moves the scores of real labels to the labels' own scale.
func newModel(w []float64, d *Dataset, loss losses.Loss, ledger *Ledger) *Model {
	s := d.Shape()
	m := &Model{w, d.facts, d.data.Facts().Columns, responseTo(loss), s.shift(loss.Labels()), ledger, Version}
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
	return fmt.Sprintf("%s model of %d weights\n%v", m.response.kind(), len(m.weights), m.ledger)
}

// Ledger returns what training released, and how private that is. Its Claim has the
// number of rows, what is protected, and the budget.
func (m *Model) Ledger() *Ledger {
	if m == nil {
		return nil
	}
	return m.ledger
}

// Facts returns the public facts about the columns that the model was trained with: a
// Schema, or Bounds, also of rows that a table's [Model.Encoder] made.
func (m *Model) Facts() Facts {
	if m.usable() != nil {
		return nil
	}
	if f, ok := m.facts.(tableFacts); ok {
		return f.Bounds
	}
	facts, _ := ownFacts(m.facts)
	return facts
}

// Loss returns the name of the loss.
func (m *Model) Loss() string {
	if m == nil {
		return ""
	}
	return m.response.loss
}

// Link returns what turns scores into means.
func (m *Model) Link() losses.Link {
	if m == nil {
		return ""
	}
	return m.response.link
}

// Scores returns ⟨w, x⟩ for each row of raw features, bounded as in training, on the scale of
// the labels where they are real. It fails where x has no row, other columns than in training
// or a value that isn't finite, and for a model that was neither trained nor decoded.
func (m *Model) Scores(x mat.Matrix) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	x, enc, err := queries(x, m.facts, m.columns)
	if err != nil {
		return nil, err
	}
	z, err := curator.Scores(x, enc, m.weights)
	if err == nil && m.offset != 0 {
		floats.AddConst(m.offset, z)
	}
	return z, err
}

// queries returns the matrix that curator reads in place of a caller's, and how its rows are
// encoded by a model that was trained on so many columns.
func queries(x mat.Matrix, facts Facts, trained int) (mat.Matrix, curator.Encoding, error) {
	x, columns, err := raw(x)
	if err != nil {
		return nil, curator.Encoding{}, err
	}
	if columns != trained {
		return nil, curator.Encoding{}, check.Fail(ErrShape, "columns of x", columns, fmt.Sprintf("must equal the %d that the model was trained on", trained))
	}
	enc, err := facts.encoding(trained)
	return x, enc, err
}

// Predict returns a prediction for each row of raw features: the class 1 or 0 for binary
// losses, the mean for counts and amounts, held to the largest that the facts allow, the score
// otherwise. It fails where x has no row,
// other columns than in training or a value that isn't finite, and for a model that was
// neither trained nor decoded.
func (m *Model) Predict(x mat.Matrix) ([]float64, error) {
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	for i, v := range z {
		z[i] = math.Min(m.response.prediction(v), m.response.largestMean(m.facts, false))
	}
	return z, nil
}

// Probabilities returns the probability of class 1 for each row of raw features; only the
// logistic and the probit loss define one. For other losses it fails, and as Scores does.
func (m *Model) Probabilities(x mat.Matrix) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if !m.response.link.Probability() {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "defines no probabilities")
	}
	return m.Means(x)
}

// Means returns what is expected of the label for each row of raw features: the probability of
// class 1, the mean count or amount, held to the largest that the facts allow (a rate, without its
// exposure, only to what a number holds), or the score, which is the mean for the squared loss, the
// quantile for another, and on the scale of the thresholds for losses.Ordinal. Binary losses
// other than the logistic and the probit loss have none. For these it fails, and as Scores
// does.
func (m *Model) Means(x mat.Matrix) ([]float64, error) {
	return m.means(x, false, func([]float64) error { return nil })
}

// MeansAt is Means with an offset added to the score of each row: for counts, the logarithm of
// its exposure. There is one for each row, or it fails, as it does where Means would.
func (m *Model) MeansAt(x mat.Matrix, offsets []float64) ([]float64, error) {
	return m.means(x, true, func(z []float64) error {
		if len(offsets) != len(z) {
			return check.Fail(ErrShape, "len(offsets)", len(offsets), fmt.Sprintf("must equal the %d rows of x", len(z)))
		}
		floats.Add(z, offsets)
		return nil
	})
}

// means are those at scores that move may have moved.
func (m *Model) means(x mat.Matrix, exposed bool, move func(z []float64) error) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.response.labels == losses.Binary && !m.response.link.Probability() {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "defines no means; Predict has classes")
	}
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	if err := move(z); err != nil {
		return nil, err
	}
	for i, v := range z {
		z[i] = math.Min(m.response.link.Mean(v), m.response.largestMean(m.facts, exposed))
	}
	return z, nil
}
