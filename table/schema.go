package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Version is the version of the schema's JSON format that this package writes and
// reads.
const Version = 1

// Schema says what is publicly known of a table: which column is the label, what the
// others may hold, and how they become features. All of it must be known without
// looking at the rows; the package's documentation says why, and shows the JSON.
type Schema struct {
	// Version is that of the format, [Version]; it must be given.
	Version int `json:"version"`
	// Label names the column to predict, of kind [Numeric], [Count], [Binary] or, with three
	// levels or more, [Categorical].
	Label string `json:"label"`
	// Person names the column that tells whose row it is, of kind [ID], and MaxRows is
	// how many rows of one person count, at most 1000 unless PersonsAlike: reading doesn't enforce it, training does. Both are given
	// or neither.
	Person  string `json:"person,omitempty"`
	MaxRows int    `json:"max_rows,omitempty"`
	// Persons is how many persons there are, those without rows among them, from public
	// knowledge. 0 stands for those who occur in the file: their number is then public, too.
	Persons int `json:"persons,omitempty"`
	// AtMost is a public bound on the number of rows, or of persons where Person is given, which then is
	// secret: the guarantee is for one more or less of them, and takes a budget of add/remove. 0 stands for a public
	// number, and one that is replaced.
	AtMost int `json:"at_most,omitempty"`
	// PersonsAlike has each person count alike, whatever the number of rows: a row counts 1 over that number, and what is
	// estimated is a mean over persons. Else each row counts.
	PersonsAlike bool `json:"persons_alike,omitempty"`
	// Private names what of a row is to be protected, where that isn't all of it: the label, which is all that may be named. Then who is in the
	// table and all other columns are public, and may show in what is released. Reading doesn't depend on it; whoever fits makes
	// a budget of it, as dpglm.Budget.LabelsOnly.
	Private []string `json:"private,omitempty"`
	// Exposure names the column of how long, or how much, a row was at risk: [Numeric]
	// with a range above 0 and no transformation.
	Exposure string `json:"exposure,omitempty"`
	// Offset names, in the place of Exposure, the column of what is added to a row's score: the logarithm of an exposure, which the
	// file has already. [Numeric] with a range within ±100 and no transformation.
	Offset string `json:"offset,omitempty"`
	// Followup says that records are times at risk, which end by the event that the label tells of, or without it.
	Followup *Followup `json:"followup,omitempty"`
	// Weight names the column of how much a row counts, as in samples and surveys: [Numeric] with a range from 0 or above, and no
	// transformation. Its upper end is what a row counts at most, and what noise is for: a row of a thousandth of it counts a thousandth.
	Weight string `json:"weight,omitempty"`
	// Decimal is what numbers of a file have before their fraction: "." or, as in much of Europe, ","; empty is ".". A "thousands" is
	// another character.
	Decimal string `json:"decimal,omitempty"`
	// Encoding is that of a text file's characters: "utf-8", which empty stands for, or "windows-1252", of which "iso-8859-1" is a part.
	Encoding string `json:"encoding,omitempty"`
	// Where are conditions on records: who doesn't fulfil all of them isn't there, in training. They come before all else, and whether a
	// record fulfils them is public: n and the guarantee are of those who do.
	Where []Condition `json:"where,omitempty"`
	// Missing lists the texts that stand for a missing value, none if it is empty; nil
	// is DefaultMissing. An empty field and a database's NULL are always missing.
	Missing []string `json:"missing,omitzero"`
	// Columns are those of the table, by name: their order is that of the features,
	// not that of the file. Columns that aren't listed are left out.
	Columns []Column `json:"columns"`
	// Interactions are pairs of columns whose product becomes features as well: two different
	// ones, of any kind that has features, but without knots. A schema makes at most 2^20
	// features.
	Interactions [][]string `json:"interactions,omitempty"`
}

// Condition is what a record's field of a column must be: a number From one To another, both included and either left out, or one of
// the texts In, in any case of their letters where the column has FoldCase. A [Date] is a number of days after its Origin. An empty field, or one that is no number where numbers are asked for, fulfils none.
type Condition struct {
	Column string   `json:"column"` // of the file, whether or not the schema has it
	From   *float64 `json:"from,omitempty"`
	To     *float64 `json:"to,omitempty"`
	In     []string `json:"in,omitempty"`
}

