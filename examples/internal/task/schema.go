package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/tabular"
)

// ErrSchema is the kind of all errors about the schema file.
var ErrSchema = errors.New("schema")

// fileSchema is the JSON file that -schema names: public facts about a CSV
// file's columns. Columns that it doesn't mention are left out.
//
//	{
//	  "label": "income",
//	  "positive": "high",
//	  "numeric": {"age": [17, 90], "hours": [1, 99]},
//	  "categorical": {"sector": ["private", "state", "other"]},
//	  "onehot_prefixes": ["region="]
//	}
type fileSchema struct {
	// Label is the label's column.
	Label string `json:"label"`
	// LabelRange is the range [lo, hi] of real labels or of counts, which begins at
	// 0; labels outside are clamped.
	LabelRange [2]float64 `json:"label_range"`
	// LabelBound Y is short for the range [−Y, Y], or [0, Y] for counts.
	LabelBound float64 `json:"label_bound"`
	// Threshold makes the label 1 where the column exceeds it and 0 elsewhere.
	Threshold *float64 `json:"threshold"`
	// Positive makes the label 1 where the column has this text and 0 elsewhere.
	Positive *string `json:"positive"`
	// Numeric gives the range of each numeric column.
	Numeric map[string][2]float64 `json:"numeric"`
	// Categorical gives the levels of each column of text; a row with any other
	// level is an error.
	Categorical map[string][]string `json:"categorical"`
	// OneHotPrefixes are the beginnings of the names of 0/1 columns, those with
	// the same beginning being a one-hot group.
	OneHotPrefixes []string `json:"onehot_prefixes"`
}

func readSchema(path string) (*fileSchema, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := new(fileSchema)
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrSchema, path, err)
	}
	if d.More() {
		return nil, fmt.Errorf("%w %s: must be one JSON object", ErrSchema, path)
	}
	return s, nil
}

func (s *Source) withSchema(t *tabular.Table) (*Sample, error) {
	f, err := readSchema(s.Schema)
	if err != nil {
		return nil, err
	}
	if err := f.merge(s); err != nil {
		return nil, err
	}
	y, err := f.labels(t)
	if err != nil {
		return nil, err
	}
	return s.build(f, t, y)
}

// build takes the features that the schema describes.
func (s *Source) build(f *fileSchema, t *tabular.Table, y []float64) (*Sample, error) {
	schema, unused, err := f.encode(t)
	if err != nil {
		return nil, err
	}
	if len(unused) > 0 {
		s.note("columns that the schema does not mention are left out: %s", strings.Join(unused, ", "))
	}
	x, err := t.Matrix(schema.Columns)
	if err != nil {
		return nil, err
	}
	return &Sample{rows: newDense(x), labels: y, facts: *schema}, nil
}

// merge adds what the flags say to the schema, which they may not contradict.
func (s *fileSchema) merge(o *Source) error {
	if o.given["label"] {
		if s.Label != "" && s.Label != o.label {
			return fmt.Errorf("%w: its label is %q but -label is %q", ErrSchema, s.Label, o.label)
		}
		s.Label = o.label
	}
	if o.given["label-bound"] {
		if s.LabelBound != 0 && s.LabelBound != o.labelBound {
			return fmt.Errorf("%w: its label_bound is %g but -label-bound is %g", ErrSchema, s.LabelBound, o.labelBound)
		}
		s.LabelBound = o.labelBound
	}
	if s.LabelBound != 0 && s.LabelRange != [2]float64{} {
		return fmt.Errorf("%w: its label_range is %g, and a label_bound, %g, excludes it", ErrSchema, s.LabelRange, s.LabelBound)
	}
	if s.Label == "" {
		return fmt.Errorf("%w: it names no label, and -label is missing", ErrSchema)
	}
	return nil
}

func (s *fileSchema) labels(t *tabular.Table) ([]float64, error) {
	switch {
	case s.Positive != nil && s.Threshold != nil:
		return nil, fmt.Errorf("%w: positive and threshold exclude each other", ErrSchema)
	case s.Positive != nil:
		text, err := t.Text(s.Label)
		if err != nil {
			return nil, err
		}
		return indicators(text, func(v string) bool { return v == *s.Positive }), nil
	}
	y, err := t.Numbers(s.Label)
	if err != nil || s.Threshold == nil {
		return y, err
	}
	return indicators(y, func(v float64) bool { return v > *s.Threshold }), nil
}

func indicators[T any](values []T, is func(T) bool) []float64 {
	y := make([]float64, len(values))
	for i, v := range values {
		if is(v) {
			y[i] = 1
		}
	}
	return y
}

// encode makes the one-hot columns and describes every feature to the library,
// in the order of the file. It also returns the columns that it leaves out.
func (s *fileSchema) encode(t *tabular.Table) (schema *dpglm.Schema, unused []string, err error) {
	if err := s.check(t); err != nil {
		return nil, nil, err
	}
	schema = &dpglm.Schema{Numeric: s.Numeric, OneHot: map[string][]string{}, LabelRange: s.LabelRange, Label: s.LabelBound, Intercept: true}
	for _, name := range without(t.Names(), s.Label) {
		if levels, ok := s.Categorical[name]; ok {
			made, err := t.OneHot(name, levels)
			if err != nil {
				return nil, nil, err
			}
			schema.Columns = append(schema.Columns, made...)
			schema.OneHot[name] = made
			continue
		}
		if prefix, ok := s.prefix(name); ok {
			schema.OneHot[prefix] = append(schema.OneHot[prefix], name)
		} else if _, ok := s.Numeric[name]; !ok {
			unused = append(unused, name)
			continue
		}
		schema.Columns = append(schema.Columns, name)
	}
	for _, prefix := range s.OneHotPrefixes {
		if len(schema.OneHot[prefix]) == 0 {
			return nil, nil, fmt.Errorf("%w: the group %q is empty, no column of the file begins with it", ErrSchema, prefix)
		}
	}
	return schema, unused, nil
}

// check asks that every column of the schema is in the file and has one role.
func (s *fileSchema) check(t *tabular.Table) error {
	seen := map[string]bool{s.Label: true}
	names := append(slices.Sorted(maps.Keys(s.Numeric)), slices.Sorted(maps.Keys(s.Categorical))...)
	for _, name := range names {
		if !t.Has(name) {
			return fmt.Errorf("%w: its column %q is not in the file", ErrSchema, name)
		}
		if _, ok := s.prefix(name); ok || seen[name] {
			return fmt.Errorf("%w: column %q must have one role", ErrSchema, name)
		}
		seen[name] = true
	}
	for i, p := range s.OneHotPrefixes {
		for j, q := range s.OneHotPrefixes {
			if i != j && strings.HasPrefix(p, q) {
				return fmt.Errorf("%w: the prefix %q begins with the prefix %q", ErrSchema, p, q)
			}
		}
		if _, ok := s.Categorical[p]; ok || p == "" {
			return fmt.Errorf("%w: the prefix %q must not be empty or a column's name", ErrSchema, p)
		}
	}
	return nil
}

func (s *fileSchema) prefix(name string) (string, bool) {
	for _, p := range s.OneHotPrefixes {
		if strings.HasPrefix(name, p) {
			return p, true
		}
	}
	return "", false
}
