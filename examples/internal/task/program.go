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
	"syscall"

	"github.com/dpglm/dpglm/examples/internal/progress"
)

// ErrUsage is the kind of errors about the command line: the program was not told what
// to do.
var ErrUsage = errors.New("usage")

// usage is such an error; its kind is not part of the message.
type usage struct{ error }

func (usage) Is(target error) bool { return target == ErrUsage }

// Usage makes an error of the kind [ErrUsage].
func Usage(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }

// Signals returns a context that an interrupt or a termination signal cancels. A second one
// ends the program at once, as it does without this.
func Signals() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Await does what can't be cancelled, and returns at once where ctx is: the program is about to
// end then, and what it does meanwhile isn't looked at.
func Await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := do()
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.v, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Main runs a program until it ends or is told to by a signal. Its error goes to standard
// error, and makes the exit code 1, or 2 if it is about the command line.
func Main(name string, run func(ctx context.Context, args []string, stdout, stderr io.Writer) error) {
	ctx, stop := Signals()
	defer stop()
	ctx, end := progress.Show(ctx, name, os.Stderr)
	err := run(ctx, os.Args[1:], progress.Beside(ctx, os.Stdout), progress.Beside(ctx, os.Stderr))
	end()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	if errors.Is(err, ErrUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

// Parse parses flags and returns the names of those that were set. It prints the flags'
// descriptions to help if they are asked for; errors are for Main.
func Parse(f *flag.FlagSet, args []string, help io.Writer) (given map[string]bool, err error) {
	f.SetOutput(io.Discard)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(help)
			f.PrintDefaults()
			return nil, err
		}
		return nil, explain(f, err)
	}
	if err := repeated(f, args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, stray(f, f.Arg(0))
	}
	given = map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given, nil
}
