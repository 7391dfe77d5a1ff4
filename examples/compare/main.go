// Compare fits every method of the library to a CSV or LIBSVM file at several ε
// and prints how well the models do on rows that were held out, with the standard
// errors over seeds, next to a model without privacy and a constant. It draws the
// first metric, and the calibration slope of probabilities, as a PNG:
//
//	go -C examples/compare run . -data ../../testdata/cps1988.csv.gz -schema ../csvfit/cps1988.json
//
// To compare with methods of the field, as their papers print them, add these to -methods:
// dpsgd-tuned, full-batch DP-SGD whose steps, step size and clip are chosen on the rows held
// out, which flatters it; adassp for the squared loss; and kifer2012, objective perturbation
// with its first analysis, for the logistic loss and the weaker promise of adding or removing a row.
//
// The program is a module of its own, so that drawing adds nothing to what the
// library depends on. go -C runs it in its own directory: relative paths start
// there. The flags for the data are csvfit's; see -h.
//
// To judge defaults, give it several sets, each with its own flags for the data
// after a +; a table over all sets comes last. In a directory of files NAME.csv.gz
// and NAME.schema.json:
//
//	sets=(); for s in $DIR/*.schema.json; do
//	  sets+=(-data ${s%.schema.json}.csv.gz -schema $s +); done
//	go -C examples/compare run . -methods auto -csv all.csv "${sets[@]}"
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/progress"
	"github.com/dpglm/dpglm/examples/internal/task"
)

func main() { task.Main("compare", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	var all []*experiment
	total, done := 0, 0
	for _, source := range o.sources {
		all = append(all, newExperiment(o, source))
		total += all[len(all)-1].fits()
	}
	show := progress.Count(ctx, "fits", total)
	for i, e := range all {
		if err := e.run(ctx, o.sources[i], func() { done++; show(done) }); err != nil {
			return located(err)
		}
		if err := e.print(stdout); err != nil {
			return err
		}
		if err := e.picture(stdout, o.plotOf(e)); err != nil {
			return err
		}
	}
	if len(all) > 1 {
		if err := printOverall(stdout, all); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(stdout, "\n"+note); err != nil || o.csv == "" {
		return err
	}
	return writeCSV(o.csv, all)
}

// located says where a path that leads nowhere starts.
func located(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		dir, _ := os.Getwd() // only part of a message
		return fmt.Errorf("%w (relative paths start at %s)", err, dir)
	}
	return err
}

// plotOf is the file for the picture of one set.
func (o *options) plotOf(e *experiment) string {
	if len(o.sources) == 1 {
		return o.plot
	}
	return fmt.Sprintf("%s-%s-%s.png", strings.TrimSuffix(o.plot, ".png"), e.name, e.problem.Loss.Name())
}

func (e *experiment) picture(stdout io.Writer, path string) error {
	if err := e.draw(path); err != nil {
		return err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\nThe first metric as a picture: %s\n", path)
	return err
}
