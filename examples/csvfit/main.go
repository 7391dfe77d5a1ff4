// Csvfit fits a private model to a CSV or LIBSVM file and scores it on rows
// that were held out, next to a model without privacy:
//
//	go run ./examples/csvfit -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1
//	go run ./examples/csvfit -data words.libsvm.gz -bound 5 -features 20000 -epsilon 1
//
// The schema states what is publicly known of the columns; see the type
// fileSchema, and -h for the flags. Bad input ends the program with a message
// and exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/mechanisms"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "csvfit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	whole, err := load(o, stderr)
	if err != nil {
		return err
	}
	r, err := fit(ctx, o, whole, stderr)
	if err != nil {
		return err
	}
	if o.json {
		return r.printJSON(stdout)
	}
	return r.print(stdout)
}

// fit trains on one part of the sample and scores on the other.
func fit(ctx context.Context, o *options, whole *sample, stderr io.Writer) (*report, error) {
	train, test, err := whole.split(o.test, o.seed)
	if err != nil {
		return nil, err
	}
	if !o.given["delta"] {
		o.delta = math.Pow(float64(len(train.labels)), -1.5)
	}
	x, err := train.rows.matrix()
	if err != nil {
		return nil, err
	}
	xTest, err := test.rows.matrix()
	if err != nil {
		return nil, err
	}
	data, err := dpglm.NewDataset(x, train.labels, train.facts)
	if err != nil {
		return nil, err
	}
	problem := dpglm.Problem{Loss: o.loss, Radius: o.radius}
	plan, err := o.learner.Plan(data.Shape(), problem, dpglm.ApproxDP(o.epsilon, o.delta))
	if err != nil {
		return nil, err
	}
	// The baseline may fail, so it comes before the fit that spends the budget.
	nonPrivate, err := fitWithoutPrivacy(o.loss, train, test)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	model, err := plan.Run(ctx, data, environment(o, stderr))
	if err != nil {
		return nil, err
	}
	r := &report{options: o, shape: data.Shape(), testRows: len(test.labels), inferred: whole.inferred,
		radius: plan.Problem.Radius, ledger: model.Ledger(), seconds: time.Since(start).Seconds(), nonPrivate: nonPrivate}
	scores, err := model.Scores(xTest)
	if err != nil {
		return nil, err
	}
	r.private = score(o.loss, scores, test.labels)
	return r, nil
}

// fitWithoutPrivacy returns no scores for a loss that the baseline can't fit.
func fitWithoutPrivacy(loss losses.Loss, train, test *sample) ([]metric, error) {
	model, err := baseline.Fit(train.rows, train.labels, loss)
	if errors.Is(err, baseline.ErrNotSmooth) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return score(loss, model.Scores(test.rows), test.labels), nil
}

func environment(o *options, stderr io.Writer) *dpglm.Env {
	env := &dpglm.Env{Progress: progress(stderr)}
	if o.given["insecure-noise-seed"] {
		env.NoiseForTests = mechanisms.NewSeededSource(o.noiseSeed)
	}
	return env
}

// split deals the rows into a training and a test part by a public seed.
func (s *sample) split(testShare float64, seed uint64) (train, test *sample, err error) {
	a, b := tabular.Split(len(s.labels), testShare, seed)
	if len(a) == 0 || len(b) == 0 {
		return nil, nil, fmt.Errorf("-test %g leaves no row on one side of the split of %d rows", testShare, len(s.labels))
	}
	return s.take(a), s.take(b), nil
}

func (s *sample) take(rows []int) *sample {
	return &sample{rows: s.rows.take(rows), labels: tabular.TakeLabels(s.labels, rows), facts: s.facts}
}
