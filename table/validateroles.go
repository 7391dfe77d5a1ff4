package table

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dpglm/dpglm/internal/check"
)

// roles checks that label, person and exposure name columns that can be that.
func (v *validator) roles() {
	s := v.s
	if s.Label == "" || isBlank(s.Label) {
		v.fail(`"label"`, "is to be filled in: name the column to predict")
	} else if c := v.named(`"label"`, s.Label); c != nil && known(c.Kind) {
		switch c.Kind {
		case Numeric:
			v.plain(`"label"`, c)
		case Categorical:
			v.levelled(c)
		case Count, Binary:
		default:
			v.fail(`"label"`, "names %s of kind %s; a label must be numeric, count, binary or categorical", quote(c.Name), c.Kind)
		}
	}
	checkPersons(v)
	checkExposure(v)
	checkWeight(v)
	checkFollowup(v)
	for _, c := range s.Columns {
		if c.Kind == Count && c.Name != s.Label {
			v.fail("column "+quote(c.Name), "is of kind count, which is for the label; as a feature it is numeric")
		}
		if (c.Ordered || c.Shares != nil) && c.Kind == Categorical && c.Name != s.Label {
			v.fail("column "+quote(c.Name), `has "ordered" or "shares", which are for the label; leave them out`)
		}
		if c.Kind == ID && c.Name != s.Person {
			v.fail("column "+quote(c.Name), `is of kind id but not the schema's "person"; name it there, or make it ignored`)
		}
	}
}

// checkPersons checks what is said of persons.
func checkPersons(v *validator) {
	s := v.s
	if (s.Person != "") != (s.MaxRows != 0) || s.MaxRows < 0 {
		v.fail(`"person", "max_rows"`, `the column and its number of 1 or more go together: a person's rows are limited to it`)
	}
	if s.Persons < 0 || s.Persons > mostPersons || s.Persons > 0 && s.Person == "" && s.Followup == nil {
		v.fail(`"persons"`, `is %d; it must be the number of persons whom the column "person" tells apart, from 1 to %d, or be left out`, s.Persons, mostPersons)
	}
	if s.AtMost < 0 || s.AtMost > mostPersons || s.AtMost > 0 && s.Persons > 0 {
		v.fail(`"at_most"`, `is %d; it must be a bound on the number of rows or persons, where that is secret, from 1 to %d, without "persons" beside it; or be left out`, s.AtMost, mostPersons)
	}
	if s.MaxRows > mostEach && !s.PersonsAlike {
		v.fail(`"max_rows"`, `is %d; it must be at most %d where each row counts: make it smaller, or have "persons_alike" true`, s.MaxRows, mostEach)
	}
	if s.PersonsAlike && s.Person == "" {
		v.fail(`"persons_alike"`, `is for persons whom the column "person" tells apart; name it, or leave "persons_alike" out`)
	}
	if s.Private != nil && (len(s.Private) != 1 || s.Private[0] != s.Label || s.Label == "") {
		v.fail(`"private"`, `is %v; it must name the label alone, where all else of a row is public, or be left out, where nothing is`, s.Private)
	}
	if s.Private != nil && slices.ContainsFunc(s.Where, func(c Condition) bool { return c.Column == s.Label }) {
		v.fail(`"where"`, `has a condition on %s, which is "private": who fulfils it is public, and would tell the label`, quote(s.Label))
	}
	if s.Private != nil && (s.Person != "" || s.AtMost > 0) {
		v.fail(`"private"`, `must be left out beside "person" or "at_most": a label there is one of several of a person, or tells that there is a row`)
	}
	if s.Person != "" {
		if c := v.named(`"person"`, s.Person); c != nil && known(c.Kind) && c.Kind != ID {
			v.fail(`"person"`, "names %s of kind %s; it must be of kind id", quote(c.Name), c.Kind)
		}
	}
}

// mostEach is the largest number of rows of a person that training takes where each counts.
const mostEach = 1000

// mostPersons is the largest number of persons that training takes.
const mostPersons = 1 << 27

func known(k Kind) bool { return slices.Contains(kinds(), string(k)) }

