// Prediction asks when it is better to answer queries about single rows, and keep
// the model, than to release a model under the same privacy budget: does a man of
// the March 1988 Current Population Survey earn more than $600 a week? Run it from
// the root of the repository:
//
//	go run ./examples/prediction
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
	"github.com/dpglm/dpglm/table"
)

func main() {
	path := flag.String("data", "testdata/cps1988.csv.gz", "the survey's `file`")
	flag.Parse()
	if err := run(os.Stdout, *path, nil); err != nil {
		fmt.Fprintln(os.Stderr, "prediction:", err)
		os.Exit(1)
	}
}

// schema is from the survey's public codebook.
var schema = table.Schema{
	Version: table.Version,
	Label:   "wage",
	Columns: []table.Column{
		{Name: "wage", Kind: table.Binary, Above: &threshold},
		{Name: "education", Kind: table.Numeric, Range: []float64{0, 18}},
		{Name: "experience", Kind: table.Numeric, Range: []float64{-4, 63}, Square: true},
		{Name: "smsa", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
		{Name: "parttime", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
	},
}

var threshold = 600.0 // dollars a week

// load reads the survey, holds out a fifth of its rows, and keeps the first of the others.
func load(path string, rows int) (train, test *table.Table, err error) {
	train, err = table.ReadCSVFile(path, schema)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, nil, err
	}
	n, _ := train.Dims()
	if test, err = train.HoldOut(task.Split(n, 0.2, 1)); err != nil {
		return nil, nil, err
	}
	var rest []int
	for n, _ = train.Dims(); rows < n; rows++ {
		rest = append(rest, rows)
	}
	if rest != nil {
		_, err = train.HoldOut(rest)
	}
	return train, test, err
}

// setting is one part of the table: the rows to train on, and ε.
type setting struct {
	rows    int
	epsilon float64
}

var (
	settings = []setting{{22524, 1}, {22524, 0.1}, {1000, 1}, {1000, 0.1}}
	counts   = []int{1, 10, 100, 1000, 10_000}
)

// result holds hold-out accuracies of predictors for each of counts, and of a
// released model.
type result struct {
	vote, stable []float64
	released     float64
}

// fits is how many released models are averaged, as one may be lucky.
const fits = 3

func measure(path string, c setting, env *dpglm.Env) (*result, error) {
	train, test, err := load(path, c.rows)
	if err != nil {
		return nil, err
	}
	data, err := dpglm.NewTableDataset(train)
	if err != nil {
		return nil, err
	}
	x, y := test.Dense(), test.Labels()
	ctx, problem := context.Background(), dpglm.Problem{Loss: losses.Logistic{}}
	budget := dpglm.ApproxDP(c.epsilon, task.DefaultDelta(c.rows))
	r := &result{}
	for range fits {
		model, err := dpglm.Auto(ctx, data, problem, budget, env)
		if err != nil {
			return nil, err
		}
		classes, err := model.Predict(x)
		if err != nil {
			return nil, err
		}
		r.released += metrics.Accuracy(classes, y) / fits
	}
	t := rehearsal{data, problem, budget, x, y, env}
	for _, k := range counts {
		vote, err := t.accuracy(k, func(queries int) dpglm.PredictorConfig { return dpglm.VoteConfig{Queries: queries} })
		if err != nil {
			return nil, err
		}
		stable, err := t.accuracy(k, func(queries int) dpglm.PredictorConfig { return dpglm.StableConfig{Queries: queries} })
		if err != nil {
			return nil, err
		}
		r.vote, r.stable = append(r.vote, vote), append(r.stable, stable)
	}
	return r, nil
}

// rehearsal measures predictors on the rows of x.
type rehearsal struct {
	data    *dpglm.Dataset
	problem dpglm.Problem
	budget  dpglm.Budget
	x       *mat.Dense
	y       []float64
	env     *dpglm.Env
}

// accuracy returns the accuracy, over all rows, of answers as noisy as those of a
// predictor whose budget must last for k: the plan of that one says how noisy they
// are, and another one has a budget for all rows. The holder of the data may ask it,
// but not show the answers to anybody.
func (t rehearsal) accuracy(k int, cfg func(queries int) dpglm.PredictorConfig) (float64, error) {
	plan, err := cfg(k).Plan(t.data.Shape(), t.problem, t.budget)
	if err != nil {
		return 0, err
	}
	ample, err := manyTimes(plan.Ledger, len(t.y))
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	p, err := dpglm.NewPredictor(ctx, t.data, t.problem, ample, cfg(len(t.y)), t.env)
	if err != nil {
		return 0, err
	}
	answers := []float64{}
	for i := range t.y {
		answer, err := p.Answer(ctx, t.x.RawRowView(i))
		if err != nil {
			return 0, err
		}
		answers = append(answers, answer)
	}
	return metrics.Accuracy(answers, t.y), nil
}

// manyTimes returns the budget of m answers like those in the ledger.
func manyTimes(l *dpglm.Ledger, m int) (dpglm.Budget, error) {
	var each struct {
		Kind        mechanisms.Kind
		Mu, Epsilon float64
	}
	encoded, err := json.Marshal(l)
	if err != nil {
		return dpglm.Budget{}, err
	}
	if err := json.Unmarshal(encoded, &each); err != nil {
		return dpglm.Budget{}, err
	}
	if each.Kind == mechanisms.KindGaussian {
		return dpglm.GDP(each.Mu * math.Sqrt(float64(m))), nil
	}
	return dpglm.PureDP(each.Epsilon * float64(m)), nil
}

func run(out io.Writer, path string, env *dpglm.Env) error {
	fmt.Fprintln(out, "Hold-out accuracy in %, at the same (ε, n^-1.5)-DP for all answers together as for the model.")
	for _, c := range settings {
		r, err := measure(path, c, env)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nn = %d, ε = %g: a released model has %.1f\n  answers", c.rows, c.epsilon, 100*r.released)
		for _, k := range counts {
			fmt.Fprintf(out, "%8d", k)
		}
		printRow(out, "vote   ", r.vote)
		printRow(out, "stable ", r.stable)
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, `
Answering wins where a model is hard to release, from few rows or at a small ε,
and there are few queries: a vote needs no noise in its training, only enough
parts to outvote the noise of the answers, of which each has its share of ε.
Releasing wins after ten to a hundred queries, as a model answers any number of
them at no cost. Stable scores are one model's with noise; it grows with the number
of answers and not with the dimension, which is too low here for that to pay.

The accuracies are computed from raw rows: they are for the curator, not for release.
`)
	return nil
}

func printRow(out io.Writer, name string, accuracies []float64) {
	fmt.Fprintf(out, "\n  %s", name)
	for _, a := range accuracies {
		fmt.Fprintf(out, "%8.1f", 100*a)
	}
}
