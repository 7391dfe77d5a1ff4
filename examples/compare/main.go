// Compare fits every method of the library to a CSV or LIBSVM file at several ε
// and prints how well the models do on rows that were held out, with their spread
// over seeds, next to a model without privacy. It draws the same as a PNG:
//
//	go -C examples/compare run . -data ../../testdata/cps1988.csv.gz -schema ../csvfit/cps1988.json
//
// The program is a module of its own, so that drawing adds nothing to what the
// library depends on. go -C runs it in its own directory: relative paths start
// there. The flags for the data are csvfit's; see -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("compare", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	sample, err := o.source.Load()
	if errors.Is(err, fs.ErrNotExist) {
		dir, _ := os.Getwd() // only part of a message
		return fmt.Errorf("%w (relative paths start at %s)", err, dir)
	}
	if err != nil {
		return err
	}
	e := newExperiment(o)
	if err := e.run(ctx, sample, progress.Count(stderr, "fits", e.fits())); err != nil {
		return err
	}
	if err := e.print(stdout, sample.Inferred); err != nil {
		return err
	}
	if err := e.draw(o.plot); err != nil {
		return err
	}
	path, err := filepath.Abs(o.plot)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\nThe first table as a picture: %s\n", path)
	return err
}