// Followup says that a record is a time at risk, which ends by the event that the label tells of, or without it: a survival time. Read makes
// episodes of it, one for each period between two cuts in which the record is at risk: rows of a [Count] of events, 0 or 1, with the
// time at risk as exposure and the period as a feature. A Poisson model of these is a model of hazards, which are constant within
// a period, and its coefficients are logarithms of hazard ratios. Interactions with [PeriodColumn] let a column's ratio differ between periods. All episodes of a record are a person's, unless the schema names persons; all
// records are counted then, also those that are never at risk between the cuts. MaxRows are records of a person, and Episodes has as many times the
// periods.
type Followup struct {
	// Start and End name the columns of when the time at risk begins and ends, numbers in one unit. Start may be left out for 0.
	Start string `json:"start,omitempty"`
	End   string `json:"end"`
	// Cuts are the ends of periods, ascending, at least two: what is before the first and after the last isn't looked at. They are public.
	Cuts []float64 `json:"cuts"`
}

// PeriodColumn is what a [Followup] calls the column of an episode's period, whose levels are as "0 to 1".
const PeriodColumn = "period"

// What else episodes have beside a record's columns.
const (
	timeColumn   = "time at risk"
	recordColumn = "record at risk"
)

// What a schema may say of a file's text.
const (
	point   = "."
	comma   = ","
	utf8Is  = "utf-8"
	windows = "windows-1252"
	latin1  = "iso-8859-1" // a part of it
)

// Kind says what a column holds.
type Kind string

// The kinds of columns.
const (
	Numeric     Kind = "numeric"     // numbers in a public range
	Count       Kind = "count"       // whole numbers from 0 to a cap: for the label
	Categorical Kind = "categorical" // one of a few public levels
	Binary      Kind = "binary"      // yes or no
	OneHot      Kind = "onehot"      // columns of 0 and 1 that belong together
	Date        Kind = "date"        // a day in a public range
	ID          Kind = "id"          // whose row it is: for the person's column
	Ignored     Kind = "ignored"     // read by nobody
)

// Missing says what becomes of a missing value.
type Missing string

// The rules for missing values.
const (
	// MissingRefuse makes it an error, as does the empty rule.
	MissingRefuse Missing = "refuse"
	// MissingIndicator adds a feature that is 1 where the value is missing. The value
	// itself reads as the middle of its range, or as negative.
	MissingIndicator Missing = "indicator"
	// MissingLevel makes it a level of its own, named "missing", of a Categorical.
	MissingLevel Missing = "level"
	// MissingConstant reads Column.Constant in its place.
	MissingConstant Missing = "constant"
)

// missingLevel is the name of the level that MissingLevel adds.
const missingLevel = "missing"

// DefaultMissing are the texts that stand for a missing value unless a schema says
// otherwise: NA, N/A, n/a, #N/A, <NA>, NaN, nan, NULL, null and None, in these cases only.
// A level may not be one of them: a schema that needs it as a level lists its own.
func DefaultMissing() []string {
	return []string{"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"}
}

