package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// lossTable and methodTable are the names that -loss and -method take, with the
// parameters that the flag's description states.
var (
	lossTable = map[string]losses.Loss{
		"absolute":      losses.Absolute{},
		"hinge":         losses.Hinge{},
		"huber":         losses.Huber{Kappa: 1},
		"logistic":      losses.Logistic{},
		"poisson":       losses.Poisson{},
		"quantile":      losses.Quantile{Tau: 0.9},
		"smoothedhinge": losses.SmoothedHinge{Width: 0.5},
		"squared":       losses.Squared{},
		"squaredhinge":  losses.SquaredHinge{},
	}
	methodTable = map[string]dpglm.Learner{
		"noisygd":    dpglm.NoisyGDConfig{},
		"outputpert": dpglm.OutputPerturbationConfig{},
		"jl":         dpglm.JLConfig{},
		"gridsearch": dpglm.GridSearchConfig{Learner: dpglm.NoisyGDConfig{}},
		"objpert":    dpglm.ObjectivePerturbationConfig{},
		"precgd":     dpglm.PreconditionedGDConfig{},
		"boost":      dpglm.BoostConfig{Learner: dpglm.NoisyGDConfig{}},
	}
)

// options are the flags.
type options struct {
	data, label, schema string
	schemaFromData      bool
	bound, labelBound   float64
	features            int

	lossName, method       string
	loss                   losses.Loss
	learner                dpglm.Learner
	epsilon, delta, radius float64

	test            float64
	seed, noiseSeed uint64
	json            bool

	given map[string]bool // by name, the flags that were set
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}}
	f := flag.NewFlagSet("csvfit", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the error
	f.StringVar(&o.data, "data", "", "data `file`: .csv or .libsvm, or either with .gz")
	f.StringVar(&o.label, "label", "", "the label's `column`, unless the schema names it (CSV)")
	f.StringVar(&o.schema, "schema", "", "JSON `file` with public facts about the columns (CSV)")
	f.BoolVar(&o.schemaFromData, "schema-from-data", false, "take these facts from the data instead: not private")
	f.Float64Var(&o.bound, "bound", 0, "public bound on the `norm` of a row's features, instead of a schema")
	f.Float64Var(&o.labelBound, "label-bound", 0, "public bound on the `size` of a label, unless the schema states it")
	f.IntVar(&o.features, "features", 0, "public `number` of features (LIBSVM)")
	f.StringVar(&o.lossName, "loss", "logistic", "`name` of the loss: "+known(lossTable)+
		"; huber is linear beyond an error of 1, quantile is that of order 0.9, smoothedhinge has the width 0.5")
	f.StringVar(&o.method, "method", "noisygd", "`name` of the method: "+known(methodTable))
	f.Float64Var(&o.epsilon, "epsilon", 0, "the privacy parameter `ε`; there is no default")
	f.Float64Var(&o.delta, "delta", 0, "the privacy parameter `δ` (default: the number of training rows to the power -1.5)")
	f.Float64Var(&o.radius, "radius", 0, "`bound` on the norm of the weights (default: the library's)")
	f.Float64Var(&o.test, "test", 0.2, "`share` of the rows to hold out")
	f.Uint64Var(&o.seed, "seed", 1, "`seed` of the split; the noise doesn't use it")
	f.Uint64Var(&o.noiseSeed, "insecure-noise-seed", 0, "`seed` of the noise, for experiments: no privacy against those who know it")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.PrintDefaults()
		}
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	f.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	return o, o.resolve()
}

// resolve looks up names and finds contradictions.
func (o *options) resolve() error {
	var ok bool
	if o.loss, ok = lossTable[o.lossName]; !ok {
		return fmt.Errorf("-loss %q is not one of %s", o.lossName, known(lossTable))
	}
	if o.learner, ok = methodTable[o.method]; !ok {
		return fmt.Errorf("-method %q is not one of %s", o.method, known(methodTable))
	}
	switch {
	case !o.given["data"]:
		return errors.New("-data is missing")
	case !o.given["epsilon"]:
		return errors.New("-epsilon is missing: how much privacy to spend is for you to say")
	case !(o.test > 0 && o.test < 1):
		return fmt.Errorf("-test %g must lie strictly between 0 and 1", o.test)
	}
	return o.oneSource()
}

// oneSource asks for exactly one source of the facts about the columns.
func (o *options) oneSource() error {
	sources := 0
	for _, name := range []string{"schema", "bound", "schema-from-data"} {
		if o.given[name] {
			sources++
		}
	}
	if sources != 1 {
		return errors.New("the ranges of the columns must be public, and csvfit does not guess them: state them with -schema or -bound, " +
			"or take them from the data, which is not private, with -schema-from-data; exactly one of the three")
	}
	return nil
}

func known[T any](table map[string]T) string {
	return strings.Join(slices.Sorted(maps.Keys(table)), ", ")
}
