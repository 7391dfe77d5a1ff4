// Mutate makes small changes to the code that privacy and inference rest on, one at a time, and runs the
// tests that should see each: what none of them sees is a test that is missing, code that does
// nothing, or a change that means the same.
//
//	go run ./internal/mutate -list                          prints all mutants
//	go run ./internal/mutate -n 100 -seed 1 -o runs.jsonl   runs a sample, and prints what survived
//	go run ./internal/mutate -again runs.jsonl              runs what survived there once more
//
// Run it in the module's root. Files are replaced by -overlay, none is changed. suites.go says which tests
// are run for a package: its own and a few audits, all -short, without the slowest. The file of -o has a
// line for each mutant; a run goes on where it ended. A sample is drawn by what mutants say, so
// that it is the same one when other code changes. Survivors in equivalent.txt, which have been judged to
// mean the same, are counted apart. Its status is 1 if more survived than -allow says.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed equivalent.txt
var equivalent string

// Result is what became of a mutant.
type Result struct {
	Mutant
	Result string `json:"result"`           // see below
	By     string `json:"by,omitempty"`     // the test that failed
	In     string `json:"in,omitempty"`     // the package of that
	Took   int    `json:"seconds,omitzero"` // for all tests that were run
}

const (
	killed   = "killed"
	survived = "survived"
	unbuilt  = "doesn't compile"
	late     = "killed by the clock"
)

// limit is how long a package's tests may take, or three times as long as they do without a change where the machine is busy.
const limit = 3 * time.Minute

// run is one of this program.
type run struct {
	out     *os.File
	dir     string
	lock    sync.Mutex
	known   map[string]Result
	usable  int
	bases   sync.Map // step → func() error, that it passes without a change
	enough  int
	pending []Mutant
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutate: ")
	n := flag.Int("n", 100, "how many mutants that compile, of all packages together")
	seed := flag.Int("seed", 1, "which sample")
	list := flag.Bool("list", false, "print all mutants, and run none")
	out := flag.String("o", "", "file of results, to which a run adds; a temporary one by default")
	again := flag.String("again", "", "file of results of which the survivors are run")
	only := flag.String("in", "", "packages to change, with commas between; all of suites.go by default")
	at := flag.Int("at", 2, "how many at once")
	allow := flag.Int("allow", 1<<30, "how many may survive")
	flag.Parse()
	all, err := collect(*only)
	if err != nil {
		log.Fatal(err)
	}
	if *list {
		for _, m := range all {
			fmt.Printf("%s %s:%d %s: %s\n    %s\n    %s\n", m.ID, m.File, m.Line, m.Func, m.Operator, m.Before, m.After)
		}
		return
	}
	if *again != "" {
		before, err := read(*again)
		if err != nil {
			log.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(m Mutant) bool { return before[m.ID].Result != survived })
		*n = len(all)
	}
	results, err := runAll(order(all, *seed), *n, *at, *out)
	if err != nil {
		log.Fatal(err)
	}
	if left := report(os.Stdout, results); left > *allow {
		os.Exit(1)
	}
}

// collect are the mutants of packages.
func collect(only string) (all []Mutant, err error) {
	for _, pkg := range slices.Sorted(maps.Keys(suites)) {
		if only != "" && !slices.Contains(strings.Split(only, ","), pkg) {
			continue
		}
		list, err := mutantsOf(pkg)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, errors.New("no code was found: run this in the module's root")
	}
	return all, nil
}

// order is a random order of the mutants: of a few more or fewer, that of the others stays.
func order(all []Mutant, seed int) []Mutant {
	rank := make(map[string]string, len(all))
	for _, m := range all {
		sum := sha256.Sum256(fmt.Append(nil, seed, m.ID))
		rank[m.ID] = string(sum[:])
	}
	slices.SortStableFunc(all, func(a, b Mutant) int { return cmp.Compare(rank[a.ID], rank[b.ID]) })
	return all
}

// read reads a file of results; one that isn't there has none.
func read(name string) (map[string]Result, error) {
	known := map[string]Result{}
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var r Result
		if json.Unmarshal(s.Bytes(), &r) == nil { // else a run ended in this line
			known[r.ID] = r
		}
	}
	return known, nil
}

// runAll runs mutants in their order until so many compiled.
func runAll(all []Mutant, n, at int, out string) ([]Result, error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if out == "" {
		out = filepath.Join(dir, "runs.jsonl")
	}
	x := &run{dir: dir, enough: n, pending: all}
	if x.known, err = read(out); err != nil {
		return nil, err
	}
	if x.out, err = os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return nil, err
	}
	defer x.out.Close()
	var group sync.WaitGroup
	errs := make([]error, at)
	for k := range at {
		group.Add(1)
		go func() { defer group.Done(); errs[k] = x.work() }()
	}
	group.Wait()
	var results []Result
	for _, m := range all {
		if r, ok := x.known[m.ID]; ok {
			r.Mutant = m
			results = append(results, r)
		}
	}
	return results, errors.Join(errs...)
}

