// Csvfit fits a private model to a CSV or LIBSVM file and scores it on rows
// that were held out, next to a model without privacy:
//
//	go run ./examples/csvfit -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1
//	go run ./examples/csvfit -data words.libsvm.gz -bound 5 -features 20000 -epsilon 1
//
// The schema states what is publicly known of the columns; see the type
// fileSchema of examples/internal/task, and -h for the flags. Bad input ends the
// program with a message and exit code 1.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms"
)

func main() { task.Main("csvfit", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	whole, err := o.source.Load()
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
func fit(ctx context.Context, o *options, whole *task.Sample, stderr io.Writer) (*report, error) {
	trial, err := whole.Trial(o.seed)
	if err != nil {
		return nil, err
	}
	if !o.source.Given("delta") {
		o.delta = trial.Delta
	}
	problem := dpglm.Problem{Loss: o.source.Loss, Radius: o.radius}
	plan, err := o.learner.Plan(trial.Train.Shape(), problem, dpglm.ApproxDP(o.epsilon, o.delta))
	if err != nil {
		return nil, err
	}
	warnings := notes(plan.Ledger)
	for _, w := range warnings {
		fmt.Fprintf(stderr, "csvfit: WARNING: %s\n", w)
	}
	// The baseline may fail, so it comes before the fit that spends the budget.
	nonPrivate, err := trial.NonPrivate()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	model, err := plan.Run(ctx, trial.Train, environment(o, stderr))
	if err != nil {
		return nil, err
	}
	r := &report{options: o, shape: trial.Train.Shape(), testRows: len(trial.Held), inferred: whole.Inferred,
		radius: plan.Problem.Radius, warnings: warnings, ledger: model.Ledger(), seconds: time.Since(start).Seconds(),
		nonPrivate: nonPrivate, constant: trial.Constant()}
	r.private, err = trial.Score(model)
	return r, err
}

// notes are what a ledger says about a budget that is too large to protect, or
// whose numbers were swapped.
func notes(l *dpglm.Ledger) []string {
	var found []string
	for _, line := range strings.Split(l.String(), "\n") {
		if text, ok := strings.CutPrefix(line, "NOTE: "); ok {
			found = append(found, text)
		}
	}
	return found
}

func environment(o *options, stderr io.Writer) *dpglm.Env {
	env := &dpglm.Env{Progress: progress.Steps(stderr, "steps")}
	if o.source.Given("insecure-noise-seed") {
		env.NoiseForTests = mechanisms.NewSeededSource(o.noiseSeed)
	}
	return env
}
