package dpglm

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
)

// ClassModel is a released model of several classes, by [Softmax]: linear scores of each,
// the public facts that it needs to predict on raw features, and the ledger. It is immutable
// and safe for concurrent use.
type ClassModel struct {
	weights [][]float64 // of each class
	facts   Facts
	columns int
	ledger  *Ledger
	library string // version of the library that trained it
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

// Weights returns a copy of the weights of each class, as [Model.Weights] has them. Adding
// the same vector to all changes nothing.
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
	return fmt.Sprintf("softmax model of %d classes × %d weights\n%v", len(m.weights), len(m.weights[0]), m.ledger)
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

// Probabilities returns the probability of each class for each row of raw features, n×K;
// those of a row sum to 1.
func (m *ClassModel) Probabilities(x mat.Matrix) (*mat.Dense, error) {
	p, err := m.Scores(x)
	if err != nil {
		return nil, err
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

// Predict returns the class of the largest score for each row of raw features.
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