// checkExposure checks that the column of the exposure, or of the offset, can be that.
func checkExposure(v *validator) {
	name, where := v.s.AtRisk(), `"exposure"`
	if name == "" {
		return
	}
	if v.s.Offset != "" {
		where = `"offset"`
	}
	if v.s.Exposure != "" && v.s.Offset != "" {
		v.fail(where, `stands beside "exposure", whose logarithm is an offset already; leave one of them out, or have a column of their sum`)
		return
	}
	c := v.named(where, name)
	if c == nil || !known(c.Kind) {
		return
	}
	ranged := c.Kind == Numeric && len(c.Range) == 2
	switch {
	case c.Name == v.s.Label:
		v.fail(where, "names the label")
	case c.Kind != Numeric && v.s.Offset != "":
		v.fail(where, "names %s of kind %s; it must be numeric with a range within ±%d", quote(c.Name), c.Kind, check.MaxOffset)
	case c.Kind != Numeric:
		v.fail(where, "names %s of kind %s; it must be numeric with a range above 0", quote(c.Name), c.Kind)
	case ranged && v.s.Offset != "" && !(c.Range[0] >= -check.MaxOffset && c.Range[1] <= check.MaxOffset):
		v.fail(where, "names %s, whose range is %s; it must lie within ±%d, as a logarithm does", quote(c.Name), compact(c.Range), check.MaxOffset)
	case ranged && v.s.Offset == "" && c.Range[0] <= 0:
		v.fail(where, "names %s, whose range is %s; it must lie above 0", quote(c.Name), compact(c.Range))
	default:
		v.plain(where, c)
	}
}

// checkWeight checks that the weight's column can be that.
func checkWeight(v *validator) {
	if v.s.Weight == "" {
		return
	}
	c := v.named(`"weight"`, v.s.Weight)
	if c == nil || !known(c.Kind) {
		return
	}
	switch {
	case c.Name == v.s.Label || c.Name == v.s.AtRisk():
		v.fail(`"weight"`, "names %s, which is the label, the exposure or the offset; it must be a column of its own", quote(c.Name))
	case c.Kind != Numeric:
		v.fail(`"weight"`, "names %s of kind %s; it must be numeric, with a range from 0 or above", quote(c.Name), c.Kind)
	case len(c.Range) == 2 && c.Range[0] < 0:
		v.fail(`"weight"`, "names %s, whose range is %s; it must not go below 0", quote(c.Name), compact(c.Range))
	default:
		v.plain(`"weight"`, c)
	}
}

// leastFraction is the least part of all that a level may be expected to have.
const leastFraction = 1e-6

// levelled checks a label of several levels.
func (v *validator) levelled(c *Column) {
	where := "column " + quote(c.Name)
	if len(c.Levels) == 2 {
		v.fail(where, `is a label of two levels; make it the kind binary, with "positive": [%s] and "negative": [%s]`, quote(c.Levels[1]), quote(c.Levels[0]))
	}
	if c.Shares == nil {
		return
	}
	sum := floats.Sum(c.Shares)
	switch {
	case !c.Ordered:
		v.fail(where, `has "shares", which are for levels that ascend; add "ordered": true, or leave them out`)
	case len(c.Shares) != len(c.Levels):
		v.fail(where, `"shares" are %d; there must be one for each of the %d levels, or none at all`, len(c.Shares), len(c.Levels))
	case !(floats.Min(c.Shares) >= leastFraction*sum) || !(sum > 0) || math.IsInf(sum, 1):
		v.fail(where, `"shares" are %s; they must be positive numbers, none below %g of their sum`, compact(c.Shares), leastFraction)
	}
}

// plain refuses transformations of a column that is no feature.
func (v *validator) plain(where string, c *Column) {
	if c.Log || c.Square || len(c.Knots) > 0 || c.Per != 0 {
		v.fail(where, `names %s, which has "log", "square", "knots" or "per"; they are for features`, quote(c.Name))
	}
}

// named returns the column of that name, which must be listed.
func (v *validator) named(where, name string) *Column {
	c := v.s.column(name)
	if c == nil {
		v.fail(where, `names %s, which is not in "columns"%s; they are %s`, quote(name), didYouMean(name, v.s.names()), list(quoted(v.s.names()), "and"))
	}
	return c
}

