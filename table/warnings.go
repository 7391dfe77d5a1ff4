package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxOthers is how many texts that aren't listed are looked at in a column.
const maxOthers = 100

// unlisted are texts of a column that weren't listed, the first few.
type unlisted map[string]bool

func (u *unlisted) add(text string) {
	if *u == nil {
		*u = unlisted{}
	}
	if len(*u) < maxOthers && !(*u)[text] {
		(*u)[strings.Clone(text)] = true // text is part of a longer record
	}
}

// clamped counts the values of a column that were outside its range, and keeps the first.
type clamped struct {
	count  int
	text   string
	unit   string
	number int
}

func (c *clamped) add(text, unit string, number int) {
	if c.count++; c.count == 1 {
		c.text, c.unit, c.number = strings.Clone(trim(text)), unit, number
	}
}

func (c *clamped) warning(column *Column, rows int) []string {
	if c.count == 0 {
		return nil
	}
	where := compact(column.Range)
	switch column.Kind {
	case Count:
		where = fmt.Sprintf("[0, %d]", column.Cap)
	case Date:
		where = fmt.Sprintf("[%s, %s]", column.From, column.To)
	}
	first := quote(c.text)
	if c.number > 0 {
		first += fmt.Sprintf(" in %s %d", c.unit, c.number)
	}
	return []string{fmt.Sprintf("column %s: %d of %d values lie outside the range %s and were clamped to it, first %s (if unexpected: a code of missing values, another unit, swapped columns?)",
		quote(column.Name), c.count, rows, where, first)}
}

// warnings says what is odd, though not wrong.
func (r *reader) warnings() []string {
	var out []string
	s := &r.encoder.schema
	listed := map[string]bool{}
	for _, c := range s.Columns {
		for _, name := range c.files() {
			listed[name] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(r.header), func(name string) bool { return listed[name] })
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("columns that the schema doesn't mention are left out: %s", list(quoted(left), "and")))
	}
	if r.label >= 0 {
		out = append(out, labelWarnings(r.encoder.label.facts, s.column(s.Label), r.labels, r.store.rows, &r.labelClamped)...)
		out = append(out, otherWarnings(s.column(s.Label), r.labelOthers)...)
	}
	out = append(out, r.binding.Warnings()...)
	return append(out, r.exposureClamped.warning(s.column(s.Exposure), r.store.rows)...)
}

// labelWarnings looks for classes that never occur, and for clamped labels. Of the labels it
// needs to know which occur.
func labelWarnings(l Label, c *Column, labels []float64, rows int, outside *clamped) []string {
	if l.Kind == Categorical {
		return absentLevels(l, labels)
	}
	if l.Kind != Binary {
		return outside.warning(c, rows)
	}
	positive, negative := list(quoted(c.Positive), "or"), list(quoted(c.Negative), "or")
	if c.Above != nil {
		positive, negative = fmt.Sprintf("above %g", *c.Above), fmt.Sprintf("at most %g", *c.Above)
	}
	switch {
	case !slices.Contains(labels, 1):
		return []string{fmt.Sprintf("label %s: no row is positive (%s); a model of these rows learns nothing", quote(l.Column), positive)}
	case !slices.Contains(labels, 0):
		return []string{fmt.Sprintf("label %s: no row is negative (%s); a model of these rows learns nothing", quote(l.Column), negative)}
	}
	return nil
}

// absentLevels looks for levels of the label that no row has.
func absentLevels(l Label, labels []float64) []string {
	seen := make([]bool, len(l.Levels))
	for _, y := range labels {
		seen[int(y)] = true
	}
	var never []string
	for k, name := range l.Levels {
		if !seen[k] {
			never = append(never, quote(name))
		}
	}
	if never == nil {
		return nil
	}
	return []string{fmt.Sprintf("label %s: no row has the level %s; a model of these rows learns nothing of it", quote(l.Column), list(never, "or"))}
}

// otherWarnings looks for texts that became the other level but were most likely meant
// to be one that is listed.
func otherWarnings(c *Column, texts unlisted) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if name, how := nearest(text, c.Levels); name != "" && how != otherLetters {
			out = append(out, fmt.Sprintf("column %s: %s is not listed and reads as %s, though it is %s %s", quote(c.Name), quote(text), quote(c.Other), quote(name), how))
		}
	}
	return out
}
