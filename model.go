package dpglm

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/losses"
)

// Model is a released linear model: of one score, or of one for each of several classes. It
// holds the weights, the public facts that it needs to predict on raw features, and the ledger;
// nothing else that was computed from data. It is immutable and safe for concurrent use.
//
// As JSON it can be stored and published. The format has a version, and says which
// library wrote it, what was protected, among how many rows, and by what budget.
type Model struct {
	weights  [][]float64 // of each score
	facts    Facts
	columns  int
	response response
	offset   float64 // of all scores: the labels' centre, where no intercept holds it
	ledger   *Ledger
	library  string // version of the library that trained it
}

// newModel moves the scores of real labels to the labels' own scale.
func newModel(of response, weights [][]float64, d *Dataset, ledger *Ledger) *Model {
	s := d.Shape()
	m := &Model{weights, d.facts, d.data.Facts().Columns, of, s.shift(of.labels), ledger, Version}
	if s.Intercept {
		m.weights = m.Weights()
		for _, w := range m.weights {
			w[s.Dim-1] += m.offset
		}
		m.offset = 0
	}
	return m
}

// Weights returns a copy of the weights of each score: one list, or one for each of several
// classes. They are those of the encoded features (scaled to
// [−1, 1] where a Schema says so), the intercept last if there is one. Where real
// labels were given a range, the intercept includes its middle; without an intercept
// the weights are those of labels less the middle, which Scores adds. By [Softmax], adding the
// same list to all changes nothing.
func (m *Model) Weights() [][]float64 {
	if m.usable() != nil {
		return nil
	}
	list := make([][]float64, len(m.weights))
	for k, w := range m.weights {
		list[k] = slices.Clone(w)
	}
	return list
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
	size := fmt.Sprintf("%d weights", len(m.weights[0]))
	if k := m.response.classes; k > 0 {
		size = fmt.Sprintf("%d classes × %s", k, size)
	}
	return fmt.Sprintf("%s model of %s\n%v", m.response.kind(), size, m.ledger)
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

// Classes is how many classes there are where each has a score, and 0 for models of one score.
func (m *Model) Classes() int {
	if m == nil {
		return 0
	}
	return m.response.classes
}

// Loss returns the name of the loss: of several classes softmax, or that of each class against
// the rest.
func (m *Model) Loss() string {
	if m == nil {
		return ""
	}
	return m.response.loss
}

// Link returns what turns scores into means; it is empty for softmax.
func (m *Model) Link() losses.Link {
	if m == nil {
		return ""
	}
	return m.response.link
}

// Scores returns ⟨w, x⟩ for each row of raw features, bounded as in training, on the scale of
// the labels where they are real, to whose range they aren't held as [Model.Means] are: n×1, or n×K of K classes. It fails where x has no row, other columns than in training
// or a value that isn't finite, and for a model that was neither trained nor decoded.
func (m *Model) Scores(x mat.Matrix) (*mat.Dense, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	x, enc, err := queries(x, m.facts, m.columns)
	if err != nil {
		return nil, err
	}
	var all *mat.Dense
	for k, w := range m.weights {
		z, err := curator.Scores(x, enc, w)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = mat.NewDense(len(z), len(m.weights), nil)
		}
		all.SetCol(k, z)
	}
	if m.offset != 0 {
		floats.AddConst(m.offset, all.RawMatrix().Data)
	}
	return all, nil
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
// losses, that of the largest score for several classes, and the mean otherwise, as Means has it. It fails as Scores does.
func (m *Model) Predict(x mat.Matrix) ([]float64, error) {
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	n, _ := z.Dims()
	out := make([]float64, n)
	for i := range out {
		if row := z.RawRowView(i); m.response.classes > 0 {
			out[i] = float64(floats.MaxIdx(row))
		} else {
			out[i] = m.response.prediction(row[0], heldMean(m, row[0], false))
		}
	}
	return out, nil
}

// Probabilities returns the probability of each label for each row of raw features: n×2, of
// the classes 0 and 1, or n×K, of several classes or of the levels of losses.Ordinal, in their order. Those of a row sum to
// 1; by [OneAgainstRest] they are the classes' own, over their sum. Of binary losses only the
// logistic and the probit loss define them. For other losses it fails, and as Scores does.
func (m *Model) Probabilities(x mat.Matrix) (*mat.Dense, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if !m.response.probable() {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "defines no probabilities")
	}
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	n, _ := z.Dims()
	p := mat.NewDense(n, len(m.response.probabilities(z.RawRowView(0))), nil)
	for i := range n {
		p.SetRow(i, m.response.probabilities(z.RawRowView(i)))
	}
	return p, nil
}

// Means returns what is expected of the label for each row of raw features: the probability of
// class 1, the mean count or amount, held to the largest that the facts allow (a rate, without its
// exposure, only to what a number holds), or the score, which is the mean for the squared loss, the
// quantile for another, held to the range of labels, and on the scale of the thresholds for losses.Ordinal: no label in a range is
// nearer to a prediction beyond it than to the range's end. Several classes, and binary losses
// other than the logistic and the probit loss, have none. For these it fails, and as Scores
// does.
func (m *Model) Means(x mat.Matrix) ([]float64, error) {
	return meansOf(m, x, false, func([]float64) error { return nil })
}

// MeansAt is Means with an offset added to the score of each row: for counts, the logarithm of
// its exposure. There is one for each row, or it fails, as it does where Means would.
func (m *Model) MeansAt(x mat.Matrix, offsets []float64) ([]float64, error) {
	return meansOf(m, x, true, func(z []float64) error {
		if len(offsets) != len(z) {
			return check.Fail(ErrShape, "len(offsets)", len(offsets), fmt.Sprintf("must equal the %d rows of x", len(z)))
		}
		floats.Add(z, offsets)
		return nil
	})
}

// meansOf are those at scores that move may have moved.
func meansOf(m *Model, x mat.Matrix, exposed bool, move func(z []float64) error) ([]float64, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	if m.response.classes > 0 || m.response.labels == losses.Binary && !m.response.link.Probability() {
		return nil, check.Fail(ErrConfig, "loss", m.response.loss, "defines no means; Predict has classes")
	}
	scores, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	z := scores.RawMatrix().Data
	if err := move(z); err != nil {
		return nil, err
	}
	for i, v := range z {
		z[i] = heldMean(m, v, exposed)
	}
	return z, nil
}
