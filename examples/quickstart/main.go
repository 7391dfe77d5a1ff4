// Quickstart trains a classifier under differential privacy: does a man of the
// March 1988 Current Population Survey earn more than $600 a week? Run it from
// the root of the repository:
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

func main() {
	path := flag.String("data", "testdata/cps1988.csv.gz", "the survey's `file`")
	epsilon := flag.Float64("epsilon", 1, "the privacy parameter ε")
	repeat := flag.Int("repeat", 1, "average over this many splits and fits")
	flag.Parse()
	if err := run(os.Stdout, *path, *epsilon, *repeat); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// schema is from the survey's public codebook: a range that was computed from the rows
// would give some of them away.
var schema = table.Schema{
	Version: table.Version,
	Label:   "wage",
	Columns: []table.Column{
		{Name: "wage", Kind: table.Binary, Above: &threshold},
		{Name: "education", Kind: table.Numeric, Range: []float64{0, 18}},
		{Name: "experience", Kind: table.Numeric, Range: []float64{-4, 63}, Square: true},
		{Name: "ethnicity", Kind: table.Categorical, Levels: []string{"cauc", "afam"}},
		{Name: "smsa", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
		{Name: "region", Kind: table.Categorical, Levels: []string{"northeast", "midwest", "south", "west"}},
		{Name: "parttime", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
	},
}

var threshold = 600.0 // dollars a week

// outcome is a private model, and the hold-out metrics of three.
type outcome struct {
	model                         *dpglm.Model
	rows                          int
	delta                         float64
	private, nonPrivate, constant []metrics.Metric
}

// trial fits on four fifths of the rows and scores on the others.
func trial(path string, epsilon float64, split uint64, env *dpglm.Env) (*outcome, error) {
	train, err := table.ReadCSVFile(path, schema)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, err
	}
	n, _ := train.Dims()
	test, err := train.HoldOut(task.Split(n, 0.2, split))
	if err != nil {
		return nil, err
	}
	data, err := dpglm.NewTableDataset(train)
	if err != nil {
		return nil, err
	}
	delta := task.DefaultDelta(data.Shape().Rows) // n^-1.5: well below 1/n, and public as n is
	model, err := dpglm.Auto(context.Background(), data,
		dpglm.Problem{Loss: losses.Logistic{}},
		dpglm.ApproxDP(epsilon, delta), env)
	if err != nil {
		return nil, err
	}
	scores, err := model.Scores(test.Matrix())
	if err != nil {
		return nil, err
	}

	plain, err := baseline.Fit(baseline.Dense{Dense: train.Dense()}, train.Labels(), losses.Logistic{})
	if err != nil {
		return nil, err
	}
	same := slices.Repeat([]float64{baseline.Constant(train.Labels(), losses.Logistic{})}, len(test.Labels()))
	return &outcome{
		model: model, rows: data.Shape().Rows, delta: delta,
		private:    metrics.Of(losses.Logistic{}, scores, test.Labels()),
		nonPrivate: metrics.Of(losses.Logistic{}, plain.Scores(baseline.Dense{Dense: test.Dense()}), test.Labels()),
		constant:   metrics.Of(losses.Logistic{}, same, test.Labels()),
	}, nil
}

func run(out io.Writer, path string, epsilon float64, repeat int) error {
	if repeat < 1 {
		return fmt.Errorf("-repeat is %d and must be at least 1", repeat)
	}
	var last *outcome
	var err error
	var private, nonPrivate, constant [][]metrics.Metric
	for k := range repeat {
		// A nil Env draws the noise from a cryptographic source.
		if last, err = trial(path, epsilon, uint64(k+1), nil); err != nil {
			return err
		}
		private = append(private, last.private)
		nonPrivate = append(nonPrivate, last.nonPrivate)
		constant = append(constant, last.constant)
	}
	spent, err := last.model.Ledger().Epsilon(last.delta)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Guarantee of each fit: (ε = %.4g, δ = %.3g)-differential privacy for replacing one of %d rows\n", spent, last.delta, last.rows)
	fmt.Fprintf(out, "Ledger: %v\n\n", last.model.Ledger())
	fmt.Fprintf(out, "On the rows held out, mean over %d split(s) and fit(s):\n", repeat)
	if err := metrics.Print(out, "", metrics.Row{Name: "private", Metrics: metrics.Mean(private)},
		metrics.Row{Name: "non-private", Metrics: metrics.Mean(nonPrivate)}, metrics.Row{Name: "constant", Metrics: metrics.Mean(constant)}); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nThese numbers are computed from raw rows: they are for the curator, not for release.")
	if repeat > 1 {
		fmt.Fprintf(out, "So are the other fits: releasing all %d models would cost more than the guarantee above.\n", repeat)
	}
	return nil
}
