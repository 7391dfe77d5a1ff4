package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/table"
)

// facts are what was publicly known before there were data.
type facts struct {
	Settings     []setting
	Columns      []column
	Interactions string
}

type setting struct{ Name, Value string }

// column is what the schema says of one.
type column struct{ Name, Role, Values, Missing string }

func newFacts(c Content, units string) *facts {
	f := &facts{}
	add := func(name, value string) { f.Settings = append(f.Settings, setting{name, value}) }
	add("unit of privacy", c.Ledger.Unit().String())
	add(units+" to train on", counted(c.Ledger, c.Shape.Rows))
	if c.Evaluation != nil {
		add(units+" to evaluate on", counted(c.Ledger, c.Evaluation.Rows))
	}
	weights := grouped(c.Shape.Dim)
	if k := c.classes(); k > 0 {
		weights = grouped(k) + " × " + weights
	}
	add("weights", weights)
	add("bound on a row’s norm", significant(c.Shape.FeatureBound, 4))
	e := c.Model.Encoder()
	if b := c.Shape.LabelBound; b > 0 && (e == nil || e.Label().Levels == nil) {
		add("range of the label", plain(c.Shape.LabelCentre-b)+" to "+plain(c.Shape.LabelCentre+b))
	}
	add("loss", c.loss())
	add("method", c.Method)
	if c.Begins != "" {
		add("begins at", c.Begins)
	}
	if c.Radius > 0 {
		add("bound on the weights’ norm", significant(c.Radius, 4))
	}
	if e == nil {
		return f
	}
	s := e.Schema()
	for _, col := range s.Columns {
		f.Columns = append(f.Columns, describe(s, col))
	}
	slices.SortStableFunc(f.Columns, func(a, b column) int { return rank(a) - rank(b) })
	var pairs []string
	for _, pair := range s.Interactions {
		pairs = append(pairs, strings.Join(pair, " × "))
	}
	f.Interactions = strings.Join(pairs, ", ")
	if len(s.Where) > 0 {
		add("who is there", who(s.Where))
	}
	return f
}

// who says which records are there.
func who(list []table.Condition) string {
	var parts []string
	for _, c := range list {
		text := "“" + c.Column + "”"
		switch {
		case c.In != nil:
			text += " is " + strings.Join(c.In, " or ")
		case c.From != nil && c.To != nil:
			text += " from " + plain(*c.From) + " to " + plain(*c.To)
		case c.From != nil:
			text += " from " + plain(*c.From) + " on"
		default:
			text += " up to " + plain(*c.To)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + ": others aren’t, and that is public"
}

// rank puts the label first and what isn't used last.
func rank(c column) int {
	return slices.Index([]string{"label", "", "person", "exposure", "offset", "weight", "not used"}, c.Role)
}

func describe(s table.Schema, c table.Column) column {
	d := column{Name: c.Name, Values: valuesOf(c), Missing: missingOf(c)}
	switch {
	case c.Name == s.Label:
		d.Role = "label"
	case c.Name == s.Person:
		d.Role = "person"
		d.Values = fmt.Sprintf("whose row it is; at most %s rows of each person count", grouped(s.MaxRows))
	case c.Name == s.Exposure:
		d.Role = "exposure"
	case c.Name == s.Offset:
		d.Role = "offset"
	case c.Name == s.Weight:
		d.Role = "weight"
		d.Values = "how much a row counts: " + d.Values
	case c.Kind == table.Ignored || c.Kind == table.ID || c.Kind == table.Count:
		d.Role = "not used"
	}
	if d.Role == "not used" || d.Role == "person" {
		d.Missing = ""
	}
	return d
}

// valuesOf says what a column may hold, and how it enters.
func valuesOf(c table.Column) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch c.Kind {
	case table.Numeric:
		add("%s to %s", plain(c.Range[0]), plain(c.Range[1]))
		if c.Log {
			add("as logarithm")
		}
		if c.Square {
			add("with its square")
		}
		if len(c.Knots) > 0 {
			add("cubic spline with knots at %s", plains(c.Knots, ", "))
		}
	case table.Count:
		add("0 to %s, whole", grouped(c.Cap))
	case table.Categorical:
		add("%s", levelsOf(c))
		if c.Other != "" {
			add("others read as %s", c.Other)
		}
		if c.Ordered {
			add("ascending")
		}
		if len(c.Shares) > 0 {
			add("expected in the proportions %s", plains(c.Shares, " : "))
		}
	case table.OneHot:
		add("%s", levelsOf(c))
		add("each a column of 0 and 1")
	case table.Binary:
		if c.Above != nil {
			add("yes above %s, no up to it", plain(*c.Above))
			break
		}
		add("%s, or %s", strings.Join(c.Positive, "/"), strings.Join(c.Negative, "/"))
	case table.Date:
		add("%s to %s, in days from %s", c.From, c.To, c.Origin)
	}
	if c.Per > 0 {
		add("coefficients shown per %s, too", plain(c.Per))
	}
	if c.FoldCase {
		add("in any case of letters")
	}
	return strings.Join(parts, "; ")
}

const mostLevels = 24 // that are listed

func levelsOf(c table.Column) string {
	shown := c.Levels[:min(len(c.Levels), mostLevels)]
	text := strings.Join(shown, ", ")
	if more := len(c.Levels) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " (reference: " + reference(c) + ")"
}

// reference is the level that the others are compared with.
func reference(c table.Column) string {
	switch {
	case c.Kind == table.Binary && len(c.Negative) > 0:
		return c.Negative[0]
	case c.Reference != "":
		return c.Reference
	case c.Kind == table.OneHot:
		return "none of them"
	case len(c.Levels) > 0:
		return c.Levels[0]
	}
	return ""
}

func missingOf(c table.Column) string {
	switch c.Missing {
	case table.MissingIndicator:
		return "a feature of its own"
	case table.MissingLevel:
		return "a level of its own"
	case table.MissingConstant:
		return "reads as " + c.Constant
	}
	return "refused"
}
