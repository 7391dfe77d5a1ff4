// Csvfit takes a CSV file to a private model and its predictions:
//
//	go run ./examples/csvfit init -data people.csv -o people.schema.json     # then fill it in
//	go run ./examples/csvfit fit -data people.csv -schema people.schema.json -epsilon 1 -o model.json
//	go run ./examples/csvfit predict -model model.json -data new.csv -o predictions.csv
//
// Where a codebook says what is known, init -codebook takes it from there.
// The schema states what is publicly known of the columns; see package table. Before that,
//
//	go run ./examples/csvfit plan -schema people.schema.json -rows 20000 -epsilon 1
//
// shows what will be released and how noisily. With -expect it forecasts what the noise will
// cost, by made-up rows, and with -width 1.5 in the place of -epsilon it finds the ε whose
// intervals are half as wide again as without privacy; with -evaluate 0.2 it tells how wide
// the intervals of private figures on rows held out will be, of counts if -mean is given, and which will be withheld. Afterwards
//
//	go run ./examples/csvfit show -model model.json
//
// tells what the model says, with intervals if it was fitted by -method infer. Whoever holds
// the data can see how well models predict on rows that were held out, next to a model without
// privacy:
//
//	go run ./examples/csvfit fit -test 0.2 -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1
//	go run ./examples/csvfit compare -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1
//
// A label of three levels or more is fitted by softmax, by a model of each level against the
// rest (-method oneagainstrest) or, where its levels ascend, as one score (-loss ordinal); predict adds a column for each level and the most likely one.
//
// What may be published with a model are its intervals (-method infer) and figures of rows
// that are held out for a private evaluation (-evaluate), on a page for reviewers:
//
//	go run ./examples/csvfit fit -method infer -evaluate 0.2 -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.json -epsilon 1 -o inferred.json -report report.html
//
// With -mean, the labels' mean as far as it is publicly known, the page has a prediction of
// accuracy at other ε, by made-up rows.
//
// Several fits share a total that csvfit budget puts in a file. A fit is charged to it when its data,
// schema and outputs were read and checked:
//
//	go run ./examples/csvfit budget -file budget.json -epsilon 4 -delta 1e-6
//	go run ./examples/csvfit fit -budget budget.json -data people.csv -schema people.schema.json -epsilon 1 -o model.json
//
// What stops it before the first noise, an interrupt among others, gives the charge back. After
// that the message names the budget's entry, and the same command with -resume ENTRY goes on from
// what was released so far. That lies beside the budget until the fit has ended, with a fingerprint
// of the data, which must be the same to the byte: both are for the curator only.
//
// Of a table that doesn't fit in memory,
//
//	go run ./examples/csvfit store -data people.csv -schema people.schema.json -o people.rows
//
// makes a file of rows, which fit takes as its -data.
//
// Whoever holds the data can count, at no cost and not for publication, what a file has beside what its
// schema says: values outside of ranges, missing ones, levels that aren't listed, rows of a person, times at risk that overlap; and where
// most amounts are the same, below which ε a fit may take nearly all of them for that:
//
//	go run ./examples/csvfit check -data people.csv -schema people.schema.json
//
// Where the label alone is private, as the schema's "private" says, ranges, levels and knots of the other columns needn't be known
// beforehand: a schema may leave them out, and have them taken from the rows. It is refused with any other promise then:
//
//	go run ./examples/csvfit observe -data people.csv -schema draft.json -o people.schema.json
//
// A table can be published once, for others to regress what they like in it: means, shares and correlations, and linear regressions
// of any column on any others, all with intervals and at the cost of the release alone:
//
//	go run ./examples/csvfit moments -data testdata/cps1988.csv.gz -schema examples/csvfit/cps1988.wages.json -epsilon 1 -o moments.json
//	go run ./examples/csvfit describe -moments moments.json
//	go run ./examples/csvfit regress -moments moments.json -response wage -on education,experience,region
//
// Files may be gzipped, with any delimiter. A LIBSVM file's schema has the form
// {"features": 20000, "bound": 5, "label": {"kind": "binary", "positive": ["1"], "negative": ["-1"]}}.
//
// Whoever has a model's file, or a budget's, and nothing else, has
//
//	go run ./examples/csvfit verify -model model.json
//
// compute what it promises from the releases that it lists, and say what no file can show. With
// -budget it says whether the model was charged there, too; the exit code is 1 if anything doesn't hold.
//
// The exit code is 0, 1 where something is wrong with a file or in between, and 2 where the
// command line is. Messages go to standard error; they may quote the data, and are for
// whoever holds them. See -h of each command for its flags.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
)

// commands are what csvfit does.
var commands = []struct {
	name, does string
	run        func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}{
	{"init", "write a schema to fill in, from a file's header", initialise},
	{"plan", "show what a fit would release, and how noisily, before there are data", plan},
	{"fit", "train a private model on a file", fit},
	{"show", "show a model's coefficients, guarantee and schema", show},
	{"verify", "recompute what a model or a budget promises, from its file alone", verify},
	{"predict", "predict for the rows of a file", predict},
	{"budget", "make a file that fits spend from, or show what they spent", keepBudget},
	{"compare", "score methods on rows held out, for the curator", compare},
	{"moments", "release the moments of all columns, of which any linear regression is made", moments},
	{"describe", "print means, deviations and shares of released moments", describe},
	{"regress", "regress a column on others by released moments, at no cost", regress},
	{"observe", "complete a schema by the rows, where the label alone is private", observe},
	{"check", "count what a file has beside its schema, for the curator", checkData},
	{"store", "write a file's rows for fits of more than memory holds", store},
}

// meantBy are commands that others call so.
var meantBy = map[string]string{
	"train": "fit", "learn": "fit", "model": "fit", "infer": "fit -method infer", "evaluate": "fit -evaluate", "test": "fit -test", "report": "fit -report",
	"score": "predict", "apply": "predict", "print": "show", "table1": "describe", "ols": "regress", "correlate": "describe", "inspect": "show", "schema": "init", "new": "init",
	"audit": "verify", "validate": "check", "count": "check", "survival": "predict", "cox": "fit -method infer", "serve": "the program examples/serve", "server": "the program examples/serve",
}

func main() {
	// Half of the default: a file's rows are kept once, so that there is little to collect.
	debug.SetGCPercent(50)
	task.Main("csvfit", run)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var names []string
	for _, c := range commands {
		if names = append(names, c.name); len(args) > 0 && args[0] == c.name {
			return c.run(ctx, args[1:], stdout, stderr)
		}
	}
	list := strings.Join(names, ", ")
	switch {
	case len(args) == 0:
		return task.Usage("say what to do: %s; -h explains", list)
	case strings.TrimLeft(args[0], "-") == "h" || strings.TrimLeft(args[0], "-") == "help":
		fmt.Fprintln(stdout, "csvfit COMMAND [FLAGS], where -h after a command lists its flags:")
		for _, c := range commands {
			fmt.Fprintf(stdout, "  %-8s %s\n", c.name, c.does)
		}
		return flag.ErrHelp
	}
	if meant := meantBy[args[0]]; meant != "" {
		return task.Usage("%q is not a command (did you mean %s?); there are %s", args[0], meant, list)
	}
	return task.Usage("%q is not a command; there are %s", args[0], list)
}