// Column says what is publicly known of one column. Which fields there are depends on
// its kind; the others must be absent.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`

	// Range is [lo, hi] of a Numeric, within ±1e60; values outside are clamped.
	Range []float64 `json:"range,omitempty"`
	// Log takes the logarithm of a Numeric, whose lo must be above 0, before all else.
	Log bool `json:"log,omitempty"`
	// Square adds the square of a Numeric without Knots.
	Square bool `json:"square,omitempty"`
	// Knots, inside the range of a Numeric and ascending, at most 100, put a cubic spline in
	// the place of a straight line.
	Knots []float64 `json:"knots,omitempty"`
	// Quantiles asks [Observe] for so many knots, at most 100, at equal parts of the rows. A schema to read with has none.
	Quantiles int `json:"quantiles,omitempty"`
	// Observed says that range, knots, days or levels of a feature were taken from the rows: see [Observe]. It needs Schema.Private.
	Observed bool `json:"observed,omitempty"`

	// Thousands is what may separate the thousands of a number: "," reads "1,893.06".
	// It may also be "'" or a space, which stand for the typographic apostrophe and for spaces that don't break or are thin, too.
	Thousands string `json:"thousands,omitempty"`

	// Cap is the largest Count, 1 or more; larger ones are clamped to it.
	Cap int `json:"cap,omitempty"`

	// Levels are the texts that a Categorical may hold, at least two, of a label three; or the
	// levels of a OneHot, each of which has a column in the file, at least two.
	Levels []string `json:"levels,omitempty"`
	// Reference is the level that gets no feature: the others' coefficients are
	// differences from it. Empty is the first level of a Categorical; of a OneHot it is
	// none of them, so that the coefficients are differences from a row of zeros. Of a
	// label it is the level whose coefficients the others' are differences from.
	Reference string `json:"reference,omitempty"`
	// Prefix is what the names of a OneHot's columns begin with, before the level; nil
	// is its own name and "=", as in "region=north".
	Prefix *string `json:"prefix,omitempty"`
	// Other is the one of Levels that stands for all texts that aren't listed. Empty
	// refuses them.
	Other string `json:"other,omitempty"`
	// Ordered says that the levels of a Categorical label ascend as they are listed, as
	// losses.Ordinal wants them. Shares are how many of the rows each of them is publicly
	// expected to have, in any unit, and none below a millionth of their sum: a guess, from
	// which losses.OrdinalFromFractions makes thresholds. Where there is none, the loss with Levels alone
	// has them estimated.
	Ordered bool      `json:"ordered,omitempty"`
	Shares  []float64 `json:"shares,omitempty"`

	// FoldCase reads the texts of a Categorical or a Binary in any case of their letters,
	// by Unicode's simple folding.
	FoldCase bool `json:"fold_case,omitempty"`

	// Positive and Negative are the texts that mean yes and no in a Binary.
	Positive []string `json:"positive,omitempty"`
	Negative []string `json:"negative,omitempty"`
	// Above takes their place in a Binary label that is a number in the file: yes is what
	// lies above it.
	Above *float64 `json:"above,omitempty"`

	// Origin is day 0 of a Date, and From and To are its range, all as 2006-01-02.
	Origin string `json:"origin,omitempty"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	// Layouts are the ways in which the file writes a Date, each shown by how it would
	// write 2 January 2006: "02.01.2006". Empty is 2006-01-02.
	Layouts []string `json:"layouts,omitempty"`

	// Per is a step of a Numeric without Log, Square and Knots, or in days of a Date, within
	// [1e-60, 1e60]: coefficients are shown for so many units, too, such as ten years. It
	// changes nothing else; 0 states none.
	Per float64 `json:"per,omitempty"`

	// Missing says what becomes of a missing value; empty refuses it. Constant is what
	// MissingConstant reads in its place, written as in the file.
	Missing  Missing `json:"missing,omitempty"`
	Constant string  `json:"constant,omitempty"`

	// After all that JSON has:
	decimalComma bool // as the schema's Decimal says
	made         bool // of a Followup, so that no text stands for a missing value
}

func kinds() []string {
	return []string{string(Numeric), string(Count), string(Categorical), string(Binary), string(OneHot), string(Date), string(ID), string(Ignored)}
}

// String returns the schema as JSON, a column a line.
func (s Schema) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"version\": %d,\n  \"label\": %s", s.Version, compact(s.Label))
	if s.Person != "" {
		fmt.Fprintf(&b, ",\n  \"person\": %s", compact(s.Person))
	}
	if s.MaxRows != 0 {
		fmt.Fprintf(&b, ",\n  \"max_rows\": %d", s.MaxRows)
	} else if s.Person != "" {
		fmt.Fprintf(&b, ",\n  \"max_rows\": %s", blank("the most rows of a person that count, a number"))
	}
	if s.Persons != 0 {
		fmt.Fprintf(&b, ",\n  \"persons\": %d", s.Persons)
	}
	if s.AtMost != 0 {
		fmt.Fprintf(&b, ",\n  \"at_most\": %d", s.AtMost)
	}
	if s.PersonsAlike {
		b.WriteString(",\n  \"persons_alike\": true")
	}
	if len(s.Private) > 0 {
		fmt.Fprintf(&b, ",\n  \"private\": %s", compact(s.Private))
	}
	if s.Exposure != "" {
		fmt.Fprintf(&b, ",\n  \"exposure\": %s", compact(s.Exposure))
	}
	if s.Weight != "" {
		fmt.Fprintf(&b, ",\n  \"weight\": %s", compact(s.Weight))
	}
	for _, f := range []struct {
		key  string
		of   any
		zero bool
	}{{"offset", s.Offset, s.Offset == ""}, {"followup", s.Followup.orBlank(), s.Followup == nil}, {"decimal", s.Decimal, s.Decimal == ""}, {"encoding", s.Encoding, s.Encoding == ""}, {"where", s.Where, len(s.Where) == 0}, {"missing", s.Missing, s.Missing == nil}} {
		if !f.zero {
			fmt.Fprintf(&b, ",\n  %q: %s", f.key, compact(f.of))
		}
	}
	b.WriteString(",\n  \"columns\": [")
	lines(&b, s.Columns, func(c Column) string { return withBlanks(compact(c), c.blanks()) })
	b.WriteString("]")
	if len(s.Interactions) > 0 {
		b.WriteString(",\n  \"interactions\": [")
		lines(&b, s.Interactions, func(pair []string) string { return compact(pair) })
		b.WriteString("]")
	}
	b.WriteString("\n}\n")
	return b.String()
}

// lines writes the elements of a JSON list, each on a line of its own.
func lines[T any](b *bytes.Buffer, list []T, text func(T) string) {
	for i, v := range list {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n    " + text(v))
	}
	if len(list) > 0 {
		b.WriteString("\n  ")
	}
}

// compact is JSON on one line, with a space after commas and colons. What JSON can't
// hold, such as a NaN that Validate would refuse, is shown as Go does.
func compact(v any) string {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return strconv.Quote(fmt.Sprintf("%+v", v))
	}
	var b strings.Builder
	inside, escaped := false, false
	for _, c := range strings.TrimSuffix(raw.String(), "\n") {
		b.WriteRune(c)
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside && (c == ',' || c == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// column returns the column of that name, nil if there is none.
func (s *Schema) column(name string) *Column {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return &s.Columns[i]
		}
	}
	return nil
}

// feature reports whether features are made of the column.
func (s *Schema) feature(c *Column) bool {
	switch c.Kind {
	case Numeric, Categorical, Binary, OneHot, Date:
		return c.Name != s.Label && c.Name != s.AtRisk() && c.Name != s.Weight
	}
	return false
}

// AtRisk names the column of the exposure, or of the offset in its place; it is empty where the schema has neither.
func (s Schema) AtRisk() string { return cmp.Or(s.Exposure, s.Offset) }

// LabelColumn returns the label's column; its zero value if the schema has none.
func (s Schema) LabelColumn() Column {
	if c := s.column(s.Label); c != nil {
		return *c
	}
	return Column{}
}

// clone returns a schema that shares no memory with s.
func (s Schema) clone() Schema {
	if s.Followup != nil {
		f := *s.Followup
		f.Cuts = slices.Clone(f.Cuts)
		s.Followup = &f
	}
	s.Missing = slices.Clone(s.Missing)
	s.Where = slices.Clone(s.Where)
	for i := range s.Where {
		c := &s.Where[i]
		c.In = slices.Clone(c.In)
		for _, end := range []**float64{&c.From, &c.To} {
			if *end != nil {
				v := **end
				*end = &v
			}
		}
	}
	s.Columns, s.Private = slices.Clone(s.Columns), slices.Clone(s.Private)
	for i := range s.Columns {
		c := &s.Columns[i]
		c.Range, c.Knots = slices.Clone(c.Range), slices.Clone(c.Knots)
		c.Levels, c.Positive, c.Negative = slices.Clone(c.Levels), slices.Clone(c.Positive), slices.Clone(c.Negative)
		c.Layouts, c.Shares = slices.Clone(c.Layouts), slices.Clone(c.Shares)
		if c.Above != nil {
			above := *c.Above
			c.Above = &above
		}
		if c.Prefix != nil {
			prefix := *c.Prefix
			c.Prefix = &prefix
		}
	}
	s.Interactions = slices.Clone(s.Interactions)
	for i, pair := range s.Interactions {
		s.Interactions[i] = slices.Clone(pair)
	}
	return s
}

// parse reads a number as the column has them.
func (c *Column) parse(text string) (float64, error) {
	point := "."
	if c.decimalComma {
		point = ","
	}
	if c.Thousands != "" {
		text = withoutThousands(plainSeparators(text), plainSeparators(c.Thousands), point)
	}
	return parseNumber(text, c.decimalComma)
}

// parseNumber reads a number with a point, or a comma, before its fraction.
func parseNumber(text string, comma bool) (float64, error) {
	if comma {
		if strings.Contains(text, ".") {
			return 0, strconv.ErrSyntax
		}
		text = strings.Replace(text, ",", ".", 1)
	}
	if x, ok := plainDecimal(text); ok {
		return x, nil
	}
	return parseFloat(text)
}

func (s *Schema) missingTexts() []string {
	if s.Missing == nil {
		return DefaultMissing()
	}
	return s.Missing
}

// members are the file's columns of a OneHot, one for each level.
func (c *Column) members() []string {
	prefix := c.Name + "="
	if c.Prefix != nil {
		prefix = *c.Prefix
	}
	names := make([]string, len(c.Levels))
	for i, level := range c.Levels {
		names[i] = prefix + level
	}
	return names
}

// files are the columns of the file that a column of the schema stands for.
func (c *Column) files() []string {
	if c.Kind == OneHot {
		return c.members()
	}
	return []string{c.Name}
}

// reference is the level without a feature; empty if all have one.
func (c *Column) reference() string {
	if c.Reference != "" || c.Kind == OneHot {
		return c.Reference
	}
	return c.Levels[0]
}

// fieldNames are the JSON keys of a struct's fields, all of which have one.
func fieldNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			continue
		}
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func (s *Schema) names() []string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	return names
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
