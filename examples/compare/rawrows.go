package main

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm/examples/compare/internal/reference"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// rawRows are a split's rows as package reference takes them. Real labels are less the
// middle of their range.
type rawRows struct {
	reference.Data
	loss   losses.Loss
	delta  float64
	centre float64
	test   *table.Table
}

// rawRowsOf makes the split that source.Trial makes of the seed.
func rawRowsOf(source *task.Source, trial *task.Trial, seed uint64) (*rawRows, error) {
	t, err := source.Load()
	if err != nil {
		return nil, err
	}
	s := trial.Train.Shape()
	if t.Dense() == nil || t.Persons() != nil || t.Exposure() != nil || source.Loss.Labels().FromZero() {
		return nil, errors.New("is for dense rows, without persons or exposures, and for classes or real labels")
	}
	n, _ := t.Dims()
	test, err := t.HoldOut(task.Split(n, source.HeldOut, seed))
	if err != nil {
		return nil, err
	}
	r := &rawRows{
		Data:   reference.Data{X: withOnes(t.Dense()), Y: make([]float64, s.Rows), Bound: s.FeatureBound, LabelBound: s.LabelBound},
		loss:   source.Loss,
		delta:  trial.Delta,
		centre: s.LabelCentre,
		test:   test,
	}
	for i, y := range t.Labels() {
		switch {
		case r.loss.Labels() == losses.Real:
			r.Y[i] = math.Max(-s.LabelBound, math.Min(s.LabelBound, y-s.LabelCentre))
		case y > 0:
			r.Y[i] = 1
		default:
			r.Y[i] = -1
		}
	}
	return r, nil
}

// score scores weights on the rows that were held out.
func (r *rawRows) score(w []float64) []metrics.Metric {
	x := withOnes(r.test.Dense())
	n, p := x.Dims()
	z := mat.NewVecDense(n, nil)
	z.MulVec(x, mat.NewVecDense(p, w))
	scores := z.RawVector().Data
	if r.loss.Labels() == losses.Real {
		for i := range scores {
			scores[i] += r.centre
		}
	}
	return metrics.Of(r.loss, scores, r.test.Labels())
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
