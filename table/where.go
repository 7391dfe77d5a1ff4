package table

import (
	"math"
	"slices"
	"strings"
)

// What a schema may say of a file's text.
const (
	point   = "."
	comma   = ","
	utf8Is  = "utf-8"
	windows = "windows-1252"
	latin1  = "iso-8859-1" // a part of it
)

// checkFile checks what the schema says of the file, and of which records are read.
func checkFile(v *validator) {
	s := v.s
	if s.Decimal != "" && s.Decimal != point && s.Decimal != comma {
		v.fail(`"decimal"`, `is %s; it must be "." or ",", or be left out for "."`, quote(s.Decimal))
	}
	if s.Encoding != "" && !slices.Contains([]string{utf8Is, windows, latin1}, strings.ToLower(s.Encoding)) {
		v.fail(`"encoding"`, `is %s; it must be "utf-8", "windows-1252" or "iso-8859-1", or be left out for "utf-8": convert other files (iconv -t UTF-8)`, quote(s.Encoding))
	}
	for i, c := range s.Where {
		where := `"where", element ` + compact(i+1)
		bounded := c.From != nil || c.To != nil
		switch {
		case c.Column == "":
			v.fail(where, `has no "column"`)
		case bounded == (c.In != nil):
			v.fail(where, `must have numbers "from" and "to", or one of them, or a list "in"`)
		case bounded && (c.from() > c.to() || math.IsNaN(c.from()) || math.IsNaN(c.to())):
			v.fail(where, `is from %v to %v; the first must not be above the second`, c.from(), c.to())
		case c.In != nil && len(c.In) == 0:
			v.fail(where, `has an empty list "in", which no record is in`)
		}
		v.texts(where, c.In)
	}
}

func (c *Condition) from() float64 {
	if c.From == nil {
		return math.Inf(-1)
	}
	return *c.From
}

func (c *Condition) to() float64 {
	if c.To == nil {
		return math.Inf(1)
	}
	return *c.To
}

// spread tells columns what the schema says of all numbers.
func (s *Schema) spread() {
	for i := range s.Columns {
		s.Columns[i].decimalComma = s.Decimal == comma
	}
}

// filter are a schema's conditions on records with a header.
type filter struct {
	conditions []Condition
	at         []int // the field of each
	comma      bool
}

// newFilter finds the columns of a schema's conditions.
func newFilter(s *Schema, header []string) (*filter, error) {
	f := &filter{conditions: s.Where, comma: s.Decimal == comma}
	for _, c := range s.Where {
		at := slices.Index(header, c.Column)
		if at < 0 {
			return nil, absentColumn(c.Column, header, "the header")
		}
		f.at = append(f.at, at)
	}
	return f, nil
}

// fulfilled reports whether a record is there.
func (f *filter) fulfilled(fields []string) bool {
	for i := range f.conditions {
		c, text := &f.conditions[i], trim(fields[f.at[i]])
		if c.In != nil {
			if !slices.Contains(c.In, text) {
				return false
			}
			continue
		}
		if x, err := parseNumber(text, f.comma); err != nil || !(x >= c.from() && x <= c.to()) {
			return false
		}
	}
	return true
}
