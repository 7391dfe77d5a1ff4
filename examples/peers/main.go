// Peers compares the library with others that train linear models under differential privacy, on the
// same splits, public facts and budgets:
//
//	go run ./examples/peers                          # all peers, sets that need no download but scikit-learn's own
//	go run ./examples/peers -data FOLDER,FOLDER -store peers.jsonl -out docs/PEERS.md
//	go run ./examples/peers -quick                   # one peer, one set, two splits
//
// Each peer has an environment of its own, which the program makes by python3, its module venv and pip in
// the user's cache, of the versions in python/requirements-PEER.txt, and a program in python. That reads
// the rows to train on, with what is public of them, and prints the weights of one model for each of its
// parameters' values. Rows held out stay here, where all models are scored by one code. Of a peer's values the
// best on the rows held out counts, by the loss: no user could know it, so that its figures are better than what it has
// to offer. The library's are those of Auto, without any choice.
//
// What promise a model has is said beside it: neighbours that differ by replacing a row, or by adding or removing
// one, and δ. A peer that can't be installed, or has nothing for a set's labels, is listed with the reason.
//
// Sets are a survey's classes and wages, two sets that come with scikit-learn, made-up counts, and those of
// -data, each a NAME.schema.json with NAME.csv.gz, as for ../tune. Results are lines of -store: a run with the same
// -store does what isn't there. Splits and noise follow from -seed, but for the peers' own coins where they take no
// seed. Nothing that the program prints is private.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("peers", command) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == ours {
		return child(ctx, os.Stdin, stdout)
	}
	return run(ctx, args, stdout, stderr)
}

// options are the flags.
type options struct {
	folders, sets []string
	peers         []peer
	store, out    string
	survey, cache string
	epsilons      []float64
	splits        int
	fit, quick    bool
	settings
}

// settings are what all results of a store share.
type settings struct {
	Seed    uint64  `json:"seed"`
	Delta   float64 `json:"most_delta"` // of results
	Rows    int     `json:"rows"`       // of a set, to train on and to score on, at most
	HeldOut float64 `json:"held_out"`
	// Epsilons are all ε, as -epsilon has them.
	Epsilons string `json:"epsilons"`
}

func parse(args []string, stderr io.Writer) (*options, error) {
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	o := new(options)
	data := f.String("data", "", "`folders` of further data sets, each with its schema, with commas")
	sets := f.String("sets", "", "`names` of sets, with commas (default: all)")
	names := f.String("peers", "diffprivlib,opendp,jaxprivacy", "`names` of peers, with commas: of these, and dpmm, which takes most of a minute a fit")
	epsilons := f.String("epsilon", ".1,1,4", "`values` of ε, with commas")
	f.Float64Var(&o.Delta, "delta", 1e-6, "`value` of δ; each peer and the library are run at 0 too, where they can be")
	f.StringVar(&o.store, "store", "", "`file` of results, which is added to (default: a temporary one)")
	f.StringVar(&o.out, "out", "", "`file` for the page (default: standard output)")
	f.StringVar(&o.survey, "survey", "testdata/cps1988.csv.gz", "`file` of the survey that ships")
	f.StringVar(&o.cache, "cache", "", "`folder` for the peers' environments (default: one of the user's cache)")
	f.IntVar(&o.splits, "splits", 5, "`number` of splits")
	f.Uint64Var(&o.Seed, "seed", 1, "`seed` of splits and noise")
	f.IntVar(&o.Rows, "rows", 40_000, "most `rows` of a set, drawn by the seed; 0 takes all")
	f.Float64Var(&o.HeldOut, "test", 0.2, "`share` of the rows to hold out")
	f.BoolVar(&o.fit, "fit", true, "fit what the store doesn't have")
	f.BoolVar(&o.quick, "quick", false, "one peer, diffprivlib, one set, cps1988, two splits, ε = 1")
	given, err := task.Parse(f, args, stderr)
	if err != nil {
		return nil, err
	}
	if o.quick {
		for flag, to := range map[string]func(){
			"sets": func() { *sets = "cps1988" }, "peers": func() { *names = "diffprivlib" },
			"epsilon": func() { *epsilons = "1" }, "splits": func() { o.splits = 2 },
		} {
			if !given[flag] {
				to()
			}
		}
	}
	o.folders, o.sets = split(*data), split(*sets)
	switch {
	case !(o.HeldOut > 0 && o.HeldOut < 1):
		return nil, task.Usage("-test %g must lie strictly between 0 and 1", o.HeldOut)
	case o.splits < 1 || o.Rows < 0:
		return nil, task.Usage("-splits must be at least 1, and -rows not negative")
	case !(o.Delta > 0 && o.Delta < 1):
		return nil, task.Usage("-delta %g must lie strictly between 0 and 1", o.Delta)
	case !o.fit && o.store == "":
		return nil, task.Usage("-fit=false needs a -store to print")
	}
	return o, errors.Join(o.choosePeers(split(*names)), o.chooseEpsilons(split(*epsilons)), o.chooseCache())
}

// split is a list of a flag, empty for none.
func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func (o *options) choosePeers(names []string) error {
	for _, name := range names {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return task.Usage("-peers: %q is not one of diffprivlib, opendp, jaxprivacy, dpmm", name)
		}
		o.peers = append(o.peers, peers[i])
	}
	return nil
}

func (o *options) chooseEpsilons(texts []string) error {
	for _, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || v > 100 {
			return task.Usage("-epsilon: %q must be a positive number up to 100", text)
		}
		o.epsilons = append(o.epsilons, v)
	}
	slices.Sort(o.epsilons)
	o.epsilons = slices.Compact(o.epsilons)
	o.Epsilons = fmt.Sprint(o.epsilons)
	return nil
}

func (o *options) chooseCache() error {
	if o.cache != "" {
		return nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("-cache is missing, and there is no default: %w", err)
	}
	o.cache = filepath.Join(user, "dpglm-peers")
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if o.store == "" {
		o.store = filepath.Join(work, "results.jsonl")
	}
	s, err := open(o.store, o.settings)
	if err != nil {
		return err
	}
	defer s.to.Close()
	if o.fit {
		if err := o.measureAll(ctx, work, s, stderr); err != nil {
			return err
		}
	}
	text := page(s, args)
	if o.out == "" {
		_, err = io.WriteString(stdout, text)
		return err
	}
	return os.WriteFile(o.out, []byte(text), 0o644)
}

// measureAll fits what the store doesn't have: of each peer that can be run, and the library's.
func (o *options) measureAll(ctx context.Context, work string, s *store, stderr io.Writer) error {
	var ready []environment
	for _, p := range o.peers {
		progress.Doing(ctx, "making the environment of "+p.name)
		e, err := p.prepare(ctx, o.cache)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(stderr, "peers: %s is skipped: %v\n", p.name, err)
			continue
		}
		ready = append(ready, e)
	}
	sets, err := o.find(ctx, filepath.Join(work, "sets"), ready, stderr)
	if err != nil {
		return err
	}
	done, show := 0, progress.Count(ctx, "sets and splits", len(sets)*o.splits)
	for i := range o.splits {
		for _, set := range sets {
			if err := o.measure(ctx, set, i, ready, s); err != nil {
				return err
			}
			done++
			show(done)
		}
	}
	return nil
}