func (v *validator) interactions() {
	seen := map[[2]string]bool{}
	for i, pair := range v.s.Interactions {
		where := fmt.Sprintf(`"interactions", element %d`, i+1)
		if len(pair) != 2 || pair[0] == pair[1] {
			v.fail(where, `is %s; it must be the names of two different columns ("square" is for one with itself)`, compact(pair))
			continue
		}
		if seen[[2]string{pair[0], pair[1]}] || seen[[2]string{pair[1], pair[0]}] {
			v.fail(where, "is %s, which is listed twice", compact(pair))
		}
		seen[[2]string{pair[0], pair[1]}] = true
		for _, name := range pair {
			if f := v.s.Followup; f != nil && name == PeriodColumn {
				if len(f.Cuts)-1 < 2 {
					v.fail(where, "names %s, of which there must be two or more", quote(name))
				}
				continue
			}
			c := v.named(where, name)
			switch {
			case c == nil || !known(c.Kind):
			case !v.s.feature(c):
				v.fail(where, "names %s, which is no feature", quote(name))
			case len(c.Knots) > 0:
				v.fail(where, "names %s, which is a spline; only columns without knots interact", quote(name))
			}
		}
	}
}

// features checks what the columns become, with the period that a followup makes: they must have distinct names.
func (v *validator) features() {
	count, seen, s := 0, map[string]bool{}, v.s.Episodes()
	for _, b := range blocks(&s) {
		if count += b.width(); count > maxFeatures {
			v.fail("columns", "make more than %d features", maxFeatures)
			return
		}
	}
	if count == 0 {
		v.fail("columns", "make no feature: beside the label there must be one of kind numeric, categorical, binary, onehot or date")
	}
	groups := map[string]int{}
	for _, f := range layout(&s) {
		block, dup := groups[f.Group]
		if seen[f.Name] || f.Group != "" && dup && block != f.Block {
			v.fail("feature "+quote(f.Name), "has the name of another, or its group has, as columns and levels have names that are alike; rename one")
		}
		seen[f.Name] = true
		groups[f.Group] = f.Block
	}
}

// checkFollowup checks what is said of times at risk.
func checkFollowup(v *validator) {
	s, f := v.s, v.s.Followup
	if f == nil {
		return
	}
	if len(f.Cuts) < 2 || slices.ContainsFunc(f.Cuts, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) || !ascending(f.Cuts) || math.Max(math.Abs(f.Cuts[0]), math.Abs(f.Cuts[len(f.Cuts)-1])) > mostCut {
		v.fail(`"followup"`, `has "cuts" %s; they must be two numbers or more that ascend, within ±1e15`, compact(f.Cuts))
	}
	if f.End == "" || f.End == f.Start {
		v.fail(`"followup"`, `has no "end": name the column of when times at risk end, another one than "start"`)
	}
	for _, name := range []string{f.Start, f.End} {
		if c := s.column(name); c != nil && c.Kind != Ignored {
			v.fail(`"followup"`, `names %s, which is of kind %s in "columns"; make it ignored there, or leave it out: a time at risk is no feature`, quote(name), c.Kind)
		}
	}
	if c := s.column(s.Label); c != nil && known(c.Kind) && c.Kind != Binary {
		v.fail(`"followup"`, `is for a label of kind binary, whether the time ended by the event, and %s is of kind %s`, quote(s.Label), c.Kind)
	}
	if s.AtRisk() != "" || s.PersonsAlike || s.Private != nil {
		v.fail(`"followup"`, `must be without "exposure" or "offset", which it makes, "persons_alike" and "private"`)
	}
	for _, name := range []string{PeriodColumn, timeColumn, recordColumn} {
		if s.column(name) != nil {
			v.fail("column "+quote(name), `has a name that "followup" gives to a column of its own; rename it`)
		}
	}
	if n := len(f.Cuts) - 1; max(1, s.MaxRows)*n > mostEach {
		v.fail(`"followup"`, "makes up to %d rows of a person; there must be at most %d", max(1, s.MaxRows)*n, mostEach)
	}
}

func ascending(list []float64) bool {
	for i := 1; i < len(list); i++ {
		if !(list[i] > list[i-1]) {
			return false
		}
	}
	return true
}

// mostCut is beyond what times are.
const mostCut = 1e15
