package table

import (
	"fmt"
	"maps"
	"slices"
)

// maxOthers is how many texts that aren't listed are looked at in a column.
const maxOthers = 100

// note keeps a text of input i that wasn't listed.
func (r *reader) note(i int, text string) {
	if r.others[i] == nil {
		r.others[i] = map[string]bool{}
	}
	if known := r.others[i]; len(known) < maxOthers && !known[text] {
		known[string([]byte(text))] = true // a copy: text is part of a longer record
	}
}

// warnings says what is odd, though not wrong.
func (r *reader) warnings() []string {
	var out []string
	s := &r.encoder.schema
	listed := map[string]bool{}
	for _, c := range s.Columns {
		listed[c.Name] = true
	}
	left := slices.DeleteFunc(slices.Clone(r.header), func(name string) bool { return listed[name] })
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("columns that the schema doesn't mention are left out: %s", list(quoted(left), "and")))
	}
	if r.label >= 0 {
		out = append(out, labelWarnings(r.encoder.label.facts, s.column(s.Label), r.labels, r.labelClamped)...)
	}
	for i, in := range r.encoder.inputs {
		out = append(out, clampWarning(in.column, r.binding.clamped[i], r.store.rows)...)
		out = append(out, otherWarnings(in.column, r.others[i])...)
	}
	if r.exposure >= 0 {
		out = append(out, clampWarning(s.column(s.Exposure), r.exposureClamped, r.store.rows)...)
	}
	return out
}

// labelWarnings looks for a class that never occurs, and for clamped labels.
func labelWarnings(l Label, c *Column, labels []float64, clamped int) []string {
	if l.Kind != Binary {
		return clampWarning(c, clamped, len(labels))
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

func clampWarning(c *Column, clamped, rows int) []string {
	if clamped == 0 {
		return nil
	}
	where := compact(c.Range)
	switch c.Kind {
	case Count:
		where = fmt.Sprintf("[0, %d]", c.Cap)
	case Date:
		where = fmt.Sprintf("[%s, %s]", c.From, c.To)
	}
	return []string{fmt.Sprintf("column %s: %d of %d values lie outside the range %s and were clamped to it", quote(c.Name), clamped, rows, where)}
}

// otherWarnings looks for texts that became the other level but were most likely meant
// to be one that is listed.
func otherWarnings(c *Column, texts map[string]bool) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if name, how := nearest(text, c.Levels); name != "" && how != otherLetters {
			out = append(out, fmt.Sprintf("column %s: %s is not listed and reads as %s, though it is %s %s", quote(c.Name), quote(text), quote(c.Other), quote(name), how))
		}
	}
	return out
}
