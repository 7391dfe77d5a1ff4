package main

import (
	"errors"
	"flag"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// options are the flags.
type options struct {
	sources  []*task.Source
	methods  []method
	epsilons []float64 // ascending
	seeds    int
	plot     string
	csv      string
}

// method is one of the library's, or a reference.
type method struct {
	name      string
	learner   dpglm.Learner
	reference fitter
}

// parseOptions parses the first set's flags, those for all sets among them, and then
// each further set's.
func parseOptions(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	o := &options{}
	methods := f.String("methods", strings.Join(task.Compared(), ","), "`names` of the methods, with commas; dpsgd-tuned, adassp and kifer2012 are the field's")
	epsilons := f.String("epsilon", "0.1,0.5,1,4,8", "`values` of the privacy parameter ε, with commas")
	f.IntVar(&o.seeds, "seeds", 10, "`number` of splits, each with fresh noise in every fit")
	f.StringVar(&o.plot, "plot", "compare.png", "PNG `file` to draw to, with the set's name in its own if there are several")
	f.StringVar(&o.csv, "csv", "", "CSV `file` for every score of every fit")
	for _, set := range sets(args) {
		source := task.NewSource(f)
		f.Float64Var(&source.HeldOut, "test", 0.2, "`share` of the rows to hold out")
		if _, err := task.Parse(f, set, stderr); err != nil {
			return nil, err
		}
		if err := located(source.ResolveData("compare", stderr)); err != nil {
			return nil, err
		}
		if !(source.HeldOut > 0 && source.HeldOut < 1) {
			return nil, task.Usage("-test %g must lie strictly between 0 and 1", source.HeldOut)
		}
		o.sources = append(o.sources, source)
		f = flag.NewFlagSet("compare", flag.ContinueOnError)
	}
	switch {
	case o.seeds < 1:
		return nil, task.Usage("-seeds %d must be at least 1", o.seeds)
	case !strings.HasSuffix(o.plot, ".png"):
		return nil, task.Usage("-plot %q must end in .png", o.plot)
	}
	return o, errors.Join(o.setMethods(*methods), o.setEpsilons(*epsilons))
}

// sets splits arguments at each +, which a last set may have after it.
func sets(args []string) [][]string {
	found := [][]string{nil}
	for i, a := range args {
		if a != "+" {
			found[len(found)-1] = append(found[len(found)-1], a)
		} else if i < len(args)-1 {
			found = append(found, nil)
		}
	}
	return found
}

func (o *options) setMethods(list string) error {
	for _, name := range strings.Split(list, ",") {
		fit := references[name]
		var learner dpglm.Learner
		if fit == nil {
			var err error
			if learner, err = task.Method("methods", name); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(o.methods, func(m method) bool { return m.name == name }) {
			return task.Usage("-methods names %s twice", name)
		}
		o.methods = append(o.methods, method{name, learner, fit})
	}
	return nil
}

func (o *options) setEpsilons(list string) error {
	for _, s := range strings.Split(list, ",") {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return task.Usage("-epsilon: %q must be a positive number", s)
		}
		o.epsilons = append(o.epsilons, v)
	}
	slices.Sort(o.epsilons)
	o.epsilons = slices.Compact(o.epsilons)
	return nil
}
