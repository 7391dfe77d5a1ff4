package table

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dpglm/dpglm/internal/check"
)

const maxKnots = 100

// Validate reports all that is wrong with a schema, or left to fill in, each with what
// is allowed. It is nil for a schema that can be read with.
func (s Schema) Validate() error {
	s = s.clone()
	s.spread()
	v := validator{s: &s}
	v.schema()
	for i := range s.Columns {
		v.column(&s.Columns[i], i)
	}
	v.members()
	v.roles()
	v.interactions()
	if len(v.problems) == 0 {
		v.features()
	}
	return errors.Join(v.problems...)
}

// validator collects what is wrong.
type validator struct {
	s        *Schema
	problems []error
}

func (v *validator) fail(where, format string, args ...any) {
	v.problems = append(v.problems, fmt.Errorf("%w: %s: %s", ErrSchema, where, fmt.Sprintf(format, args...)))
}

func (v *validator) schema() {
	s := v.s
	switch s.Version {
	case Version:
	case 0:
		v.fail(`"version"`, `is missing; write "version": %d`, Version)
	default:
		v.fail(`"version"`, "is %d; this library reads version %d only", s.Version, Version)
	}
	if len(s.Columns) == 0 {
		v.fail(`"columns"`, "is empty; list the table's columns, each with its name and kind")
	}
	seen := map[string]bool{}
	for i, c := range s.Columns {
		switch {
		case c.Name == "":
			v.fail(fmt.Sprintf(`"columns", element %d`, i+1), "has no name")
		case seen[c.Name]:
			v.fail("column "+quote(c.Name), "is listed twice; describe it once")
		}
		seen[c.Name] = true
	}
	v.texts(`"missing"`, s.Missing)
	checkFile(v)
}

// texts checks a list of texts that fields are compared with: spaces around a field
// don't count, so a text with some would never occur.
func (v *validator) texts(where string, texts []string) {
	seen := map[string]bool{}
	for _, t := range texts {
		switch {
		case t == "":
			v.fail(where, "holds an empty text; an empty field is a missing value already")
		case strings.TrimSpace(t) != t:
			v.fail(where, "holds %s; write it without the spaces around it, which are removed from fields too", quote(t))
		case !utf8.ValidString(t):
			v.fail(where, "holds %s, which is not UTF-8", quote(t))
		case seen[t]:
			v.fail(where, "holds %s twice", quote(t))
		}
		seen[t] = true
	}
}

func (v *validator) column(c *Column, i int) {
	where := "column " + quote(c.Name)
	if c.Name == "" {
		where = fmt.Sprintf("column %d", i+1)
	} else if strings.TrimSpace(c.Name) != c.Name || !utf8.ValidString(c.Name) {
		v.fail(where, "must be UTF-8 and without spaces around it")
	}
	if !slices.Contains(kinds(), string(c.Kind)) {
		what := `"kind" is ` + quote(string(c.Kind))
		switch {
		case c.Kind == "":
			what = `"kind" is missing`
		case isBlank(string(c.Kind)):
			what = `"kind" is still to be filled in`
		}
		v.fail(where, "%s; it must be %s", what, list(kinds(), "or"))
		return
	}
	v.foreign(where, c)
	if point := cmp.Or(v.s.Decimal, "."); c.Thousands != "" && (!slices.Contains(separators, plainSeparators(c.Thousands)) || c.Thousands == point) {
		others := slices.DeleteFunc(slices.Clone(separators), func(s string) bool { return s == point })
		v.fail(where, `"thousands" is %s; it must be %s, other than what stands before a fraction`, quote(c.Thousands), list(quoted(others), "or"))
	}
	switch c.Kind {
	case Numeric:
		v.numeric(where, c)
	case Count:
		if c.Cap < 1 {
			v.fail(where, `"cap" is %d; it must be a public number of 1 or more, to which larger counts are clamped`, c.Cap)
		}
	case Categorical:
		v.categorical(where, c)
	case Binary:
		v.binary(where, c)
	case OneHot:
		v.oneHot(where, c)
	case Date:
		v.date(where, c)
	}
	checkStep(v, where, c)
	checkObserved(v, where, c)
	v.missing(where, c)
	if c.Missing != "" && c.Name != "" && c.Name == v.s.Weight {
		v.fail(where, `has "missing", and is the schema's "weight", which may not be missing; leave it out`)
	}
}

