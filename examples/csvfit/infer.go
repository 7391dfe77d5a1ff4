package main

import (
	"io"
	"math"
	"slices"

	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
)

// inferSchema takes ranges and levels from the data, which is not private.
func inferSchema(o *options, t *tabular.Table, y []float64, stderr io.Writer) (*sample, error) {
	out := &sample{labels: y, inferred: []string{"the columns' ranges and levels"}}
	s := fileSchema{Label: o.label, LabelBound: out.inferLabelBound(o),
		Numeric: map[string][2]float64{}, Categorical: map[string][]string{}}
	for _, name := range without(t.Names(), o.label) {
		levels, err := inferLevels(t, name)
		if err != nil {
			return nil, err
		}
		if levels != nil {
			s.Categorical[name] = levels
			continue
		}
		v, err := t.Numbers(name)
		if err != nil {
			return nil, err
		}
		if lo, hi := slices.Min(v), slices.Max(v); lo < hi {
			s.Numeric[name] = [2]float64{lo, hi}
		}
	}
	schema, err := s.encode(t, stderr)
	if err != nil {
		return nil, err
	}
	x, err := t.Matrix(schema.Columns)
	if err != nil {
		return nil, err
	}
	out.rows, out.facts = newDense(x), *schema
	return out, nil
}

// inferLevels returns the levels of a column of text. A column with a number in
// it is not one, so that a mistyped number doesn't pass for a level.
func inferLevels(t *tabular.Table, name string) ([]string, error) {
	text, err := t.Text(name)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(text, tabular.IsNumber) {
		return nil, nil
	}
	slices.Sort(text)
	return slices.Compact(text), nil
}

// inferLabelBound is the largest size of a label, unless a bound was given or
// the loss needs none.
func (s *sample) inferLabelBound(o *options) float64 {
	if o.given["label-bound"] || o.loss.Labels() == losses.Binary {
		return o.labelBound
	}
	s.inferred = append(s.inferred, "the bound on the labels")
	var bound float64
	for _, v := range s.labels {
		bound = max(bound, math.Abs(v))
	}
	return bound
}
