package dpglm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/internal/sealed"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// ClassModel is a released model of several classes, by [Softmax] or [OneAgainstRest]: linear
// scores of each, the public facts that it needs to predict on raw features, and the ledger.
// It is immutable and safe for concurrent use.
type ClassModel struct {
	weights [][]float64 // of each class
	loss    string      // of each class against the rest, and its link; none for softmax
	link    losses.Link
	facts   Facts
	columns int
	ledger  *Ledger
	library string // version of the library that trained it
}

// newClassModel has the loss of each class against the rest, or nil.
func newClassModel(weights [][]float64, d *Dataset, loss losses.Loss, ledger *Ledger) *ClassModel {
	m := &ClassModel{weights: weights, facts: d.facts, columns: d.data.Facts().Columns, ledger: ledger, library: Version}
	if loss != nil {
		m.loss, m.link = loss.Name(), losses.LinkOf(loss)
	}
	return m
}

func (m *ClassModel) usable() error {
	if m == nil || m.facts == nil {
		return check.Fail(ErrModel, "model", nil, "must be trained or decoded")
	}
	return nil
}

// Classes is how many there are.
func (m *ClassModel) Classes() int {
	if m == nil {
		return 0
	}
	return len(m.weights)
}

// Loss is the name of the loss: softmax, or that of each class against the rest.
func (m *ClassModel) Loss() string {
	switch {
	case m.usable() != nil:
		return ""
	case m.loss == "":
		return "softmax"
	}
	return m.loss
}

// Weights returns a copy of the weights of each class, as [Model.Weights] has them. By
// [Softmax], adding the same vector to all changes nothing.
func (m *ClassModel) Weights() [][]float64 {
	if m == nil {
		return nil
	}
	list := make([][]float64, len(m.weights))
	for c, w := range m.weights {
		list[c] = slices.Clone(w)
	}
	return list
}

// Ledger returns what training released, and how private that is.
func (m *ClassModel) Ledger() *Ledger {
	if m == nil {
		return nil
	}
	return m.ledger
}

// String says what the model is.
func (m *ClassModel) String() string {
	if m.usable() != nil {
		return "empty model"
	}
	kind := "softmax model"
	if m.loss != "" {
		kind = "one-against-rest " + m.loss + " model"
	}
	return fmt.Sprintf("%s of %d classes × %d weights\n%v", kind, len(m.weights), len(m.weights[0]), m.ledger)
}

// Scores returns ⟨w_k, x⟩ for each row of raw features, bounded as in training, and each
// class: n×K. Where there is no row or another number of columns, it fails.
func (m *ClassModel) Scores(x mat.Matrix) (*mat.Dense, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	x, enc, err := queries(x, m.facts, m.columns)
	if err != nil {
		return nil, err
	}
	var z *mat.Dense
	for c, w := range m.weights {
		of, err := curator.Scores(x, enc, w)
		if err != nil {
			return nil, err
		}
		if z == nil {
			z = mat.NewDense(len(of), len(m.weights), nil)
		}
		z.SetCol(c, of)
	}
	return z, nil
}

// against is the loss −log p of a class against the rest, by which probabilities go: nil
// for softmax.
func (m *ClassModel) against() losses.Loss {
	switch {
	case m.loss == "":
		return nil
	case m.link == losses.ProbitLink:
		return losses.Probit{}
	}
	return losses.Logistic{}
}

// probable reports whether there are probabilities.
func (m *ClassModel) probable() bool { return m.loss == "" || m.link.Probability() }

