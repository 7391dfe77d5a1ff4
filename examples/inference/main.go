// Inference estimates a wage equation privately, with standard errors and tests, beside
// the estimates without privacy: how do education, experience, ethnicity, region and the
// kind of job go together with the wages of men in the March 1988 Current Population
// Survey? Run it from the root of the repository:
//
//	go run ./examples/inference
//	go run ./examples/inference -coverage -repeats 1000   # hours
//	go run ./examples/inference -coverage -data table.csv -schema schema.json -epsilon 1,4
//
// With -coverage it counts how many of many intervals cover what they are to cover: in
// made-up populations and the survey or, with -schema, in samples of a table like yours, which
// is the population then. What is printed of it is not private.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func main() {
	ctx, stop := task.Signals()
	defer stop()
	ctx, end := progress.Show(ctx, "inference", os.Stderr)
	err := run(ctx, os.Args[1:], progress.Beside(ctx, os.Stdout), progress.Beside(ctx, os.Stderr))
	end()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "inference:", err)
		os.Exit(1)
	}
}

// options are what flags say.
type options struct {
	data, schema                      string
	coverage, labelsOnly              bool
	repeats                           int
	rows, epsilon, losses, population string
	seed                              uint64
	draws, workers                    int
	out, against                      string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("inference", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.data, "data", "testdata/cps1988.csv.gz", "the survey's `file`, or the table's")
	f.StringVar(&o.schema, "schema", "", "a table's `file` of public facts, for -coverage")
	f.StringVar(&o.epsilon, "epsilon", "1", "ε, or with -coverage several, separated by commas; δ is rows^-1.5")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the noise, for a table that can be reproduced but isn't private; 0 for none")
	f.BoolVar(&o.coverage, "coverage", false, "count what intervals cover instead")
	f.BoolVar(&o.labelsOnly, "labels-only", false, "budgets of -coverage protect labels only: features are public")
	f.IntVar(&o.repeats, "repeats", 100, "samples for each line of -coverage")
	f.StringVar(&o.rows, "rows", "", "rows of the samples of -coverage (default 10000,50000, or a table's own number)")
	f.StringVar(&o.losses, "losses", "logistic,squared,poisson", "losses of -coverage")
	f.StringVar(&o.population, "populations", "", "populations of -coverage, all by default")
	f.IntVar(&o.draws, "draws", 0, "of -coverage: so many `problems` drawn at random instead of populations")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "problems of -draws at a time")
	f.StringVar(&o.out, "out", "", "`file` of the results of -draws, which is added to")
	f.StringVar(&o.against, "against", "", "`file` of another build's results, to compare those of -out with")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.draws > 0 {
		if !o.coverage || o.out == "" || o.workers < 1 || o.repeats < 1 {
			return errors.New("-draws is for -coverage, and needs a file -out, -workers and -repeats of at least 1")
		}
		return studyProblems(ctx, stdout, o)
	}
	if o.schema != "" {
		if !o.coverage {
			return errors.New("-schema is for -coverage")
		}
		if err := forTable(f); err != nil {
			return err
		}
	}
	if o.coverage {
		cells, err := o.cells(stderr)
		if err != nil {
			return err
		}
		return study(ctx, stdout, cells, o.repeats)
	}
	s, err := load(o.data)
	if err != nil {
		return err
	}
	epsilon, err := strconv.ParseFloat(o.epsilon, 64)
	if err != nil {
		return fmt.Errorf("-epsilon %q is not a number", o.epsilon)
	}
	return equation(ctx, stdout, s, epsilon, o.seed)
}

