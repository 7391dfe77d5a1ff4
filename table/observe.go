package table

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dpglm/dpglm/internal/check"
)

// mostObserved is the largest number of levels that Observe finds of a column.
const mostObserved = 1000

// Observe fills in what a schema lacks of its features, from the rows: the range of a Numeric, the days of a Date, the levels of a
// Categorical, ascending, and for Column.Quantiles the knots. What it fills in is Observed: it holds for nobody's
// secrets where the label alone is [Schema.Private], which the schema must say, and is refused with a budget that protects rows. What
// the schema states stays as it is, and the label's column, an exposure, an offset and a weight must be stated.
//
// It reads all records of the source once, those that Where leaves, in O(columns) memory, and 8 bytes a row for a column with
// Quantiles. It fails (ErrSchema) for a schema that isn't valid but for what it fills in, and as [Read] does; for a column whose
// numbers are all the same, or that has none; and for a column with more than 1000 levels.
func Observe(src Source, s Schema) (Schema, error) {
	if s.Private == nil {
		return Schema{}, fmt.Errorf("%w: %q is missing; ranges and levels may be taken from the rows where the label alone is private, else they must be known without looking", ErrSchema, "private")
	}
	if err := givenSource(src); err != nil {
		return Schema{}, err
	}
	s = s.clone()
	draft := s.clone()
	var open []*observed
	for i := range s.Columns {
		c := &s.Columns[i]
		if c.Quantiles < 0 || c.Quantiles > maxKnots {
			return Schema{}, fmt.Errorf("%w: column %s: %q is %d; it must be from 0 to %d", ErrSchema, quote(c.Name), "quantiles", c.Quantiles, maxKnots)
		}
		if s.observable(c) {
			hold(&draft.Columns[i])
			open = append(open, &observed{column: c, at: -1})
		}
	}
	if err := draft.Validate(); err != nil {
		return Schema{}, err
	}
	draft.spread()
	header := slices.Clone(src.Header())
	for _, o := range open {
		if o.at = slices.Index(header, o.column.Name); o.at < 0 {
			return Schema{}, absentColumn(o.column.Name, header, "the header")
		}
		o.read(&draft)
	}
	if err := observeAll(src, &draft, header, open); err != nil {
		return Schema{}, err
	}
	for _, o := range open {
		if err := o.fill(); err != nil {
			return Schema{}, err
		}
	}
	return s, s.Validate()
}

// observeAll reads the records.
func observeAll(src Source, s *Schema, header []string, open []*observed) error {
	only, err := newFilter(s, header)
	if err != nil {
		return err
	}
	for {
		fields, err := src.Next()
		unit, number := src.Place()
		at := place{unit, number}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(fields) != len(header):
			return &Error{Unit: unit, Number: number, kind: ErrFile, message: fmt.Sprintf("there are %d fields, and %d in the header", len(fields), len(header))}
		case !only.fulfilled(fields):
			continue
		}
		for _, o := range open {
			if err := o.add(trim(fields[o.at])); err != nil {
				return placed(err, at)
			}
		}
	}
}

// observable reports whether Observe fills in what a column lacks.
func (s *Schema) observable(c *Column) bool {
	if c.Name == s.Label || c.Name == s.AtRisk() || c.Name == s.Weight {
		return false
	}
	switch c.Kind {
	case Numeric:
		return len(c.Range) == 0 || c.Quantiles > 0
	case Date:
		return c.From == "" && c.To == ""
	case Categorical:
		return len(c.Levels) == 0
	}
	return false
}

// hold fills in what stands for what isn't known yet.
func hold(c *Column) {
	c.Observed = true
	switch c.Kind {
	case Numeric:
		if c.Quantiles = 0; len(c.Range) == 0 {
			c.Range = []float64{-check.MaxScale, check.MaxScale}
			if c.Log {
				c.Range[0] = check.MinScale
			}
		}
	case Date:
		c.From, c.To = "0001-01-01", "9999-12-31"
		if c.Origin == "" {
			c.Origin = c.From
		}
	case Categorical:
		for _, l := range append(stated(c), "a level", "another level") {
			if l != "" && !slices.Contains(c.Levels, l) {
				c.Levels = append(c.Levels, l)
			}
		}
	}
}

