package table

import (
	"slices"
)

// oneHotField reads a level from columns of 0 and 1, of which a row has one 1 at most: two
// would lie outside of the bound that a group has, and other numbers are no levels.
type oneHotField struct {
	column *Column
	names  []string // of the columns
	levels []int    // the level that each column stands for, 0 for the reference
	absent absent
}

func newOneHotField(s *Schema, in *input) *oneHotField {
	c := in.column
	f := &oneHotField{column: c, names: c.members(), absent: newAbsent(s, c)}
	for _, level := range c.Levels {
		f.levels = append(f.levels, slices.Index(in.levels, level)+1)
	}
	return f
}

// readAll sets the level of the column that is 1; the reference if none is.
func (f *oneHotField) readAll(texts []string, into *cell) error {
	one := -1
	for i, text := range texts {
		is, err := f.bit(i, text)
		switch {
		case err != nil:
			return err
		case !is:
		case one >= 0:
			return valueError(f.names[i], `it is 1, and so is column %s, where a row of the one-hot group %s has one level at most; correct the row, or declare these columns one by one as binary`, quote(f.names[one]), quote(f.column.Name))
		default:
			one = i
		}
	}
	if *into = (cell{}); one >= 0 {
		into.level = f.levels[one]
	}
	return nil
}

// bit reads the field of column i.
func (f *oneHotField) bit(i int, text string) (bool, error) {
	switch text = trim(text); text {
	case "0", "false", "False", "FALSE":
		return false, nil
	case "1", "true", "True", "TRUE":
		return true, nil
	}
	if f.absent.is(text) {
		what := "the field is empty"
		if text != "" {
			what = quote(text) + " stands for a missing value"
		}
		return false, valueError(f.names[i], "%s; write 0 or 1, as for the other columns of the one-hot group %s", what, quote(f.column.Name))
	}
	if x, err := parseFloat(text); err == nil && (x == 0 || x == 1) { // 1.0
		return x == 1, nil
	}
	return false, valueError(f.names[i], "%s is neither 0 nor 1, as the fields of the one-hot group %s must be; correct it, or leave the column out of the group", quote(text), quote(f.column.Name))
}
