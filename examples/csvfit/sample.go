package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/tabular"
)

// sample is what was read: features, labels, and the facts about both.
type sample struct {
	rows     features
	labels   []float64
	facts    dpglm.Facts
	inferred []string // facts that were taken from the data
}

// features are rows that can be dealt out and handed to the library.
type features interface {
	baseline.Rows
	take(rows []int) features
	matrix() (mat.Matrix, error)
}

type dense struct{ baseline.Dense }

func newDense(x *mat.Dense) dense { return dense{baseline.Dense{Dense: x}} }

func (d dense) take(rows []int) features    { return newDense(tabular.Take(d.Dense.Dense, rows)) }
func (d dense) matrix() (mat.Matrix, error) { return d.Dense.Dense, nil }

type sparse struct{ *tabular.CSR }

func (s sparse) take(rows []int) features { return sparse{s.Take(rows)} }

func (s sparse) matrix() (mat.Matrix, error) {
	n, d := s.Dims()
	return dpglm.NewSparse(n, d, s.Indptr, s.Indices, s.Values)
}

// load reads the data file and warns of facts that were taken from it.
func load(o *options, stderr io.Writer) (*sample, error) {
	s, err := read(o, stderr)
	if err != nil {
		return nil, err
	}
	for _, fact := range s.inferred {
		fmt.Fprintf(stderr, "csvfit: WARNING: %s: taken from the data; this step is not private, and the guarantee does not cover it\n", fact)
	}
	return s, nil
}

// read picks the reader by the file name's ending.
func read(o *options, stderr io.Writer) (*sample, error) {
	switch name := strings.TrimSuffix(o.data, ".gz"); {
	case strings.HasSuffix(name, ".csv"):
		return loadCSV(o, stderr)
	case strings.HasSuffix(name, ".libsvm"):
		return loadLIBSVM(o)
	}
	return nil, fmt.Errorf("-data %q must end in .csv, .csv.gz, .libsvm or .libsvm.gz", o.data)
}

func loadLIBSVM(o *options) (*sample, error) {
	if o.given["schema"] || o.given["label"] {
		return nil, errors.New("-schema and -label are for CSV: a LIBSVM file names no columns, state -bound")
	}
	x, y, err := tabular.ReadLIBSVMFile(o.data, o.features)
	if err != nil {
		return nil, err
	}
	s := &sample{rows: sparse{x}, labels: y}
	if !o.given["features"] {
		s.inferred = append(s.inferred, "the number of features")
	}
	bounds := dpglm.Bounds{Feature: o.bound, Label: o.labelBound, Intercept: true}
	if o.schemaFromData {
		s.inferred = append(s.inferred, "the bound on the features")
		bounds.Feature = largestNorm(x)
		bounds.Label = s.inferLabelBound(o)
	}
	s.facts = bounds
	return s, nil
}

func largestNorm(x baseline.Rows) float64 {
	n, _ := x.Dims()
	var largest float64
	for i := range n {
		_, values := x.Row(i)
		var norm float64
		for _, v := range values {
			norm = math.Hypot(norm, v)
		}
		largest = max(largest, norm)
	}
	return largest
}

func loadCSV(o *options, stderr io.Writer) (*sample, error) {
	if o.given["features"] {
		return nil, errors.New("-features is for LIBSVM: a CSV file has a header")
	}
	table, err := tabular.ReadCSVFile(o.data)
	if err != nil {
		return nil, err
	}
	if o.schema != "" {
		return loadWithSchema(o, table, stderr)
	}
	if o.label == "" {
		return nil, errors.New("-label is missing: which column is the label?")
	}
	y, err := table.Numbers(o.label)
	if err != nil {
		return nil, err
	}
	if o.schemaFromData {
		return inferSchema(o, table, y, stderr)
	}
	x, err := table.Matrix(without(table.Names(), o.label))
	if err != nil {
		return nil, err
	}
	return &sample{rows: newDense(x), labels: y, facts: dpglm.Bounds{Feature: o.bound, Label: o.labelBound, Intercept: true}}, nil
}

func without(names []string, name string) []string {
	var rest []string
	for _, s := range names {
		if s != name {
			rest = append(rest, s)
		}
	}
	return rest
}