// keysOf are the fields that a column of each kind may have beside name and kind.
var keysOf = map[Kind][]string{
	Numeric:     {"range", "log", "square", "knots", "quantiles", "observed", "thousands", "per", "missing", "constant"},
	Count:       {"cap", "thousands", "missing"},
	Categorical: {"levels", "reference", "other", "ordered", "shares", "fold_case", "observed", "missing", "constant"},
	Binary:      {"positive", "negative", "above", "fold_case", "thousands", "missing", "constant"},
	OneHot:      {"levels", "reference", "prefix"},
	Date:        {"origin", "from", "to", "layouts", "observed", "per", "missing", "constant"},
	ID:          {"missing"},
	Ignored:     {},
}

// foreign looks for fields of other kinds.
func (v *validator) foreign(where string, c *Column) {
	value := reflect.ValueOf(*c)
	for i, key := range fieldNames(value.Type()) {
		if key == "name" || key == "kind" || value.Field(i).IsZero() || slices.Contains(keysOf[c.Kind], key) {
			continue
		}
		v.fail(where, "has %q, which is not for the kind %s; it may have %s", key, c.Kind, list(keysOf[c.Kind], "and"))
	}
}

func (v *validator) numeric(where string, c *Column) {
	if len(c.Range) == 0 {
		v.fail(where, `"range" is missing; give the public range [lo, hi] of its values, which are clamped to it, such as [18, 100]%s`, orObserve(v.s, c))
		return
	}
	if !v.interval(where, c.Range) {
		return
	}
	lo, hi := c.Range[0], c.Range[1]
	if c.Log && (lo <= 0 || math.Log(lo) == math.Log(hi)) {
		v.fail(where, `"log" needs a "range" above 0 in which logarithms differ, and it is %s; raise lo, to which smaller values are clamped`, compact(c.Range))
	}
	if c.Square && len(c.Knots) > 0 {
		v.fail(where, `has both "square" and "knots"; a spline bends already, so leave out "square"`)
	}
	if len(c.Knots) > maxKnots {
		v.fail(where, `"knots" are %d; at most %d are allowed`, len(c.Knots), maxKnots)
	}
	last := lo
	for _, k := range c.Knots {
		if !(k > last && k < hi) {
			v.fail(where, `"knots" are %s; they must ascend, strictly inside the range %s`, compact(c.Knots), compact(c.Range))
			break
		}
		last = k
	}
}

// orObserve says how else a column may get what it lacks.
func orObserve(s *Schema, c *Column) string {
	if s.Private == nil || !s.observable(c) {
		return ""
	}
	return "; or have it taken from the rows, as the label alone is private: Observe, or csvfit observe"
}

// checkObserved checks what was taken from the rows, or is to be.
func checkObserved(v *validator, where string, c *Column) {
	if c.Observed && v.s.Private == nil {
		v.fail(where, `has "observed", and the schema has no "private": ranges and levels that were taken from the rows tell of them, and are for budgets that protect the label alone; state what is publicly known, without looking at the rows`)
	}
	if c.Observed && (c.Name == v.s.Label || c.Name == v.s.AtRisk() || c.Name == v.s.Weight) {
		v.fail(where, `has "observed"; of the label, an exposure, an offset and a weight the range must be stated`)
	}
	if c.Quantiles != 0 {
		v.fail(where, `has "quantiles", %d, which ask for knots that are taken from the rows: where the label alone is "private", Observe, or csvfit observe, finds them, at most %d; else give "knots"`, c.Quantiles, maxKnots)
	}
}

// checkStep checks the step for which coefficients are shown.
func checkStep(v *validator, where string, c *Column) {
	switch {
	case c.Per == 0:
	case !(c.Per >= check.MinScale && c.Per <= check.MaxScale):
		v.fail(where, `"per" is %s; it must be a positive number of units for which coefficients are shown, within [%g, %g]`, compact(c.Per), check.MinScale, check.MaxScale)
	case c.Kind == Numeric && (c.Log || c.Square || len(c.Knots) > 0):
		v.fail(where, `has "per" beside "log", "square" or "knots"; it is for straight lines, where each unit adds the same: leave it out`)
	}
}

// interval checks a range.
func (v *validator) interval(where string, r []float64) bool {
	ok := len(r) == 2 && r[0] >= -check.MaxScale && r[1] <= check.MaxScale && r[1]-r[0] >= check.MinScale
	if !ok {
		v.fail(where, `"range" is %s; it must be two finite numbers [lo, hi], lo below hi, within ±%g`, compact(r), check.MaxScale)
	}
	return ok
}

