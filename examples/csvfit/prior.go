package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// beginners are the methods that can begin at a public model.
var beginners = []string{"auto", softmax, "standardised", "infer"}

// checkPrior finds what is wrong with -public and -prior before data are read.
func (o *fitting) checkPrior() error {
	flag, path := "public", o.public
	if o.begin != "" {
		flag, path = "prior", o.begin
	}
	if path == "" {
		return nil
	}
	switch {
	case o.public != "" && o.begin != "":
		return task.Usage("-public and -prior both say where to begin: leave one out")
	case !slices.Contains(beginners, o.method):
		return task.Usage("-%s is for -method auto, standardised, softmax or infer: leave it out for %s", flag, o.method)
	case o.method == "infer" && o.source.Classes > 0:
		return task.Usage("-%s is for one score, and -method infer has several here: leave one out", flag)
	case o.public != "" && sameFile(path, o.source.Path):
		return task.Usage("-public %s is the file of -data: rows that are protected can't be public; leave it out", path)
	}
	if flag == "prior" {
		return task.Exists(flag, path)
	}
	if err := task.HasColumns(flag, path); err != nil {
		return err
	}
	return task.DataExist(flag, path)
}

// sameFile reports whether files of two paths have one in common.
func sameFile(a, b string) bool {
	list, err := table.Files(a)
	others, other := table.Files(b)
	if err != nil || other != nil {
		return false
	}
	for _, one := range list {
		for _, two := range others {
			if one == two { // standard input, too
				return true
			}
			x, err := os.Stat(one)
			y, other := os.Stat(two)
			if err == nil && other == nil && os.SameFile(x, y) {
				return true
			}
		}
	}
	return false
}

// findPrior reads or fits the public model, and says what it is.
func (o *fitting) findPrior(ctx context.Context, stderr io.Writer) (err error) {
	switch {
	case o.public != "":
		o.prior, err = o.source.PublicModel(ctx, o.public, o.problem(o.source))
		if err != nil {
			return fmt.Errorf("-public: %w", err)
		}
		c, _ := o.prior.Ledger().Claim()
		o.beginning = fmt.Sprintf("a model of the %d public rows of %s", c.Rows, filepath.Base(o.public))
	case o.begin != "":
		if o.prior, _, err = readModelBy("prior", o.begin); err != nil {
			return err
		}
		o.beginning = "the model " + filepath.Base(o.begin)
		promise, _, _ := strings.Cut(o.prior.Ledger().String(), "\n")
		fmt.Fprintf(stderr, "csvfit: note: the model of -prior has a guarantee of its own, for whoever is in its table: %s. For those who are in both tables both add up\n", promise)
	}
	return nil
}
