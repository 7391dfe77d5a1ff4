// Tune compares two builds of the library, a candidate for the default estimator with what it
// would replace, by fits on the same data sets, splits and seeds:
//
//	git switch main && go build -o old ./examples/tune
//	git switch candidate && go build -o new ./examples/tune
//	./old run -data folder,folder -out old.jsonl
//	./new run -data folder,folder -out new.jsonl -mle=false
//	./new compare old.jsonl new.jsonl
//	./new check old.jsonl
//	./new ablate -out folder -numbers Ridge,Momentum -by 0.5,2 -- -data folder,folder -mu 10
//
// A folder has a NAME.schema.json for each set, as csvfit takes it, and beside it NAME.csv.gz,
// NAME.csv or NAME.libsvm.gz; NAME_MORE.schema.json is another schema of the same file. The loss
// is that of the label's kind: logistic for two classes, one score a class for several, squared
// for numbers, Poisson for counts. In -sets, NAME:gamma names another one.
//
// run holds out a fifth of the rows of each set, fits with the rest under each budget, and scores
// each model on the rows held out. It does so for all sets, small ones first, and budgets on
// a first split, then on a second one: what an interrupted run has is balanced. Each result is a line of
// JSON, written once it is known; a run with the same -out does what isn't there. Split and
// noise follow from -seed, the split's number, the budget and the set's name only, so that two
// builds, or methods, are compared on the same ones. Where both draw the same numbers in the
// same order, the noise is the same too.
//
// A result's loss is better where it is smaller:
//
//	log_loss    two or several classes, of the class's probability
//	1-r2        numbers: the squared error over that of the mean of labels held out
//	deviance    counts (Poisson) and amounts (gamma), per row
//	mean_loss   others
//
// Its second figure is the AUC, the accuracy of several classes, or what is usual beside the others.
// Beside the fits of each split are those of the best constant and of the model without privacy (MLE). The
// latter has a slight ridge, a full one with more than 1000 columns: there it may be better than the minimum
// of the loss, to which fits tend as the budget grows. Nothing that the program prints is private.
//
// compare takes a cell, a set under a budget, to be better or worse where the mean over splits of new − old is
// more than two of its standard errors from 0, which are those of the paired differences; cells beyond four
// are named. Splits share rows, and some cells are beyond two standard errors
// by chance: the tables say how many to expect if nothing differs, by Student's law.
//
// check looks at one file: where is the model worse than the constant, where does a larger budget
// make it worse, and what share of the way from the constant's loss to the MLE's does it go.
//
// ablate tells what tuned numbers are worth: in the module's root it builds this program with a number of
// internal/tuning that many times as large, for each number and factor, runs it with the flags after --, and prints by how
// much losses change. Sets count alike in the mean ratio and its standard error. What a folder has of an earlier run isn't run again.
package main

import (
	"context"
	"io"

	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("tune", command) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return task.Usage("say what to do: run, compare, check or ablate")
	}
	switch rest := args[1:]; args[0] {
	case "run":
		return run(ctx, rest, stdout, stderr)
	case "compare":
		if len(rest) != 2 {
			return task.Usage("compare takes two files: tune compare old.jsonl new.jsonl")
		}
		return compare(stdout, rest[0], rest[1])
	case "ablate":
		return ablate(ctx, rest, stdout, stderr)
	case "check":
		if len(rest) != 1 {
			return task.Usage("check takes one file: tune check results.jsonl")
		}
		return check(stdout, rest[0])
	}
	return task.Usage("%q is not one of run, compare, check, ablate", args[0])
}
