// Package task is what the programs for data files share: flags that name a file
// and the public facts about it, the names of losses and methods, the split into
// training and held-out rows, and the scores on the latter, next to a model
// without privacy.
package task

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// Main runs a program until it ends or is interrupted. Its error goes to standard
// error, and makes the exit code 1.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Parse parses flags, the source's among them, and looks for contradictions. It
// prints the flags' descriptions if they are asked for. What there is to say about
// the data will go to stderr too, but not errors, which are for Main.
func (s *Source) Parse(f *flag.FlagSet, args []string, stderr io.Writer) error {
	f.SetOutput(io.Discard)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(stderr)
			f.PrintDefaults()
		}
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", f.Arg(0))
	}
	s.program, s.stderr = f.Name(), stderr
	f.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	return s.resolve()
}