// take is the next mutant to run, if more are needed.
func (x *run) take() (m Mutant, ok bool) {
	x.lock.Lock()
	defer x.lock.Unlock()
	for len(x.pending) > 0 && x.usable < x.enough {
		m, x.pending = x.pending[0], x.pending[1:]
		r, done := x.known[m.ID]
		if !done || r.Result != unbuilt {
			x.usable++
		}
		if !done {
			return m, true
		}
	}
	return m, false
}

// work runs mutants until there are enough.
func (x *run) work() error {
	for m, ok := x.take(); ok; m, ok = x.take() {
		r, err := x.try(m)
		if err != nil {
			return err
		}
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		x.lock.Lock()
		x.known[m.ID] = r
		if r.Result == unbuilt {
			x.usable--
		}
		_, err = x.out.Write(append(line, '\n'))
		x.lock.Unlock()
		if err != nil {
			return err
		}
		if r.Result == survived {
			fmt.Fprintf(os.Stderr, "%s %s:%d survived\n", m.ID, m.File, m.Line)
		}
	}
	return nil
}

// try runs the tests of one mutant, until one of them fails.
func (x *run) try(m Mutant) (r Result, err error) {
	r = Result{Mutant: m, Result: survived}
	src, err := m.mutated()
	if err != nil {
		return r, err
	}
	overlay, err := x.overlay(m, src)
	if err != nil {
		return r, err
	}
	start := time.Now()
	for _, s := range suites[m.Package] {
		base, _ := x.bases.LoadOrStore(s, sync.OnceValue(func() error {
			if base := goTest(s, "", slowest); base.failed {
				return fmt.Errorf("%s fails without a change:\n%s", s.Package, base.output)
			}
			return nil
		}))
		if err := base.(func() error)(); err != nil {
			return r, err
		}
		of, err := within(s, overlay, goTest)
		if err != nil {
			return r, err
		}
		if !of.failed {
			continue
		}
		r.Result, r.By, r.In = killed, killer(of.output), s.Package
		switch {
		case strings.Contains(of.output, "[build failed]") || strings.Contains(of.output, "[setup failed]"):
			r.Result, r.By, r.In = unbuilt, "", ""
		case of.late():
			r.Result = late
		}
		break
	}
	r.Took = int(time.Since(start).Seconds())
	return r, nil
}

// overlay writes the mutant and the file that tells the compiler of it.
func (x *run) overlay(m Mutant, src []byte) (string, error) {
	file, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(x.dir, m.ID+".go"), filepath.Join(x.dir, m.ID+".json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.WriteFile(changed, src, 0o644), os.WriteFile(overlay, text, 0o644))
}

// most is the address space that a test may take, in KiB: mutants allocate what they like.
const most = 16 << 20

// slowest is how long the tests may take without a change.
const slowest = 10 * limit

// ran is what became of a step: its output, how long it took, and whether it failed.
type ran struct {
	output string
	took   time.Duration
	failed bool
}

// timedOut is what go test says of tests that took too long.
const timedOut = "panic: test timed out"

func (r ran) late() bool { return strings.Contains(r.output, timedOut) }

// within runs a step on a mutant. Tests that end at their limit say nothing where they take long without a change, too: then they
// are run once more, with three times that.
func within(s step, overlay string, run func(s step, overlay string, limit time.Duration) ran) (ran, error) {
	of := run(s, overlay, limit)
	if !of.late() {
		return of, nil
	}
	base := run(s, "", slowest)
	if base.failed {
		return base, fmt.Errorf("%s fails without a change:\n%s", s.Package, base.output)
	}
	if longer := 3 * base.took; longer > limit {
		return run(s, overlay, longer), nil
	}
	return of, nil
}

// goTest runs a step, in what time and room is left by others.
func goTest(s step, overlay string, limit time.Duration) ran {
	ctx, stop := context.WithTimeout(context.Background(), 2*limit)
	defer stop()
	start := time.Now()
	args := append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec nice -n 10 go "$@"`, most), "go"}, s.args(overlay, limit)...)
	output, err := exec.CommandContext(ctx, "sh", args...).CombinedOutput()
	if ctx.Err() != nil { // while it was compiled
		output = append(output, timedOut...)
	}
	return ran{string(output), time.Since(start), err != nil}
}
