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
