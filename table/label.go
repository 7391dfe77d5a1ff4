package table

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Label says how labels are to be read.
type Label struct {
	// Column is the label's name.
	Column string
	// Kind is Binary, with labels 0 and 1, Count, with whole numbers, Numeric, or
	// Categorical, with the levels' places among Levels, from 0.
	Kind Kind
	// Range holds all labels: [0, cap] of a Count, [lo, hi] of a Numeric, [0, K−1] of a
	// Categorical with K levels, zeros of a Binary. It is what dpglm calls LabelRange.
	Range [2]float64
	// Levels are those of a Categorical, and Reference is the place of the one that others
	// are compared with. Ordered says that they ascend, and Shares, which sum to 1, what
	// part of the rows each is expected to have; they are nil if the schema doesn't say.
	Levels    []string
	Reference int
	Ordered   bool
	Shares    []float64
	// Class says what 1 is of a Binary, such as "readmitted = yes" or "wage > 600".
	Class string
}

// String is the class, or the column's name.
func (l Label) String() string {
	if l.Class != "" {
		return l.Class
	}
	return l.Column
}

// labelField reads labels, of a column that was validated.
type labelField struct {
	facts  Label
	number number      // of a Numeric, a Count, or a Binary that has a threshold
	levels *levelField // of another Binary, or a Categorical
	above  *float64    // the threshold
}

func newLabelField(s *Schema, c *Column) *labelField {
	f := &labelField{facts: Label{Column: c.Name, Kind: c.Kind}}
	missing := newAbsent(s, c)
	switch c.Kind {
	case Binary:
		if f.above = c.Above; c.Above != nil {
			f.number = number{interval{math.Inf(-1), math.Inf(1)}, missing}
			f.facts.Class = fmt.Sprintf("%s > %v", c.Name, *c.Above)
			return f
		}
		f.levels = newLevelField(missing, [][]string{c.Negative, c.Positive}, "")
		f.facts.Class = c.Name + " = " + c.Positive[0]
		return f
	case Categorical:
		f.levels = newLevelField(missing, each(c.Levels), c.Other)
		f.facts.Levels, f.facts.Reference = slices.Clone(c.Levels), slices.Index(c.Levels, c.reference())
		f.facts.Ordered, f.facts.Shares = c.Ordered, c.fractions()
		f.facts.Range[1] = float64(len(c.Levels) - 1)
		return f
	case Count:
		f.number = number{interval{0, float64(c.Cap)}, missing}
	default:
		f.number = newNumber(c, missing)
	}
	f.facts.Range = [2]float64{f.number.lo, f.number.hi}
	return f
}

// each puts each text into a list of its own: the ways to write a level.
func each(levels []string) [][]string {
	out := make([][]string, len(levels))
	for i, l := range levels {
		out[i] = []string{l}
	}
	return out
}

// fractions are the public ones, scaled to a sum of 1; nil where none are given.
func (c *Column) fractions() []float64 {
	if c.Shares == nil {
		return nil
	}
	fractions := slices.Clone(c.Shares)
	floats.Scale(1/floats.Sum(fractions), fractions)
	return fractions
}

// read returns a label, and whether it was clamped to its range or, not being listed, reads
// as the other level.
func (f *labelField) read(text string) (y float64, odd bool, err error) {
	text = trim(text)
	if f.levels != nil {
		switch level, ok := f.levels.level(text); {
		case ok:
			return float64(level), false, nil
		case f.levels.missing.is(text):
			return 0, false, missingRole(f.facts.Column, text, "a label")
		}
		var c cell
		err := f.levels.read(text, &c)
		return float64(c.level), c.other, err
	}
	y, err = f.number.required(text, "a label")
	if err != nil {
		return 0, false, err
	}
	if f.above != nil {
		if y > *f.above {
			return 1, false, nil
		}
		return 0, false, nil
	}
	if f.facts.Kind == Count && (y != math.Trunc(y) || y < 0) {
		return 0, false, valueError(f.facts.Column, `%s is not a count, a whole number of 0 or more; correct it, or declare the label's kind as "numeric"`, quote(text))
	}
	y, odd = f.number.clamp(y)
	return y, odd, nil
}

// required is value for a number that must be there.
func (n *number) required(text, what string) (float64, error) {
	x, ok, err := n.value(text)
	if err == nil && !ok {
		return 0, missingRole(n.missing.column.Name, text, what)
	}
	return x, err
}

// missingRole is the error of a missing label, person or exposure.
func missingRole(column, text, what string) error {
	if text == "" {
		return valueError(column, "%s is missing: the field is empty; fill it in, or leave out the row", what)
	}
	return valueError(column, "%s is missing: %s stands for a missing value; fill it in, or leave out the row", what, quote(text))
}
