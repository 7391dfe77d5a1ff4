package table

import (
	"math"
	"slices"
	"unicode/utf8"
)

// cell is what a field of an input holds.
type cell struct {
	u       float64 // the number, mapped to [−1, 1]
	level   int     // 1 + the index of the level among those with a feature; 0 for the reference
	missing bool    // the number is; u is 0
	clamped bool    // the number was outside its range
	other   bool    // the text was not listed
}

// field reads the fields of one column.
type field interface {
	// read sets the cell, or returns an *Error without a place if the text isn't what the schema
	// says. Neither it nor the cell keeps the text.
	read(text string, into *cell) error
}

// absent is a column's rule for missing values.
type absent struct {
	column *Column
	texts  []string
	codes  []float64 // the texts that are numbers, such as −99
	cell   *cell     // what to read; nil refuses
}

func newAbsent(s *Schema, c *Column) absent {
	a := absent{column: c, texts: s.missingTexts()}
	if c.made {
		a.texts = nil
	}
	for _, t := range a.texts {
		if x, err := c.parse(t); err == nil && !math.IsNaN(x) {
			a.codes = append(a.codes, x)
		}
	}
	switch c.Missing {
	case MissingIndicator:
		a.cell = &cell{missing: true, level: 2} // a Binary's levels are positive and missing
	case MissingLevel:
		a.cell = &cell{level: len(c.Levels)} // the last, after all levels but the reference
	}
	return a
}

// is reports whether a trimmed text stands for a missing value.
func (a *absent) is(text string) bool { return text == "" || slices.Contains(a.texts, text) }

func (a *absent) read(text string, into *cell) error {
	if a.cell == nil {
		return a.refuse(text)
	}
	*into = *a.cell
	return nil
}

func (a *absent) refuse(text string) error {
	what := "the field is empty"
	if text != "" {
		what = quote(text) + " stands for a missing value"
	}
	rules := `"indicator" or "constant"`
	if a.column.Kind == Categorical {
		rules = `"level" or "constant"`
	}
	e := valueError(a.column.Name, `%s; fill it in, or give the column a rule for missing values in the schema: "missing": %s`, what, rules)
	if a.column.Kind == Date {
		e.sort = "missing"
	}
	return e
}

// newField returns the reader of an input of a valid schema.
func newField(s *Schema, in *input) field {
	c := in.column
	missing := newAbsent(s, c)
	var f interface {
		field
		rule() *absent
	}
	switch c.Kind {
	case Numeric:
		f = &numberField{number: newNumber(c, missing), mapped: in.interval(), log: c.Log}
	case Date:
		f = &dateField{in.interval(), newDays(c), missing}
	case Binary:
		f = newLevelField(missing, [][]string{c.Negative, c.Positive}, "")
	default:
		levels := [][]string{{c.reference()}}
		for _, l := range in.levels[:len(c.Levels)-1] {
			levels = append(levels, []string{l})
		}
		f = newLevelField(missing, levels, c.Other)
	}
	if c.Missing == MissingConstant {
		if v := new(cell); f.read(c.Constant, v) == nil {
			f.rule().cell = v
		}
	}
	return f
}

// interval is a range that numbers are clamped to and mapped from.
type interval struct{ lo, hi float64 }

// unit maps [lo, hi] to [−1, 1].
func (r interval) unit(x float64) float64 {
	return min(1, max(-1, float64(2*((x-r.lo)/(r.hi-r.lo)))-1))
}

// affine returns s and t such that unit(x) = s·x + t.
func (r interval) affine() (s, t float64) {
	s = 2 / (r.hi - r.lo)
	return s, -(r.lo + r.hi) / (r.hi - r.lo)
}

// number reads numbers, and clamps them.
type number struct {
	interval
	missing absent
}

func newNumber(c *Column, missing absent) number {
	return number{interval{c.Range[0], c.Range[1]}, missing}
}

