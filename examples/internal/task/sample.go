package task

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/baseline"
	"github.com/dpglm/dpglm/examples/internal/tabular"
)

// Sample is what was read: features, labels, and the facts about both.
type Sample struct {
	// Inferred are the facts that were taken from the data, which no guarantee
	// covers.
	Inferred []string

	source *Source
	rows   features
	labels []float64
	facts  dpglm.Facts
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

// Load reads the data file and warns of facts that were taken from it.
func (s *Source) Load() (*Sample, error) {
	sample, err := s.read()
	if err != nil {
		return nil, err
	}
	sample.source = s
	for _, fact := range sample.Inferred {
		s.note("WARNING: %s: taken from the data; this step is not private, and the guarantee does not cover it", fact)
	}
	return sample, nil
}

// read picks the reader by the file name's ending.
func (s *Source) read() (*Sample, error) {
	switch name := strings.TrimSuffix(s.Path, ".gz"); {
	case strings.HasSuffix(name, ".csv"):
		return s.loadCSV()
	case strings.HasSuffix(name, ".libsvm"):
		return s.loadLIBSVM()
	}
	return nil, fmt.Errorf("-data %q must end in .csv, .csv.gz, .libsvm or .libsvm.gz", s.Path)
}

func (s *Source) loadLIBSVM() (*Sample, error) {
	if s.given["schema"] || s.given["label"] {
		return nil, errors.New("-schema and -label are for CSV: a LIBSVM file names no columns, state -bound")
	}
	x, y, err := tabular.ReadLIBSVMFile(s.Path, s.features)
	if err != nil {
		return nil, err
	}
	out := &Sample{rows: sparse{x}, labels: y}
	if !s.given["features"] {
		out.Inferred = append(out.Inferred, "the number of features")
	}
	bounds := dpglm.Bounds{Feature: s.bound, Label: s.labelBound, Intercept: true}
	if s.schemaFromData {
		out.Inferred = append(out.Inferred, "the bound on the features")
		bounds.Feature = largestNorm(x)
		bounds.Label, out.Inferred = s.inferLabelBound(y, out.Inferred)
	}
	out.facts = bounds
	return out, nil
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

func (s *Source) loadCSV() (*Sample, error) {
	if s.given["features"] {
		return nil, errors.New("-features is for LIBSVM: a CSV file has a header")
	}
	table, err := tabular.ReadCSVFile(s.Path)
	if err != nil {
		return nil, err
	}
	if s.Schema != "" {
		return s.withSchema(table)
	}
	if s.label == "" {
		return nil, errors.New("-label is missing: which column is the label?")
	}
	y, err := table.Numbers(s.label)
	if err != nil {
		return nil, err
	}
	if s.schemaFromData {
		return s.inferSchema(table, y)
	}
	x, err := table.Matrix(without(table.Names(), s.label))
	if err != nil {
		return nil, err
	}
	return &Sample{rows: newDense(x), labels: y, facts: dpglm.Bounds{Feature: s.bound, Label: s.labelBound, Intercept: true}}, nil
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
