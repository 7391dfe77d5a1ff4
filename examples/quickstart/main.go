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
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
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

// survey is the data: raw features with their public description, and 0/1 labels.
type survey struct {
	x      *mat.Dense
	y      []float64
	schema dpglm.Schema
}

// load reads the survey. Ranges and levels come from its public codebook: a
// range that was computed from the rows would give some of them away.
func load(path string) (*survey, error) {
	table, err := tabular.ReadCSVFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
		return nil, err
	}
	if err := table.Derive("experience²", "experience", func(v float64) float64 { return v * v }); err != nil {
		return nil, err
	}
	schema := dpglm.Schema{
		Columns:   []string{"education", "experience", "experience²"},
		Numeric:   map[string][2]float64{"education": {0, 18}, "experience": {-4, 63}, "experience²": {0, 63 * 63}},
		OneHot:    map[string][]string{},
		Intercept: true,
	}
	for _, group := range []struct {
		column string
		levels []string
	}{
		{"ethnicity", []string{"cauc", "afam"}},
		{"smsa", []string{"no", "yes"}},
		{"region", []string{"northeast", "midwest", "south", "west"}},
		{"parttime", []string{"no", "yes"}},
	} {
		columns, err := table.OneHot(group.column, group.levels)
		if err != nil {
			return nil, err
		}
		schema.Columns = append(schema.Columns, columns...)
		schema.OneHot[group.column] = columns
	}
	x, err := table.Matrix(schema.Columns)
	if err != nil {
		return nil, err
	}
	y, err := table.Numbers("wage")
	if err != nil {
		return nil, err
	}
	for i, wage := range y {
		y[i] = 0
		if wage > 600 {
			y[i] = 1
		}
	}
	return &survey{x, y, schema}, nil
}

// outcome is a private model, and the hold-out metrics of three.
type outcome struct {
	model                         *dpglm.Model
	rows                          int
	delta                         float64
	private, nonPrivate, constant []metrics.Metric
}

// trial fits on four fifths of the rows and scores on the others.
func (s *survey) trial(epsilon float64, split uint64, env *dpglm.Env) (*outcome, error) {
	train, test := tabular.Split(len(s.y), 0.2, split)
	xTrain, yTrain := tabular.Take(s.x, train), tabular.TakeLabels(s.y, train)
	xTest, yTest := tabular.Take(s.x, test), tabular.TakeLabels(s.y, test)

	data, err := dpglm.NewDataset(xTrain, yTrain, s.schema)
	if err != nil {
		return nil, err
	}
	delta := math.Pow(float64(len(train)), -1.5) // well below 1/n, and public as n is
	model, err := dpglm.Auto(context.Background(), data,
		dpglm.Problem{Loss: losses.Logistic{}},
		dpglm.ApproxDP(epsilon, delta), env)
	if err != nil {
		return nil, err
	}
	scores, err := model.Scores(xTest)
	if err != nil {
		return nil, err
	}

	plain, err := baseline.Fit(baseline.Dense{Dense: xTrain}, yTrain, losses.Logistic{})
	if err != nil {
		return nil, err
	}
	same := slices.Repeat([]float64{baseline.Constant(yTrain, losses.Logistic{})}, len(yTest))
	return &outcome{
		model: model, rows: len(train), delta: delta,
		private:    metrics.Of(losses.Logistic{}, scores, yTest),
		nonPrivate: metrics.Of(losses.Logistic{}, plain.Scores(baseline.Dense{Dense: xTest}), yTest),
		constant:   metrics.Of(losses.Logistic{}, same, yTest),
	}, nil
}

func run(out io.Writer, path string, epsilon float64, repeat int) error {
	if repeat < 1 {
		return fmt.Errorf("-repeat is %d and must be at least 1", repeat)
	}
	s, err := load(path)
	if err != nil {
		return err
	}
	var last *outcome
	var private, nonPrivate, constant [][]metrics.Metric
	for k := range repeat {
		// A nil Env draws the noise from a cryptographic source.
		if last, err = s.trial(epsilon, uint64(k+1), nil); err != nil {
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
