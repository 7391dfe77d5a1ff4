// Quickstart trains a classifier under differential privacy: does a man of the
// March 1988 Current Population Survey earn more than $600 a week? Run it from
// the root of the repository:
//
//	go run ./examples/quickstart
//
// Copy it to begin a program of your own: change the schema, and say -data.
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

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

func main() {
	path := flag.String("data", "testdata/cps1988.csv.gz", "the survey's `file`")
	epsilon := flag.Float64("epsilon", 1, "the privacy parameter ε")
	flag.Parse()
	err := run(os.Stdout, *path, *epsilon, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (run this from the root of the repository, or say where the file is with -data)", err)
	}
	if err != nil {
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
		{Name: "experience", Kind: table.Numeric, Range: []float64{-4, 63}}, // try Square: true
		{Name: "ethnicity", Kind: table.Categorical, Levels: []string{"cauc", "afam"}},
		{Name: "smsa", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
		{Name: "region", Kind: table.Categorical, Levels: []string{"northeast", "midwest", "south", "west"}},
		{Name: "parttime", Kind: table.Binary, Positive: []string{"yes"}, Negative: []string{"no"}},
	},
}

var threshold = 600.0 // dollars a week

// run trains on four fifths of the rows and evaluates on the others. All that it prints
// may be published: it is (ε, δ)-differentially private together. A nil env draws the noise
// from a cryptographic source.
func run(out io.Writer, path string, epsilon float64, env *dpglm.Env) error {
	people, err := table.ReadCSVFile(path, schema)
	if err != nil {
		return err
	}
	data, err := dpglm.NewTableDataset(people)
	if err != nil {
		return err
	}
	train, held, err := data.Split(0.2, 1)
	if err != nil {
		return err
	}
	ctx := context.Background()
	delta := math.Pow(float64(train.Shape().Rows), -1.5) // well below 1/n, and public as n is
	budget := dpglm.ApproxDP(epsilon, delta)

	model, err := dpglm.Auto(ctx, train, dpglm.Problem{Loss: losses.Logistic{}}, budget, env)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The model, from %d rows:\n%v\n\n", train.Shape().Rows, model.Ledger())

	// The rows held out are others, so that the evaluation has the whole budget again.
	evaluation, err := dpglm.Evaluate(ctx, held, model, budget, dpglm.EvaluateConfig{}, env)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "On the %d rows held out:\n%v\n\n", held.Shape().Rows, evaluation)

	x, err := model.Encode(map[string]string{
		"education": "16", "experience": "20", "ethnicity": "cauc", "smsa": "yes", "region": "west", "parttime": "no",
	})
	if err != nil {
		return err
	}
	p, err := model.Probabilities(x)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "A man of 16 years of education and 20 of experience, in a city in the west,\nearns more than $600 a week with probability %.2f.\n", p.At(0, 1))
	return nil
}
