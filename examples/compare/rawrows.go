package main

import (
	"context"
	"errors"
	"fmt"
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
func rawRowsOf(ctx context.Context, source *task.Source, trial *task.Trial, seed uint64) (*rawRows, error) {
	t, err := source.Load(ctx)
	if err != nil {
		return nil, err
	}
	s := trial.Train.Shape()
	n, p := t.Dims()
	switch {
	case t.Persons() != nil || t.Exposure() != nil:
		return nil, errors.New("is not for persons or exposures")
	case source.Loss.Labels().FromZero():
		return nil, errors.New("is for classes and real labels only")
	case n*(p+1) > mostValues:
		return nil, fmt.Errorf("is for at most %d values, zeros among them: %d × %d", mostValues, n, p)
	}
	test, err := t.HoldOut(task.Split(n, source.HeldOut, seed))
	if err != nil {
		return nil, err
	}
	r := &rawRows{
		Data:   reference.Data{X: withOnes(t.Matrix()), Y: make([]float64, s.Rows), Bound: s.FeatureBound, LabelBound: s.LabelBound},
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
	x := withOnes(r.test.Matrix())
	n, p := x.Dims()
	z := mat.NewVecDense(n, nil)
	z.MulVec(x, mat.NewVecDense(p, w))
	scores := z.RawVector().Data
	if r.loss.Labels() == losses.Real {
		for i := range scores {
			scores[i] += r.centre
		}
		metrics.Hold(scores, r.test.Label().Range)
	}
	return metrics.Of(r.loss, scores, r.test.Labels())
}

// mostValues of rows, stored with their zeros, take 800 MB.
const mostValues = 100_000_000

// withOnes appends a column of ones.
func withOnes(x mat.Matrix) *mat.Dense {
	n, p := x.Dims()
	ones := mat.NewDense(n, p+1, nil)
	for i := range n {
		row := ones.RawRowView(i)
		mat.Row(row[:p], i, x)
		row[p] = 1
	}
	return ones
}
