// Speed measures how fast rows are read, in one run, so that numbers compare: a
// plain read of the memory, the pass that learners are made of, second moments,
// sparse against dense rows, the noise and, if Python has NumPy, the same with
// that. Operations take turns for several rounds; a round has the fastest of some
// runs, and medians over the rounds are printed.
//
//	go run ./examples/speed
//	go run ./examples/speed -candidates
//	go run ./examples/speed -csv 1000000
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
)

func main() {
	var o options
	flag.IntVar(&o.small, "small", 80, "size of the smaller matrices in `MB`")
	flag.IntVar(&o.large, "large", 800, "size of the larger matrices in `MB`")
	flag.IntVar(&o.rounds, "rounds", 7, "`number` of rounds")
	flag.BoolVar(&o.candidates, "candidates", false, "measure grid searches of 1, 4 and 32 candidates on the larger matrices instead")
	flag.IntVar(&o.csv, "csv", 0, "measure the reading of a CSV of so many `rows` instead, beside polars and pandas where Python has them, and what csvfit takes")
	flag.StringVar(&o.python, "python", "", "a Python with NumPy, or with polars and pandas (default: python3 or /usr/bin/python3, whichever has it)")
	flag.Parse()
	measure, libraries := run, []string{"numpy"}
	if o.csv != 0 {
		measure, libraries = runCSV, []string{"polars", "pandas"}
	}
	if o.python == "" && !o.candidates {
		o.python = findPython(libraries...)
	}
	if err := measure(os.Stdout, os.Stderr, o); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

type options struct {
	small, large, rounds int
	candidates           bool   // grid searches instead
	csv                  int    // rows of a CSV instead
	python               string // empty: without NumPy
}

// run measures everything and prints a table to out; log says what is going on.
func run(out, log io.Writer, o options) error {
	if o.small < 1 || o.large < o.small || o.rounds < 1 {
		return fmt.Errorf("-small is %d, -large is %d and -rounds is %d: they must be at least 1, and the sizes in order", o.small, o.large, o.rounds)
	}
	var np *numPy
	if o.python != "" {
		var err error
		if np, err = startNumPy(o.python); err != nil {
			return err
		}
		defer np.stop()
	} else if !o.candidates {
		fmt.Fprintln(log, "no Python with NumPy found: measuring without")
	}
	fmt.Fprintln(log, "filling memory")
	groups, err := newGroups(o, np)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, %s, medians of %d rounds\n", machine(), runtime.Version(), o.rounds)
	if np != nil {
		fmt.Fprintf(out, "%s\n", np.version)
	}
	return measured(out, log, groups, o.rounds)
}

// measured measures groups and prints them.
func measured(out, log io.Writer, groups []*group, rounds int) error {
	t := newTable(out)
	for _, g := range groups {
		fmt.Fprintf(log, "%s\n", g.name)
		if err := g.measure(rounds); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		t.add(g)
	}
	return t.flush()
}
