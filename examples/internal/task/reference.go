package task

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/reference"
	"github.com/dpglm/dpglm/losses"
)

// Reference are the training rows for package reference: real labels less the middle of
// their range, binary ones as ±1.
func (t *Trial) Reference() (reference.Data, error) {
	x, s := t.train.Dense(), t.Train.Shape()
	if x == nil || t.train.Persons() != nil || t.train.Exposure() != nil {
		return reference.Data{}, errors.New("needs a table of dense rows, without persons or exposures")
	}
	d := reference.Data{X: withOnes(x), Y: make([]float64, s.Rows), Bound: s.FeatureBound, LabelBound: s.LabelBound}
	for i, y := range t.train.Labels() {
		switch t.loss.Labels() {
		case losses.Binary:
			d.Y[i] = -1
			if y > 0 {
				d.Y[i] = 1
			}
		case losses.Real:
			d.Y[i] = math.Max(-s.LabelBound, math.Min(s.LabelBound, y-s.LabelCentre))
		default:
			return reference.Data{}, errors.New("is for classes and real labels")
		}
	}
	return d, nil
}

// ScoreWeights scores weights of Reference's rows on the rows that were held out.
func (t *Trial) ScoreWeights(w []float64) []metrics.Metric {
	x := withOnes(t.test.Dense())
	n, p := x.Dims()
	z := mat.NewVecDense(n, nil)
	z.MulVec(x, mat.NewVecDense(p, w))
	scores := z.RawVector().Data
	if t.loss.Labels() == losses.Real {
		for i := range scores {
			scores[i] += t.Train.Shape().LabelCentre
		}
	}
	return t.of(scores)
}

// withOnes appends a column of ones.
func withOnes(x *mat.Dense) *mat.Dense {
	n, p := x.Dims()
	ones := mat.NewDense(n, p+1, nil)
	for i := range n {
		row := ones.RawRowView(i)
		copy(row, x.RawRowView(i))
		row[p] = 1
	}
	return ones
}
