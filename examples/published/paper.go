package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

// Neighbourings: of data sets of one number of rows, or of one row more or less; and the latter of models with an intercept where the
// paper's have none.
const (
	replaced = "replace-one"
	added    = "add-or-remove"
	shifted  = added + ", with an intercept"
)

// paper is a table of a publication, and how it is made again.
type paper struct {
	name, title string
	// repository is that of the paper on GitHub, and the folder of -data that has a clone of it; commit is the one that the protocol
	// was read at.
	repository, commit string
	protocol           string // a paragraph of the page
	measure            string // what is small where a model is good
	// falls says that the measure should fall with ε.
	falls    bool
	delta    float64
	epsilons []float64
	// shown are those of epsilons in the table of all sets; nil shows all.
	shown []float64
	// relations are the promises of our models.
	relations []string
	sets      []string
	methods   []method
	open      func(folder, set string) (*bench, error)
}

// method is what a paper compares.
type method struct {
	name     string
	relation string // its promise; empty for what isn't private
	own      bool   // the paper's own proposal
}

// bench is a set under a paper's protocol.
type bench struct {
	rows, columns int // of all rows, and of features
	// parts is the number of models of a repetition, one for each fold.
	parts int
	fit   func(ctx context.Context, t turn) (outcome, error)
	// theirs are a method's figures under an ε, as a file of the paper's repository has them.
	theirs func(method string, epsilon float64) (figure, bool)
}

// turn says which of a bench's models to fit: of a repetition's part, and under which promise.
type turn struct {
	repetition, part int
	promise
	seed uint64 // of the split, the same for all promises
	coin uint64 // of the noise
}

// outcome is of one model.
type outcome struct {
	loss float64
	// constant is the loss of the constant 0 on the same rows, where the paper has it.
	constant float64
	// estimate is of a coefficient, where the table is about one; else 0.
	estimate float64
}

// promise is a budget and its neighbouring.
type promise struct {
	epsilon, delta float64
	relation       string
}

func (p promise) budget() dpglm.Budget {
	b := dpglm.ApproxDP(p.epsilon, p.delta)
	if p.relation != replaced {
		return b.AddRemove()
	}
	return b
}

// data is a data set for the promise. Where n is secret, its public bound is n itself: the papers use n as if it were public. The order of
// rows follows from the seed there, as sums do to the last digit.
func (t turn) data(x *mat.Dense, y []float64, facts dpglm.Facts) (*dpglm.Dataset, error) {
	if t.relation != replaced {
		return dpglm.NewDataset(x, y, facts, dpglm.AddRemove{AtMost: len(y)}, dpglm.PersonOrder{ForTests: mechanisms.NewSeededSource(t.coin)})
	}
	return dpglm.NewDataset(x, y, facts)
}

func (t turn) env() *dpglm.Env {
	return &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(t.coin)}
}

// scores trains with Auto, and returns scores of other rows.
func (t turn) scores(ctx context.Context, x *mat.Dense, y []float64, facts dpglm.Facts, loss losses.Loss, held *mat.Dense) ([]float64, error) {
	data, err := t.data(x, y, facts)
	if err != nil {
		return nil, err
	}
	model, err := dpglm.Auto(ctx, data, dpglm.Problem{Loss: loss}, t.budget(), t.env())
	if err != nil {
		return nil, err
	}
	z, err := model.Scores(held)
	if err != nil {
		return nil, err
	}
	return z.RawMatrix().Data, nil
}

// figure is a mean with its standard error, NaN where that isn't known.
type figure struct {
	mean, standardError float64
	runs                int
}

func (f figure) String() string {
	if math.IsNaN(f.standardError) {
		return fmt.Sprintf("%.4g", f.mean)
	}
	return fmt.Sprintf("%.4g ± %.1g", f.mean, f.standardError)
}

// papers are all, in the page's order.
func papers() []paper { return []paper{adassp(), ddssp(), newton(), wages()} }

// rowsOf are some rows of a matrix, in their order.
func rowsOf(x *mat.Dense, y []float64, rows []int) (*mat.Dense, []float64) {
	_, d := x.Dims()
	part, labels := mat.NewDense(len(rows), d, nil), make([]float64, len(rows))
	for i, r := range rows {
		part.SetRow(i, x.RawRowView(r))
		labels[i] = y[r]
	}
	return part, labels
}
