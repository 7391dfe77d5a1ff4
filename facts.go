package dpglm

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/curator"
	"github.com/dpglm/dpglm/table"
)

// Facts are public facts about a matrix's columns and its labels: Bounds or a
// Schema. They must not be derived from the data, but by table.Observe where labels alone are private.
type Facts interface {
	encoding(columns int) (curator.Encoding, error)
	// labels returns the middle of the labels' public range and half its width, 0 and
	// 0 where none was given.
	labels() (centre, bound float64, err error)
	intercept() bool
}

// Bounds are the plainest facts: a bound on each row's norm.
type Bounds struct {
	// Feature bounds each row's L2 norm; longer rows are scaled down to it. There is no
	// default.
	Feature float64 `json:"feature"`
	// LabelRange is the public range [lo, hi] that labels are clamped to; zeros mean
	// not given. Learners see real labels less its middle, and predictions are on the
	// labels' own scale: a range on one side of 0 makes half the noise that a bound
	// does, as far as noise grows with the bound. That of counts and amounts must begin at 0.
	// Binary losses don't read it.
	LabelRange [2]float64 `json:"label_range,omitzero"`
	// Label Y is short for the range [−Y, Y] of real labels and [0, Y] of counts and amounts; 0
	// means not given. Only one of the two may be given.
	Label float64 `json:"label,omitempty"`
	// Intercept appends the constant 1 to each row.
	Intercept bool `json:"intercept,omitempty"`
}

func (b Bounds) labels() (centre, bound float64, err error) {
	return labelsIn("Bounds", b.Label, b.LabelRange)
}

func (b Bounds) intercept() bool { return b.Intercept }

func (b Bounds) encoding(columns int) (curator.Encoding, error) {
	if err := check.Bound("Bounds.Feature", b.Feature); err != nil {
		return curator.Encoding{}, err
	}
	return curator.NewIdentity(columns, b.Feature, b.Intercept), nil
}

// Schema describes each column: numeric ranges, mapped linearly to [−1, 1], and
// groups of one-hot columns. With p numeric columns and g groups, a row's norm
// is at most √(p+g) however many columns the groups have; it is enforced.
type Schema struct {
	// Columns are the names of the matrix's columns, in their order; each is in Numeric or in one
	// group of OneHot.
	Columns []string `json:"columns"`
	// Numeric gives the public range [min, max] of a column, within ±1e60; values outside
	// are clamped.
	Numeric map[string][2]float64 `json:"numeric,omitempty"`
	// OneHot gives the columns of each group, of which a row has at most one
	// equal to 1 and the others 0; any other value is an error, in training and
	// in prediction.
	OneHot map[string][]string `json:"onehot,omitempty"`
	// LabelRange, Label and Intercept are as in Bounds.
	LabelRange [2]float64 `json:"label_range,omitzero"`
	Label      float64    `json:"label,omitempty"`
	Intercept  bool       `json:"intercept,omitempty"`
}

func (s Schema) labels() (centre, bound float64, err error) {
	return labelsIn("Schema", s.Label, s.LabelRange)
}

func (s Schema) intercept() bool { return s.Intercept }

func (s Schema) encoding(columns int) (curator.Encoding, error) {
	if len(s.Columns) != columns {
		return curator.Encoding{}, check.Fail(ErrSchema, "len(Schema.Columns)", len(s.Columns), fmt.Sprintf("must equal the %d columns of the matrix", columns))
	}
	return curator.NewSchema(s.Columns, s.Numeric, s.OneHot, s.Intercept)
}

// labelsIn returns the middle of the labels' range and half its width. Rounding may
// move the ends a little: labels are held to the range that the two numbers make.
func labelsIn(facts string, bound float64, ends [2]float64) (float64, float64, error) {
	lo, hi := ends[0], ends[1]
	switch {
	case ends == [2]float64{} && bound == 0:
		return 0, 0, nil
	case ends == [2]float64{}:
		return 0, bound, check.Bound("label bound", bound)
	case bound != 0:
		return 0, 0, check.Fail(ErrBound, facts+".LabelRange", ends, "must not be given beside Label")
	case !(lo < hi && -lo <= check.MaxScale && hi <= check.MaxScale):
		return 0, 0, check.Fail(ErrBound, facts+".LabelRange", ends, fmt.Sprintf("must be two numbers within ±%g, the first below the second", check.MaxScale))
	}
	return (lo + hi) / 2, (hi - lo) / 2, check.Bound("half the width of "+facts+".LabelRange", (hi-lo)/2)
}

// tableFacts are those of rows that an encoder made of records, all of which follow from
// its schema.
type tableFacts struct {
	Bounds
	encoder *table.Encoder
}

func newTableFacts(e *table.Encoder) tableFacts {
	return tableFacts{Bounds{Feature: e.Bound(), LabelRange: e.Label().Range, Intercept: true}, e}
}

