package main

import (
	"errors"
	"flag"
	"io"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// options are the flags.
type options struct {
	source *task.Source

	method                 string
	learner                dpglm.Learner
	epsilon, delta, radius float64

	seed, noiseSeed uint64
	json            bool
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("csvfit", flag.ContinueOnError)
	o := &options{source: task.NewSource(f)}
	f.StringVar(&o.method, "method", "auto", "`name` of the method: "+strings.Join(task.Methods(), ", "))
	f.Float64Var(&o.epsilon, "epsilon", 0, "the privacy parameter `ε`; there is no default")
	f.Float64Var(&o.delta, "delta", 0, "the privacy parameter `δ` (default: the number of training rows to the power -1.5)")
	f.Float64Var(&o.radius, "radius", 0, "`bound` on the norm of the weights (default: the library's)")
	f.Uint64Var(&o.seed, "seed", 1, "`seed` of the split; the noise doesn't use it")
	f.Uint64Var(&o.noiseSeed, "insecure-noise-seed", 0, "`seed` of the noise, for experiments: no privacy against those who know it")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	if err := o.source.Parse(f, args, stderr); err != nil {
		return nil, err
	}
	if !o.source.Given("epsilon") {
		return nil, errors.New("-epsilon is missing: how much privacy to spend is for you to say")
	}
	var err error
	o.learner, err = task.Method("method", o.method)
	return o, err
}