// value returns a number, or ok = false for a missing one.
func (n *number) value(text string) (x float64, ok bool, err error) {
	x, err = n.missing.column.parse(text)
	finite := err == nil && x-x == 0
	switch {
	case finite && !slices.Contains(n.missing.codes, x):
		return x, true, nil
	case finite || n.missing.is(text):
		return 0, false, nil
	}
	return 0, false, explainNumber(n.missing.column, text)
}

// clamp returns the nearest number in the range, and whether it is another.
func (r interval) clamp(x float64) (y float64, clamped bool) {
	y = min(max(x, r.lo), r.hi)
	return y, y != x
}

type numberField struct {
	number
	mapped interval // of the numbers or their logarithms
	log    bool
}

func (f *numberField) rule() *absent { return &f.missing }

func (f *numberField) read(text string, into *cell) error {
	text = trim(text)
	x, ok, err := f.value(text)
	switch {
	case err != nil:
		return err
	case !ok:
		return f.missing.read(text, into)
	}
	x, clamped := f.clamp(x)
	if f.log {
		x = math.Log(x)
	}
	*into = cell{u: f.mapped.unit(x), clamped: clamped}
	return nil
}

// levelField reads one of a few levels, each of which may be written in several ways.
type levelField struct {
	missing absent
	index   map[string]int
	folded  map[string]int // by folded texts; nil where the case of letters matters
	other   int            // the level of all other texts; −1 refuses them
}

func newLevelField(missing absent, levels [][]string, other string) *levelField {
	f := &levelField{missing: missing, index: map[string]int{}, other: -1}
	for i, texts := range levels {
		for _, t := range texts {
			f.index[t] = i
		}
	}
	if other != "" {
		f.other = f.index[other]
	}
	if missing.column.FoldCase {
		f.folded = make(map[string]int, len(f.index))
		for t, i := range f.index {
			f.folded[fold(t)] = i
		}
	}
	return f
}

// level is that of a trimmed text, if it is listed.
func (f *levelField) level(text string) (level int, ok bool) {
	level, ok = f.index[text]
	if !ok && f.folded != nil && utf8.ValidString(text) {
		level, ok = f.folded[fold(text)]
	}
	return level, ok
}

func (f *levelField) rule() *absent { return &f.missing }

func (f *levelField) read(text string, into *cell) error {
	text = trim(text)
	level, ok := f.level(text)
	switch {
	case ok:
		*into = cell{level: level}
	case f.missing.is(text):
		return f.missing.read(text, into)
	case f.other < 0 || !utf8.ValidString(text):
		return explainLevel(f.missing.column, text)
	default:
		*into = cell{level: f.other, other: true}
	}
	return nil
}

// dateField reads days.
type dateField struct {
	interval
	days    days
	missing absent
}

func (f *dateField) rule() *absent { return &f.missing }

func (f *dateField) read(text string, into *cell) error {
	text = trim(text)
	x, err := f.days.number(text)
	switch {
	case err == nil:
		y, clamped := f.clamp(x)
		*into = cell{u: f.unit(y), clamped: clamped}
		return nil
	case f.missing.is(text):
		return f.missing.read(text, into)
	}
	return explainDate(f.missing.column, f.days.layouts, text)
}

// interval is what is mapped to [−1, 1]: the range, or that of the logarithm or of the
// days.
func (in *input) interval() interval {
	c := in.column
	switch {
	case c.Kind == Date:
		from, to, _ := c.days()
		return interval{from, to}
	case c.Log:
		return interval{math.Log(c.Range[0]), math.Log(c.Range[1])}
	}
	return interval{c.Range[0], c.Range[1]}
}

// knots are those of a spline, mapped as the numbers are.
func (in *input) knots() []float64 {
	r := in.interval()
	knots := make([]float64, len(in.column.Knots))
	for i, k := range in.column.Knots {
		if in.column.Log {
			k = math.Log(k)
		}
		knots[i] = r.unit(k)
	}
	return knots
}
