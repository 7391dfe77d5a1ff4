package task

import (
	"math"
	"slices"

	"github.com/dpglm/dpglm/examples/internal/tabular"
	"github.com/dpglm/dpglm/losses"
)

// inferSchema takes ranges and levels from the data, which is not private.
func (s *Source) inferSchema(t *tabular.Table, y []float64) (*Sample, error) {
	labelBound, inferred := s.inferLabelBound(y, []string{"the columns' ranges and levels"})
	f := fileSchema{Label: s.label, LabelBound: labelBound, Numeric: map[string][2]float64{}, Categorical: map[string][]string{}}
	for _, name := range without(t.Names(), s.label) {
		levels, err := inferLevels(t, name)
		if err != nil {
			return nil, err
		}
		if levels != nil {
			f.Categorical[name] = levels
			continue
		}
		v, err := t.Numbers(name)
		if err != nil {
			return nil, err
		}
		if lo, hi := slices.Min(v), slices.Max(v); lo < hi {
			f.Numeric[name] = [2]float64{lo, hi}
		}
	}
	out, err := s.build(&f, t, y)
	if err != nil {
		return nil, err
	}
	out.Inferred = inferred
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
// the loss needs none. It adds to what was inferred.
func (s *Source) inferLabelBound(y []float64, inferred []string) (float64, []string) {
	if s.given["label-bound"] || s.Loss.Labels() == losses.Binary {
		return s.labelBound, inferred
	}
	var bound float64
	for _, v := range y {
		bound = max(bound, math.Abs(v))
	}
	return bound, append(inferred, "the bound on the labels")
}
