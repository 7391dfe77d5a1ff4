package task

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/dpglm/dpglm/losses"
)

// Source is what flags say about a data file, the public facts about it, and the
// task: which loss, and how many rows are held out.
type Source struct {
	Path   string
	Schema string // the file, "" for none
	Loss   losses.Loss

	label             string
	schemaFromData    bool
	bound, labelBound float64
	features          int
	lossName          string
	heldOut           float64 // share of the rows

	program string
	stderr  io.Writer
	given   map[string]bool // by name, the flags that were set
}

// NewSource adds the source's flags to f.
func NewSource(f *flag.FlagSet) *Source {
	s := &Source{given: map[string]bool{}}
	f.StringVar(&s.Path, "data", "", "data `file`: .csv or .libsvm, or either with .gz")
	f.StringVar(&s.label, "label", "", "the label's `column`, unless the schema names it (CSV)")
	f.StringVar(&s.Schema, "schema", "", "JSON `file` with public facts about the columns (CSV)")
	f.BoolVar(&s.schemaFromData, "schema-from-data", false, "take these facts from the data instead: not private")
	f.Float64Var(&s.bound, "bound", 0, "public bound on the `norm` of a row's features, instead of a schema")
	f.Float64Var(&s.labelBound, "label-bound", 0, "public bound on the `size` of a label, unless the schema states it or a range")
	f.IntVar(&s.features, "features", 0, "public `number` of features (LIBSVM)")
	f.StringVar(&s.lossName, "loss", "logistic", "`name` of the loss: "+known(lossTable)+
		"; huber is linear beyond an error of 1, quantile is that of order 0.9, smoothedhinge has the width 0.5")
	f.Float64Var(&s.heldOut, "test", 0.2, "`share` of the rows to hold out")
	return s
}

// Given reports whether the flag of that name was set.
func (s *Source) Given(name string) bool { return s.given[name] }

// resolve looks up the loss and finds contradictions.
func (s *Source) resolve() error {
	var err error
	if s.Loss, err = lookUp(lossTable, "loss", s.lossName); err != nil {
		return err
	}
	switch {
	case !s.given["data"]:
		return errors.New("-data is missing")
	case !(s.heldOut > 0 && s.heldOut < 1):
		return fmt.Errorf("-test %g must lie strictly between 0 and 1", s.heldOut)
	}
	return s.oneOrigin()
}

// oneOrigin asks for exactly one origin of the facts about the columns.
func (s *Source) oneOrigin() error {
	origins := 0
	for _, name := range []string{"schema", "bound", "schema-from-data"} {
		if s.given[name] {
			origins++
		}
	}
	if origins != 1 {
		return errors.New("the ranges of the columns must be public, and " + s.program + " does not guess them: state them with -schema or -bound, " +
			"or take them from the data, which is not private, with -schema-from-data; exactly one of the three")
	}
	return nil
}

// note writes a line about the data to standard error.
func (s *Source) note(format string, args ...any) {
	fmt.Fprintf(s.stderr, s.program+": "+format+"\n", args...)
}
