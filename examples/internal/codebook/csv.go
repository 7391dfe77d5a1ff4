package codebook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// headings are the names that columns of a CSV go by.
var headings = [...][]string{
	{"name", "variable", "column", "field"},
	{"type", "kind", "class", "format"},
	{"label", "description", "question"},
	{"min", "minimum", "low", "lower", "from"},
	{"max", "maximum", "high", "upper", "to"},
	{"levels", "values", "categories", "codes"},
	{"role"},
}

func parseCSV(text []byte) (*Book, error) {
	c, err := table.NewCSV(bytes.NewReader(text), 0)
	if err != nil {
		return nil, err
	}
	header := c.Header()
	for i, h := range header {
		header[i] = strings.ToLower(h)
	}
	var at [len(headings)]int
	for k, names := range headings {
		at[k] = -1
		for _, n := range slices.Backward(names) {
			if i := slices.Index(header, n); i >= 0 {
				at[k] = i
			}
		}
	}
	if at[0] < 0 {
		return nil, fmt.Errorf("line 1: its header has no column %s; it has %s", strings.Join(headings[0], ", "), strings.Join(header, ", "))
	}
	b := new(Book)
	for {
		fields, err := c.Next()
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		_, line := c.Place()
		if err != nil {
			return nil, err
		}
		if len(fields) != len(header) {
			return nil, fmt.Errorf("line %d: it has %d fields where the header has %d", line, len(fields), len(header))
		}
		var part [len(headings)]string
		for k, i := range at {
			if i >= 0 {
				part[k] = strings.TrimSpace(fields[i])
			}
		}
		v, err := variableOf(part)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		b.Variables = append(b.Variables, v)
	}
}

// variableOf is what a line's fields say, in the order of headings.
func variableOf(part [len(headings)]string) (v Variable, err error) {
	name, kind, label, low, high, levels, role := part[0], part[1], part[2], part[3], part[4], part[5], part[6]
	v.Name, v.Label, v.Role = name, label, strings.ToLower(role)
	if v.Kind = typed(kind); kind != "" && v.Kind == "" {
		return v, fmt.Errorf("variable %q has the type %q, which isn't known: numeric, count, categorical, binary, date, id and ignored are, and types of R, SQL, Stata and Python", name, kind)
	}
	if err := v.bounds(low, high); err != nil {
		return v, err
	}
	v.Levels = split(levels)
	v.settle()
	return v, nil
}

// split takes levels apart, and their labels off.
func split(text string) (levels []string) {
	if text == "" {
		return nil
	}
	mark := ","
	for _, m := range []string{"\n", ",", ";", "|"} {
		if strings.Contains(text, m) {
			mark = m
		}
	}
	for _, l := range strings.Split(text, mark) {
		l, _, _ = strings.Cut(l, "=")
		levels = append(levels, strings.Trim(strings.TrimSpace(l), `"`))
	}
	return levels
}
