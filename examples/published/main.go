// Published runs the library under the protocols of published tables, and prints its figures beside theirs:
//
//	go run ./examples/published -data FOLDER -store published.jsonl -out docs/PUBLISHED.md
//
// FOLDER has a clone of each paper's repository, of which the program reads data, and figures where there are some:
//
//	git -C FOLDER clone https://github.com/yuxiangw/optimal_dp_linear_regression
//	git -C FOLDER clone https://github.com/ceciliaferrando/DD-SSP
//	git -C FOLDER clone https://github.com/ryan112358/hd-datasets
//	git -C FOLDER clone https://github.com/mhaghifam/Second-Order-Private-Optimization-NeurIPS2023
//	git -C FOLDER clone https://github.com/MaxGhenis/dp-statsmodels
//
// hd-datasets has a file of public facts that DD-SSP lacks. The figures of DD-SSP and of second-order methods are those that
// main_log.py and run.py have left in their folders, if they were run there; run.py fetches its data, too. What a folder lacks is listed, and nothing else is put in its place.
//
// The library's models are those of Auto, and of Infer where standard errors are compared, told what the paper takes as
// public, and nothing chosen. Each is trained under two promises: for one row in place of another, and for one row more or
// less, which is about half as strict and that of most papers.
//
// Results are lines of -store: a run with the same -store does what isn't there. Splits and noise follow from -seed. Nothing
// that the program prints is private.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("published", command) }

// options are the flags.
type options struct {
	folder, store, out string
	papers             []paper
	sets               []string
	repetitions        int
	seed               uint64
}

func parse(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("published", flag.ContinueOnError)
	o := new(options)
	f.StringVar(&o.folder, "data", "", "`folder` of clones of the papers' repositories")
	names := f.String("papers", "", "`names` of papers, with commas: of adassp, ddssp, newton, wages (default: all)")
	sets := f.String("sets", "", "`names` of sets, with commas (default: all)")
	f.StringVar(&o.store, "store", "", "`file` of results, which is added to (default: a temporary one)")
	f.StringVar(&o.out, "out", "", "`file` for the page (default: standard output)")
	f.IntVar(&o.repetitions, "repetitions", 10, "`number` of repetitions, of splits where the paper splits and of noise")
	f.Uint64Var(&o.seed, "seed", 1, "`seed` of splits and noise")
	if _, err := task.Parse(f, args, stderr); err != nil {
		return nil, err
	}
	o.sets = split(*sets)
	switch {
	case o.folder == "":
		return nil, task.Usage("-data is missing: a folder of clones, as the program's documentation lists them")
	case o.repetitions < 2:
		return nil, task.Usage("-repetitions %d must be at least 2, for standard errors", o.repetitions)
	}
	all := papers()
	for _, name := range split(*names) {
		i := slices.IndexFunc(all, func(p paper) bool { return p.name == name })
		if i < 0 {
			return nil, task.Usage("-papers: %q is not one of adassp, ddssp, newton, wages", name)
		}
		o.papers = append(o.papers, all[i])
	}
	if len(o.papers) == 0 {
		o.papers = all
	}
	return o, nil
}

// split is a list of a flag, empty for none.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.store == "" {
		work, err := os.MkdirTemp("", "published")
		if err != nil {
			return err
		}
		defer os.RemoveAll(work)
		o.store = filepath.Join(work, "results.jsonl")
	}
	s, err := open(o.store, o.seed)
	if err != nil {
		return err
	}
	defer s.to.Close()
	found, missing, err := o.find(ctx, stderr)
	if err != nil {
		return err
	}
	if err := o.measure(ctx, found, s); err != nil {
		return err
	}
	text := page{o, s, found, missing}.text(args)
	if o.out == "" {
		_, err = io.WriteString(stdout, text)
		return err
	}
	return os.WriteFile(o.out, []byte(text), 0o644)
}

// entry is a set that is there.
type entry struct {
	paper paper
	set   string
	*bench
}

// find reads the sets that are there, and names those that aren't, with the file that they lack.
func (o *options) find(ctx context.Context, stderr io.Writer) (found []entry, missing []string, err error) {
	for _, p := range o.papers {
		progress.Doing(ctx, "reading the sets of "+p.name)
		for _, set := range p.sets {
			if o.sets != nil && !slices.Contains(o.sets, set) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			b, err := p.open(filepath.Join(o.folder, path.Base(p.repository)), set)
			var lacking *fs.PathError
			switch {
			case errors.As(err, &lacking) && errors.Is(err, fs.ErrNotExist):
				missing = append(missing, fmt.Sprintf("%s, %s: there is no %s", p.name, set, filepath.Base(lacking.Path)))
				fmt.Fprintf(stderr, "published: %s is left out: %v\n", set, lacking)
			case err != nil:
				return nil, nil, err
			default:
				found = append(found, entry{p, set, b})
			}
		}
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("-data %s has none of the sets", o.folder)
	}
	return found, missing, nil
}

// measure adds what the store lacks, all sets of a repetition before the next one.
func (o *options) measure(ctx context.Context, found []entry, s *store) error {
	done, show := 0, progress.Count(ctx, "repetitions of sets", len(found)*o.repetitions)
	for i := range o.repetitions {
		for _, e := range found {
			for _, epsilon := range e.paper.epsilons {
				for _, relation := range e.paper.relations {
					if s.has(cell{e.paper.name, e.set, epsilon}, relation, i) {
						continue
					}
					r, err := o.repeat(ctx, e, i, promise{epsilon, e.paper.delta, relation})
					if err != nil {
						return err
					}
					if err := s.add(r); err != nil {
						return err
					}
				}
			}
			done++
			show(done)
		}
	}
	return nil
}

// repeat fits the models of a repetition. One without a finite loss counts as refused, and so does its repetition.
func (o *options) repeat(ctx context.Context, e entry, repetition int, p promise) (result, error) {
	r := result{Paper: e.paper.name, Set: e.set, Rows: e.rows, Columns: e.columns, Repetition: repetition, Epsilon: p.epsilon, Relation: p.relation, Seed: o.seed}
	place := o.seed*1_000_003 + uint64(repetition) // a prime far above the number of repetitions
	t := turn{repetition: repetition, promise: p, seed: task.NoiseSeed("split of "+e.set, 0, place)}
	for t.part = range e.parts {
		t.coin = task.NoiseSeed(fmt.Sprint(e.paper.name, e.set, p.relation, t.part), p.epsilon, place)
		out, err := e.fit(ctx, t)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err == nil && !finite(out.loss) {
			err = fmt.Errorf("the %s is %g", e.paper.measure, out.loss)
		}
		if err != nil {
			r.Refused, r.Losses, r.Constants, r.Estimates = err.Error(), nil, nil, nil
			return r, nil
		}
		r.Losses = append(r.Losses, out.loss)
		if out.constant != 0 {
			r.Constants = append(r.Constants, out.constant)
		}
		if out.estimate != 0 {
			r.Estimates = append(r.Estimates, out.estimate)
		}
	}
	return r, nil
}
