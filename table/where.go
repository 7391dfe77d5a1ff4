package table

import (
	"math"
	"slices"
)

// Present returns a function that reports whether a record, with the header's fields, is there by the schema's Where, as readers have it:
// the fields of others aren't looked at. It fails with [ErrSchema], or with [ErrColumn] where the header lacks a condition's column.
func (s Schema) Present(header []string) (func(fields []string) bool, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	f, err := newFilter(&s, header)
	if err != nil {
		return nil, err
	}
	return func(fields []string) bool { return len(fields) == len(header) && f.fulfilled(fields) }, nil
}

// filter are a schema's conditions on records with a header.
type filter struct {
	conditions []Condition
	at         []int    // the field of each
	numbers    []absent // of their columns: how they are written, and which stand for a missing value
	read       []func(text string) (float64, error)
}

// newFilter finds the columns of a schema's conditions.
func newFilter(s *Schema, header []string) (*filter, error) {
	of := s.clone()
	of.spread()
	f := &filter{conditions: of.Where}
	for _, c := range s.Where {
		at := slices.Index(header, c.Column)
		if at < 0 {
			return nil, absentColumn(c.Column, header, "the header")
		}
		column := of.column(c.Column)
		if column == nil {
			column = &Column{decimalComma: of.Decimal == comma}
		}
		f.at, f.numbers = append(f.at, at), append(f.numbers, newAbsent(&of, column))
		f.read = append(f.read, column.reader())
	}
	return f, nil
}

// reader reads the numbers of a condition on a column: of a date days, as its layouts read it.
func (c *Column) reader() func(text string) (float64, error) {
	if c.Kind == Date {
		return newDays(c).number
	}
	return c.parse
}

// fulfilled reports whether a record is there.
func (f *filter) fulfilled(fields []string) bool {
	for i := range f.conditions {
		c, text := &f.conditions[i], trim(fields[f.at[i]])
		if c.In != nil {
			if !slices.Contains(c.In, text) && !(f.numbers[i].column.FoldCase && slices.ContainsFunc(c.In, func(t string) bool { return fold(t) == fold(text) })) {
				return false
			}
			continue
		}
		x, err := f.read[i](text)
		last := x
		if f.numbers[i].column.Kind == Date { // all of a day is
			last = math.Floor(x)
		}
		if err != nil || !(x >= c.from() && last <= c.to()) || slices.Contains(f.numbers[i].codes, x) {
			return false
		}
	}
	return true
}