// cells are those of the study that flags ask for.
func (o *options) cells(warn io.Writer) ([]cell, error) {
	epsilons, err := numbers("epsilon", o.epsilon)
	if err != nil {
		return nil, err
	}
	if o.schema != "" {
		return o.ofTable(epsilons, warn)
	}
	if o.rows == "" {
		o.rows = "10000,50000"
	}
	rows, err := numbers("rows", o.rows)
	if err != nil {
		return nil, err
	}
	s, err := load(o.data)
	if err != nil {
		return nil, err
	}
	var cells []cell
	add := func(p source, l losses.Loss, n float64) {
		if !asked(o.losses, l.Name()) || !asked(o.population, p.name()) {
			return
		}
		cells = append(cells, cell{p, l, int(n), epsilons, o.labelsOnly})
	}
	for _, l := range []losses.Loss{losses.Logistic{}, losses.Squared{}, losses.Poisson{}} {
		for _, n := range rows {
			for _, p := range populations() {
				add(p, l, n)
			}
		}
		if l.Labels() != losses.Count {
			add(s, l, float64(len(s.y)))
			continue
		}
		for _, n := range rows {
			add(insurance{}, l, n)
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("there is no population %q with losses %q", o.population, o.losses)
	}
	return cells, nil
}

// ofTable is that of samples from a table.
func (o *options) ofTable(epsilons []float64, warn io.Writer) ([]cell, error) {
	p, err := readPublic(o.data, o.schema, warn)
	if err != nil {
		return nil, err
	}
	loss, err := p.loss()
	if err != nil {
		return nil, err
	}
	if o.rows != "" {
		if p.rows, err = strconv.Atoi(o.rows); err != nil || p.rows < 1 {
			return nil, fmt.Errorf("-rows %q is not a number of rows; with -schema there is one", o.rows)
		}
	}
	return []cell{{p, loss, p.rows, epsilons, o.labelsOnly}}, nil
}

// forTable refuses flags that say nothing of a table, and none for its file.
func forTable(f *flag.FlagSet) (err error) {
	named := false
	f.Visit(func(set *flag.Flag) {
		switch set.Name {
		case "losses", "populations":
			err = fmt.Errorf("-%s is not for a table (-schema), which has its own", set.Name)
		case "data":
			named = true
		}
	})
	if err == nil && !named {
		err = errors.New("-schema is for a table, whose file -data must name")
	}
	return err
}

// asked reports whether a list is empty or has a name.
func asked(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

func numbers(flag, list string) ([]float64, error) {
	var all []float64
	for _, text := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) {
			return nil, fmt.Errorf("-%s %q is not a list of positive numbers", flag, list)
		}
		all = append(all, v)
	}
	return all, nil
}

// equation prints the wage equation with and without privacy.
func equation(ctx context.Context, w io.Writer, s *survey, epsilon float64, seed uint64) error {
	loss := losses.Squared{}
	data, err := dpglm.NewDataset(s.x, s.labels(loss), s.facts(loss))
	if err != nil {
		return err
	}
	var env *dpglm.Env
	if seed != 0 {
		env = &dpglm.Env{NoiseForTests: mechanisms.NewSeededSource(seed)}
	}
	budget := dpglm.ApproxDP(epsilon, math.Pow(float64(len(s.y)), -1.5))
	private, err := dpglm.Infer(ctx, data, dpglm.Problem{Loss: loss}, budget, dpglm.InferConfig{}, env)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "log(weekly wage)\n\n", private)
	region, err := private.Contrast("region", "south", "west")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nsouth less west: %.4f ± %.4f\n", region.Estimate, region.StandardError)
	test, err := private.Wald(dpglm.AllZero("region=midwest", "region=south", "region=west")...)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "no difference between regions: %v\n\n", test)
	plain, err := fitExactly(&drawn{x: s.x, y: s.labels(loss)}, loss)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-16s %22s %22s %7s\n", "", "private", "not private", "ratio")
	for j, c := range private.Coefficients() {
		fmt.Fprintf(w, "%-16s %12.5f ± %.5f %12.5f ± %.5f %7.2f\n", c.Name, c.Estimate, c.StandardError, plain.coefficients[j], plain.errors[j], c.StandardError/plain.errors[j])
	}
	fmt.Fprintln(w, "Only the private columns may be published.")
	return nil
}