func (f tableFacts) encoding(columns int) (curator.Encoding, error) {
	if features := len(f.encoder.Features()); columns != features {
		return curator.Encoding{}, check.Fail(ErrSchema, "features of the table's schema", features, "must equal the number of the matrix's columns")
	}
	return f.Bounds.encoding(columns)
}

// ownFacts returns a copy of the facts that the caller cannot change.
func ownFacts(facts Facts) (Facts, error) {
	switch f := facts.(type) {
	case Bounds, tableFacts:
		return f, nil
	case Schema:
		f.Columns = slices.Clone(f.Columns)
		f.Numeric = maps.Clone(f.Numeric)
		f.OneHot = maps.Clone(f.OneHot)
		for group, names := range f.OneHot {
			f.OneHot[group] = slices.Clone(names)
		}
		return f, nil
	}
	return nil, check.Fail(ErrConfig, "facts", fmt.Sprintf("%T", facts), "must be a Bounds or a Schema")
}

// sameFeatures reports whether two facts make the same features of a row.
func sameFeatures(a, b Facts) bool {
	switch a := a.(type) {
	case Bounds:
		b, ok := b.(Bounds)
		return ok && a.Feature == b.Feature && a.Intercept == b.Intercept
	case Schema:
		b, ok := b.(Schema)
		return ok && slices.Equal(a.Columns, b.Columns) && maps.Equal(a.Numeric, b.Numeric) &&
			maps.EqualFunc(a.OneHot, b.OneHot, slices.Equal) && a.Intercept == b.Intercept
	case tableFacts:
		b, ok := b.(tableFacts)
		return ok && ofFeatures(a) == ofFeatures(b)
	}
	return false
}

// ofFeatures is what a table's schema says of features and label, and nothing of whose rows they are, nor of how
// coefficients are shown.
func ofFeatures(f tableFacts) string {
	s := f.encoder.Schema()
	s.Person, s.MaxRows, s.Persons, s.PersonsAlike, s.AtMost, s.Private = "", 0, 0, false, 0, nil
	s.Encoding, s.Where, s.Decimal = "", nil, ""
	weight := s.Weight
	s.Weight = ""
	for i := range s.Columns {
		s.Columns[i].Thousands = ""
	}
	s.Columns = slices.DeleteFunc(s.Columns, func(c table.Column) bool { return c.Kind == table.ID || c.Kind == table.Ignored || c.Name == weight })
	for j := range s.Columns {
		s.Columns[j].Per, s.Columns[j].Observed = 0, false
	}
	return s.String()
}

func encoderOf(facts Facts) *table.Encoder {
	f, _ := facts.(tableFacts)
	return f.encoder
}

// levelsOfLabel are those of a table's label, nil where there are none.
func levelsOfLabel(facts Facts) []string {
	if e := encoderOf(facts); e != nil {
		return e.Label().Levels
	}
	return nil
}

// levelNames are a schema's, or numbers.
func levelNames(facts Facts, k int) []string {
	if levels := levelsOfLabel(facts); levels != nil {
		return levels
	}
	names := make([]string, k)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}

// levelsOf are the columns of each group of levels, by public facts, in ascending order.
func levelsOf(facts Facts) [][]int {
	if schema, ok := facts.(Schema); ok && len(schema.OneHot) > 0 {
		return levelsAmong(features(schema, len(schema.Columns)))
	}
	if e := encoderOf(facts); e != nil {
		return levelsAmong(e.Features())
	}
	return nil
}

// rangedOf are the columns, in ascending order, that have a public range other than 0 to 1, which zeros and ones have: it may be too wide.
func rangedOf(facts Facts) (columns []int) {
	ranges := map[string][2]float64{}
	var list []table.Feature
	if schema, ok := facts.(Schema); ok {
		ranges, list = schema.Numeric, features(schema, len(schema.Columns))
	} else if e := encoderOf(facts); e != nil {
		for _, c := range e.Schema().Columns {
			if (c.Kind == table.Numeric || c.Kind == table.Date) && len(c.Knots) == 0 {
				ranges[c.Name] = [2]float64{}
				if len(c.Range) == 2 { // dates have days
					ranges[c.Name] = [2]float64(c.Range)
				}
			}
		}
		list = e.Features()
	}
	for j, f := range list {
		for k, name := range f.Columns {
			if r, ranged := ranges[name]; ranged && f.Levels[k] == "" && r != [2]float64{0, 1} {
				columns = append(columns, j)
				break
			}
		}
	}
	return columns
}

func levelsAmong(features []table.Feature) (groups [][]int) {
	at := map[int]int{} // by block
	for j, f := range features {
		if !f.OneHot {
			continue
		}
		k, ok := at[f.Block]
		if !ok {
			k = len(groups)
			at[f.Block], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], j)
	}
	return groups
}

// places are those of the columns, by their names; none without groups of levels.
func (s Schema) places() map[string]int {
	if len(s.OneHot) == 0 {
		return nil
	}
	at := make(map[string]int, len(s.Columns))
	for j, name := range s.Columns {
		at[name] = j
	}
	return at
}