func (v *validator) categorical(where string, c *Column) {
	v.levels(where, c, `"levels" is missing; list the texts that it may hold, such as ["north", "south"], and name one of them as "other" if there may be more`+orObserve(v.s, c))
	if c.Missing == MissingLevel && slices.Contains(c.Levels, missingLevel) {
		v.fail(where, `has a level %q already; instead of "missing": "level" give "missing": "constant" and "constant": %q`, missingLevel, missingLevel)
	}
	v.notMissing(where, c, c.Levels)
	v.folded(where, c, c.Levels)
}

// folded refuses texts that are one where the case of letters doesn't matter.
func (v *validator) folded(where string, c *Column, texts []string) {
	seen := map[string]string{}
	for _, t := range texts {
		if first, dup := seen[fold(t)]; c.FoldCase && dup && first != t {
			v.fail(where, `has %s and %s, which are the same by "fold_case"; leave one out, or "fold_case"`, quote(first), quote(t))
		}
		seen[fold(t)] = t
	}
}

// levels checks the levels, and those that have a role.
func (v *validator) levels(where string, c *Column, ifNone string) {
	if len(c.Levels) == 0 {
		v.fail(where, "%s", ifNone)
		return
	}
	v.texts(where+`, "levels"`, c.Levels)
	if len(c.Levels) < 2 {
		v.fail(where, `"levels" has one level; there must be at least two, or nothing to learn`)
	}
	for _, role := range []struct{ key, level string }{{"reference", c.Reference}, {"other", c.Other}} {
		if role.level != "" && !slices.Contains(c.Levels, role.level) {
			v.fail(where, `%q is %s, which is not one of its levels%s; add it to "levels" or name another`, role.key, quote(role.level), didYouMean(role.level, c.Levels))
		}
	}
}

// notMissing refuses texts that stand for missing values as well.
func (v *validator) notMissing(where string, c *Column, texts []string) {
	missing := v.s.missingTexts()
	if c.made {
		missing = nil
	}
	for _, t := range texts {
		i := slices.IndexFunc(missing, func(m string) bool { return m == t || c.FoldCase && fold(m) == fold(t) })
		if i < 0 {
			continue
		}
		t = missing[i]
		if v.s.Missing == nil {
			v.fail(where, `%s stands for a missing value by default; give the schema a list "missing" of the texts that do, without it`, quote(t))
		} else {
			v.fail(where, `%s stands for a missing value by the schema's list "missing"; leave it out there or here`, quote(t))
		}
	}
}

func (v *validator) binary(where string, c *Column) {
	if c.Above != nil {
		v.threshold(where, c)
		return
	}
	if c.Thousands != "" {
		v.fail(where, `has "thousands", which is for numbers; give the label "above", or leave it out`)
	}
	v.folded(where, c, slices.Concat(c.Positive, c.Negative))
	for _, part := range []struct {
		key   string
		texts []string
	}{{"positive", c.Positive}, {"negative", c.Negative}} {
		if len(part.texts) == 0 {
			v.fail(where, `%q is missing; list the texts that mean so, such as "positive": ["yes"] and "negative": ["no"]`, part.key)
		}
		v.texts(fmt.Sprintf("%s, %q", where, part.key), part.texts)
		v.notMissing(where, c, part.texts)
	}
	for _, t := range c.Positive {
		if slices.Contains(c.Negative, t) {
			v.fail(where, "%s is both positive and negative", quote(t))
		}
	}
}

// threshold checks a Binary that is a number in the file.
func (v *validator) threshold(where string, c *Column) {
	switch {
	case c.Name != v.s.Label:
		v.fail(where, `has "above", which is for the label; a feature of the kind binary needs "positive" and "negative", or the kind numeric`)
	case len(c.Positive)+len(c.Negative) > 0:
		v.fail(where, `has "above" beside "positive" or "negative"; the label is a number or a text`)
	case c.FoldCase:
		v.fail(where, `has "above" beside "fold_case", which is for texts; leave one out`)
	case math.IsNaN(*c.Above) || math.IsInf(*c.Above, 0):
		v.fail(where, `"above" is %g; it must be a finite number`, *c.Above)
	}
}

func (v *validator) date(where string, c *Column) {
	v.layouts(where, c)
	days := map[string]int64{}
	for _, part := range []struct{ key, text string }{{"origin", c.Origin}, {"from", c.From}, {"to", c.To}} {
		day, err := parseDay(part.text)
		switch {
		case part.text == "":
			v.fail(where, `%q is missing; a date needs "origin" (day 0), "from" and "to" (its public range), each written as %s%s`, part.key, isoDay, orObserve(v.s, c))
			return
		case err != nil:
			v.fail(where, "%q is %s; it must be a day written as %s", part.key, quote(part.text), isoDay)
			return
		}
		days[part.key] = day
	}
	if days["from"] >= days["to"] {
		v.fail(where, `"from" is %s and "to" is %s; the first must be earlier`, c.From, c.To)
	}
}