// observed is what was seen of a column.
type observed struct {
	column *Column
	at     int                                      // its field
	number func(text string) (float64, bool, error) // a Numeric's or a Date's, in days from the origin; false for a missing one
	origin string                                   // day 0 of a Date
	absent absent
	low    float64
	high   float64
	some   bool
	all    []float64         // for quantiles
	levels map[string]string // by folded texts, where the case of letters doesn't matter
}

// stated are the levels of a Categorical that other fields name.
func stated(c *Column) []string {
	return slices.DeleteFunc([]string{c.Reference, c.Other, c.Constant}, func(l string) bool { return l == "" })
}

// read makes the column's reader.
func (o *observed) read(draft *Schema) {
	c := draft.column(o.column.Name)
	o.absent, o.levels = newAbsent(draft, c), map[string]string{}
	if c.Kind == Categorical {
		for _, l := range stated(o.column) {
			o.levels[o.folded(l)] = l
		}
	}
	switch c.Kind {
	case Numeric:
		n := newNumber(c, o.absent)
		o.number = n.value
	case Date:
		days := newDays(c)
		o.origin = c.Origin
		o.number = func(text string) (float64, bool, error) {
			if o.absent.is(text) {
				return 0, false, nil
			}
			day, err := days.number(text)
			return day, err == nil, err
		}
	}
}

// add takes a field.
func (o *observed) add(text string) error {
	if o.number == nil {
		if !o.absent.is(text) {
			return o.level(text)
		}
		return nil
	}
	x, ok, err := o.number(text)
	if err != nil {
		if o.column.Kind == Date {
			return valueError(o.column.Name, "%s is no day as the schema's layouts write one", quote(text))
		}
		return err
	}
	if !ok {
		return nil
	}
	if !o.some {
		o.low, o.high, o.some = x, x, true
	}
	o.low, o.high = math.Min(o.low, x), math.Max(o.high, x)
	if o.column.Quantiles > 0 {
		o.all = append(o.all, x)
	}
	return nil
}

func (o *observed) level(text string) error {
	if _, ok := o.levels[o.folded(text)]; ok {
		return nil
	}
	if len(o.levels) == mostObserved {
		return valueError(o.column.Name, "has more than %d texts; state the levels that matter, and one as \"other\"", mostObserved)
	}
	text = strings.Clone(text)
	o.levels[strings.Clone(o.folded(text))] = text
	return nil
}

func (o *observed) folded(text string) string {
	if o.column.FoldCase {
		return fold(text)
	}
	return text
}

// fill writes into the column what was seen.
func (o *observed) fill() error {
	c := o.column
	c.Observed = true
	if c.Kind == Categorical {
		return o.fillLevels()
	}
	if !(o.low < o.high) {
		return fmt.Errorf("%w: column %s: has no two different numbers in the rows; make it ignored, or state its range", ErrSchema, quote(c.Name))
	}
	if c.Kind == Date {
		day := func(d float64) string {
			first, _ := time.Parse(isoDay, o.origin) // it is valid
			return first.AddDate(0, 0, int(d)).Format(isoDay)
		}
		if c.From, c.To = day(math.Floor(o.low)), day(math.Ceil(o.high)); c.Origin == "" {
			c.Origin = c.From
		}
		return nil
	}
	if len(c.Range) == 0 {
		c.Range = []float64{o.low, o.high}
	}
	c.Knots, c.Quantiles = append(c.Knots, o.quantiles(c)...), 0
	slices.Sort(c.Knots)
	c.Knots = slices.Compact(c.Knots)
	return nil
}

// quantiles are as many knots, at equal parts of the rows, strictly inside the range.
func (o *observed) quantiles(c *Column) (knots []float64) {
	slices.Sort(o.all)
	for k := range c.Quantiles {
		v := o.all[(k+1)*len(o.all)/(c.Quantiles+1)]
		if v > c.Range[0] && v < c.Range[1] && (len(knots) == 0 || v > knots[len(knots)-1]) {
			knots = append(knots, v)
		}
	}
	return knots
}

// fillLevels lists the texts, the first spelling of each; those that the column names needn't be among the rows.
func (o *observed) fillLevels() error {
	c := o.column
	if len(o.levels) < 2 {
		return fmt.Errorf("%w: column %s: has no two different texts in the rows; make it ignored, or state its levels", ErrSchema, quote(c.Name))
	}
	c.Levels = slices.Sorted(maps.Values(o.levels))
	return nil
}

// Observed reports whether some of what the schema says of its columns was taken from the rows.
func (s Schema) Observed() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool { return c.Observed })
}
