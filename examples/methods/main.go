// Methods fits every method of the library, at its defaults, to all data sets of a folder,
// and prints how good the models are on rows that were held out, beside the best constant
// and a model without privacy. It marks where a method is worse than the constant:
//
//	go run ./examples/methods -data folder -store scores.csv
//
// The folder has a NAME.schema.json for each set, as csvfit takes it, and beside it
// NAME.csv.gz, NAME.csv or NAME.libsvm.gz. A fit takes a row of the store, which is written
// after each: a run that was stopped goes on where it was, and one with more seeds or
// methods fits only those that are new. With -fit=false it prints what is stored.
//
// To add data-dependent rows of the field's methods, or pictures, see ../compare.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("methods", run) }

// options are the flags.
type options struct {
	folder, store string
	sets, methods []string
	epsilons      []float64
	seeds         uint64
	rows, theorem int
	held          float64
	fit           bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	sets, err := task.Sets{Program: "methods", Folders: []string{o.folder}, Names: o.sets, HeldOut: o.held}.Find(stderr)
	if err != nil {
		return err
	}
	s, err := openStore(o.store)
	if err != nil {
		return err
	}
	defer s.close()
	if o.fit {
		todo := 0
		for _, set := range sets {
			todo += len(o.missing(set, s))
		}
		done, show := 0, progress.Count(ctx, "fits", todo)
		for _, set := range sets {
			if err := o.measure(ctx, set, s, func() { done++; show(done) }); err != nil {
				return err
			}
		}
	}
	return o.print(stdout, sets, s)
}

func parse(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("methods", flag.ContinueOnError)
	o := &options{}
	f.StringVar(&o.folder, "data", "", "`folder` of data sets, each with its schema")
	f.StringVar(&o.store, "store", "methods.csv", "CSV `file` of all scores, which is added to")
	sets := f.String("sets", "", "`names` of sets, with commas (default: all of the folder)")
	methods := f.String("methods", strings.Join(names(), ","), "`names` of methods, with commas")
	epsilons := f.String("epsilon", "0.5,1,4", "`values` of the privacy parameter ε, with commas")
	f.Uint64Var(&o.seeds, "seeds", 5, "`number` of splits, each with fresh noise in every fit")
	f.IntVar(&o.rows, "rows", 0, "most `rows` of a set, drawn by the seed; 0 takes all")
	f.IntVar(&o.theorem, "theorem1", 30_000, "most `rows` to train on by theorem1, which passes over them as often as there are rows")
	f.Float64Var(&o.held, "test", 0.2, "`share` of the rows to hold out")
	f.BoolVar(&o.fit, "fit", true, "fit what the store doesn't have")
	if _, err := task.Parse(f, args, stderr); err != nil {
		return nil, err
	}
	switch {
	case o.folder == "":
		return nil, task.Usage("-data is missing: name a folder of data sets")
	case !(o.held > 0 && o.held < 1):
		return nil, task.Usage("-test %g must lie strictly between 0 and 1", o.held)
	case o.seeds < 1:
		return nil, task.Usage("-seeds must be at least 1")
	}
	if *sets != "" {
		o.sets = strings.Split(*sets, ",")
	}
	o.methods = strings.Split(*methods, ",")
	for _, m := range o.methods {
		if _, err := learner(m); err != nil {
			return nil, err
		}
	}
	for _, s := range strings.Split(*epsilons, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return nil, task.Usage("-epsilon: %q must be a positive number", s)
		}
		o.epsilons = append(o.epsilons, v)
	}
	slices.Sort(o.epsilons)
	o.epsilons = slices.Compact(o.epsilons)
	return o, nil
}

// theorem1 is Noisy GD by the schedule of the paper's Theorem 1.
const theorem1 = "theorem1"

// names are those of the methods: the reference first, then the paper's own.
func names() []string {
	all := task.Compared()
	all = slices.DeleteFunc(all, func(name string) bool { return name == "auto" || name == "standardised" })
	return append([]string{"auto", "standardised", theorem1}, all...)
}

// learner is the method of a name, at its defaults.
func learner(name string) (dpglm.Learner, error) {
	if name == theorem1 {
		return dpglm.NoisyGDConfig{Schedule: dpglm.Theorem1}, nil
	}
	return task.Method("methods", name)
}

// fitName names what is fitted, for messages.
func fitName(set, method string, epsilon float64, seed uint64) string {
	return fmt.Sprintf("%s, %s, ε = %g, seed %d", set, method, epsilon, seed)
}