// Probabilities returns the probability of each class for each row of raw features, n×K;
// those of a row sum to 1. By [OneAgainstRest] they are the classes' own, over their sum;
// where the loss has none, such as the hinge loss, it fails, and as Scores does.
func (m *ClassModel) Probabilities(x mat.Matrix) (*mat.Dense, error) {
	p, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	if !m.probable() {
		return nil, check.Fail(ErrModel, "model", m.loss, "must be of a loss that has probabilities")
	}
	if loss := m.against(); loss != nil {
		p.Apply(func(_, _ int, z float64) float64 { return -loss.Value(z, 1) }, p)
	}
	n, _ := p.Dims()
	for i := range n {
		row := p.RawRowView(i)
		top := floats.Max(row)
		for k, v := range row {
			row[k] = math.Exp(v - top)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return p, nil
}

// Predict returns the class of the largest score for each row of raw features. It fails where
// x has no row, other columns than in training or a value that isn't finite, and for a model
// that was neither trained nor decoded.
func (m *ClassModel) Predict(x mat.Matrix) ([]int, error) {
	z, err := m.Scores(x)
	if err != nil {
		return nil, err
	}
	n, _ := z.Dims()
	classes := make([]int, n)
	for i := range classes {
		classes[i] = floats.MaxIdx(z.RawRowView(i))
	}
	return classes, nil
}

// classModelFormat is that of the JSON of models of several classes, whose versions are
// those of other models.
const classModelFormat = "dpglm class model"

// classModelJSON is a model of several classes.
type classModelJSON struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Library string `json:"library"`
	// Loss and Link are those of one class against the rest, and missing for softmax.
	Loss string          `json:"loss,omitempty"`
	Link losses.Link     `json:"link,omitempty"`
	Unit mechanisms.Unit `json:"unit"`
	mechanisms.Claim
	Columns int `json:"columns"`
	factsJSON
	Levels  []string    `json:"levels"`  // the classes' names
	Weights [][]float64 `json:"weights"` // of each class
	Ledger  *Ledger     `json:"ledger"`
}

// MarshalJSON writes the model. It fails for a model that was neither trained nor decoded.
func (m *ClassModel) MarshalJSON() ([]byte, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	j := classModelJSON{Format: classModelFormat, Version: modelVersion, Library: m.library, Loss: m.loss, Link: m.link, Columns: m.columns,
		factsJSON: newFactsJSON(m.facts), Levels: m.Levels(), Weights: m.weights, Ledger: m.ledger}
	j.Claim, j.Unit = claimed(m.ledger)
	return sealed.Marshal(j)
}

// UnmarshalJSON reads a model that MarshalJSON wrote, and refuses what [Model.UnmarshalJSON]
// refuses.
func (m *ClassModel) UnmarshalJSON(data []byte) error {
	if m == nil {
		return check.Fail(ErrModel, "model", nil, "must not be nil")
	}
	j, err := decodeModel[classModelJSON](data, classModelFormat)
	if err != nil {
		return err
	}
	d := ClassModel{j.Weights, j.Loss, j.Link, nil, j.Columns, j.Ledger, j.Library}
	if d.facts, err = j.facts(); err != nil {
		return err
	}
	if (d.loss == "") != (d.link == "") || d.link != "" && !d.link.Suits(losses.Binary) {
		return check.Fail(ErrModel, "loss, link", fmt.Sprintf("%q, %q", d.loss, d.link), "must be those of a loss with binary labels, or both missing")
	}
	if len(d.weights) < 2 || len(d.weights) > maxClasses {
		return check.Fail(ErrModel, "weights", len(d.weights), fmt.Sprintf("must be of 2 to %d classes", maxClasses))
	}
	if names := d.Levels(); len(names) != len(d.weights) || !slices.Equal(names, j.Levels) {
		return check.Fail(ErrModel, "levels", j.Levels, fmt.Sprintf("must be %q, of %d classes", names, len(d.weights)))
	}
	for _, w := range d.weights {
		if err := stored(d.ledger, d.facts, d.columns, w); err != nil {
			return fmt.Errorf("%w: %w", ErrModel, err)
		}
	}
	if claim, unit := claimed(d.ledger); claim != j.Claim || unit != j.Unit {
		return check.Fail(ErrModel, "rows, person_rows, group, unit, epsilon, delta, mu", nil, "must be those that the ledger claims")
	}
	*m = d
	return nil
}
