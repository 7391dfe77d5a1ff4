package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"compress/gzip"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

// learners are the methods to compare builds by.
var learners = map[string]dpglm.Learner{
	"auto":      dpglm.AutoConfig{},
	"infer":     dpglm.InferConfig{},
	"objective": dpglm.ObjectivePerturbationConfig{},
}

// options are the flags of run.
type options struct {
	folders, sets []string
	out           string
	budgets       []budget
	splits        int
	workers       int
	mle           bool
	settings
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	sets, err := task.Sets{Program: "tune", Folders: o.folders, Names: o.sets, HeldOut: o.HeldOut, Public: o.Public, Turned: o.Turned, TakesLevels: true}.Find(stderr)
	if err != nil {
		return err
	}
	if err := bySize(sets); err != nil {
		return err
	}
	f, err := open(o.out, o.settings)
	if err != nil {
		return err
	}
	defer f.to.Close()
	runtime.GOMAXPROCS(o.workers)
	todo := 0
	for split := range o.splits {
		for _, set := range sets {
			todo += len(o.missing(set, split, f))
		}
	}
	done, show := 0, progress.Count(ctx, "results", todo)
	for split := range o.splits {
		begun, before := time.Now(), done
		for _, set := range sets {
			if err := o.measure(ctx, set, split, f, func() { done++; show(done) }); err != nil {
				return err
			}
		}
		fmt.Fprintf(stdout, "split %d: %d results in %v\n", split, done-before, time.Since(begun).Round(time.Second))
	}
	return f.to.Close()
}

func parse(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	o := new(options)
	data := f.String("data", "", "`folders` of data sets, each with its schema, with commas")
	f.StringVar(&o.out, "out", "", "`file` of results, which is added to")
	sets := f.String("sets", "", "`names` of sets, with commas (default: all)")
	epsilons := f.String("epsilon", ".1,.2,.5,1,4", "`values` of ε at δ = 1e-6, with commas")
	mus := f.String("mu", "10,100,1000", "`values` of μ, with commas")
	f.IntVar(&o.splits, "splits", 10, "`number` of splits")
	f.Uint64Var(&o.Seed, "seed", 1, "`seed` of splits and noise")
	f.StringVar(&o.Method, "method", "auto", "`name` of the method: auto, infer or objective")
	f.IntVar(&o.workers, "workers", 1, "`number` of fits at a time, and of processors for them")
	f.IntVar(&o.Rows, "rows", 100_000, "most `rows` to train on, drawn by the seed; 0 takes all")
	f.Float64Var(&o.HeldOut, "test", 0.2, "`share` of the rows to hold out")
	f.BoolVar(&o.Labels, "labels-only", false, "protect labels only: features are public")
	f.BoolVar(&o.Pure, "pure", false, "pure budgets: δ = 0 for those in ε")
	f.Float64Var(&o.AddRemove, "add-remove", 0, "have budgets be for adding or removing a row, of which the `factor`, 1 or more, times as many as there are is the public bound")
	f.Float64Var(&o.Public, "public", 0, "`share` of the rows to train on that is public: a model of theirs is the prior")
	f.BoolVar(&o.Turned, "turned", false, "turn the labels of -public around, so that the prior is of another country; for labels of two classes or real ones")
	f.BoolVar(&o.mle, "mle", true, "fit without privacy too, which takes as long as several fits")
	if _, err := task.Parse(f, args, stderr); err != nil {
		return nil, err
	}
	switch {
	case *data == "":
		return nil, task.Usage("-data is missing: name folders of data sets")
	case o.out == "":
		return nil, task.Usage("-out is missing: name a file for the results")
	case !(o.HeldOut > 0 && o.HeldOut < 1):
		return nil, task.Usage("-test %g must lie strictly between 0 and 1", o.HeldOut)
	case o.AddRemove != 0 && !(o.AddRemove >= 1 && o.AddRemove < 1000):
		return nil, task.Usage("-add-remove %g must be a factor from 1 to 1000", o.AddRemove)
	case o.splits < 1 || o.workers < 1 || o.Rows < 0:
		return nil, task.Usage("-splits and -workers must be at least 1, and -rows not negative")
	case learners[o.Method] == nil:
		return nil, task.Usage("-method %q is not one of auto, infer, objective", o.Method)
	}
	o.folders = strings.Split(*data, ",")
	if *sets != "" {
		o.sets = strings.Split(*sets, ",")
	}
	return o, o.parseBudgets(*epsilons, *mus)
}

func (o *options) parseBudgets(epsilons, mus string) error {
	for i, text := range []string{epsilons, mus} {
		for _, s := range strings.Split(text, ",") {
			if text == "" {
				continue
			}
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v > 0) || math.IsInf(v, 1) {
				return task.Usage("-epsilon, -mu: %q must be a positive number", s)
			}
			b := budget{Epsilon: v}
			if i == 1 {
				b = budget{Mu: v}
			}
			if !slices.Contains(o.budgets, b) {
				o.budgets = append(o.budgets, b)
			}
		}
	}
	return nil
}

// bySize sorts sets by the bytes of their files, unpacked, about which the time of a fit grows.
func bySize(sets []task.Set) error {
	sizes := map[string]int64{}
	for _, s := range sets {
		n, err := unpacked(s.Source.Path)
		if err != nil {
			return err
		}
		sizes[s.Name] = n
	}
	slices.SortStableFunc(sets, func(a, b task.Set) int { return cmp.Compare(sizes[a.Name], sizes[b.Name]) })
	return nil
}

func unpacked(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
	}
	return io.Copy(io.Discard, r)
}