// layouts checks how a column's dates are written: each layout alone, and that no text is one day by one and another by another.
func (v *validator) layouts(where string, c *Column) {
	for i, layout := range c.Layouts {
		if !readsDays(layout) {
			v.fail(where, `"layouts" has %s; write how the file would write 2 January 2006, such as "02.01.2006" or "1/2/2006"`, quote(layout))
			continue
		}
		if slices.Contains(c.Layouts[:i], layout) {
			v.fail(where, `"layouts" has %s twice`, quote(layout))
			continue
		}
		for _, before := range c.Layouts[:i] {
			if two, found := clashOf(before, layout); found && readsDays(before) {
				v.fail(where, `"layouts" has %s and %s, by which %s is two days, %s and %s; leave in the one that the file's dates are written by`,
					quote(before), quote(layout), quote(two.text), two.first.Format(isoDay), two.second.Format(isoDay))
			}
		}
	}
}

// missing checks the rule for missing values.
func (v *validator) missing(where string, c *Column) {
	rules := []string{string(MissingRefuse), string(MissingIndicator), string(MissingConstant)}
	if c.Kind == Categorical {
		rules[1] = string(MissingLevel) // which is an indicator
	}
	role := c.Kind == Count || c.Kind == ID || c.Name == v.s.Label || c.Name == v.s.AtRisk()
	switch {
	case c.Missing == "" || c.Missing == MissingRefuse:
	case role:
		v.fail(where, `"missing" is %s; values of the label, the person and the exposure may not be missing: leave it out`, quote(string(c.Missing)))
		return
	case !slices.Contains(rules, string(c.Missing)):
		v.fail(where, `"missing" is %s; for the kind %s it must be %s`, quote(string(c.Missing)), c.Kind, list(rules, "or"))
		return
	}
	if (c.Missing == MissingConstant) != (c.Constant != "") {
		v.fail(where, `"missing": "constant" and "constant" go together: the second is what is read where the value is missing`)
		return
	}
	if c.Constant != "" {
		v.constant(where, c)
	}
}

// constant checks that the constant is a value that the column may have.
func (v *validator) constant(where string, c *Column) {
	ok, want := true, ""
	switch c.Kind {
	case Numeric:
		x, err := c.parse(c.Constant)
		ok = err == nil && len(c.Range) == 2 && x >= c.Range[0] && x <= c.Range[1]
		want = "a number in the range " + compact(c.Range)
	case Categorical:
		ok, want = slices.Contains(c.Levels, c.Constant), "one of the levels"
	case Binary:
		ok, want = slices.Contains(c.Positive, c.Constant) || slices.Contains(c.Negative, c.Constant), "a positive or a negative text"
	case Date:
		x, err := newDays(c).number(c.Constant)
		from, to, stated := c.days()
		ok, want = err == nil, "a date in one of its layouts"
		if ok && stated {
			ok, want = x >= from && math.Floor(x) <= to, fmt.Sprintf("a day from %s to %s", c.From, c.To)
		}
	}
	if !ok {
		v.fail(where, `"constant" is %s; it must be %s`, quote(c.Constant), want)
	}
}

// oneHot checks a group of columns.
func (v *validator) oneHot(where string, c *Column) {
	if i := slices.Index(c.Levels, ""); i >= 0 {
		v.fail(where, `"levels" holds an empty text; leave it out: a row that has its 1 in the column %s then has no level`, quote(c.members()[i]))
		return
	}
	v.levels(where, c, `"levels" is missing; list the ends of the columns' names, such as ["north", "south"] of "region=north" and "region=south"`)
	if c.Prefix != nil && (strings.TrimLeftFunc(*c.Prefix, unicode.IsSpace) != *c.Prefix || !utf8.ValidString(*c.Prefix)) {
		v.fail(where, `"prefix" is %s; write it in UTF-8 and without the spaces before it, which are removed from the file's names too`, quote(*c.Prefix))
	}
}

// members checks that each column of the file is described once.
func (v *validator) members() {
	owner := map[string]*Column{}
	for i := range v.s.Columns {
		c := &v.s.Columns[i]
		for _, name := range c.files() {
			if other := owner[name]; other != nil && other.Name != c.Name {
				v.fail("column "+quote(name), "is described by %s and by %s; a column of a one-hot group belongs to it alone", quote(other.Name), quote(c.Name))
			}
			owner[name] = c
		}
	}
}

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
