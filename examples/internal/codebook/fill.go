package codebook

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dpglm/dpglm/table"
)

// addMissing takes texts that stand for missing values. A schema has them for all columns: those that are a level or in the range of one are left
// out, as they are values there.
func (b *Book) addMissing(texts []string) {
	for _, t := range texts {
		if t != "" && !slices.Contains(b.Missing, t) && !slices.ContainsFunc(b.Variables, func(v Variable) bool { return v.holds(t) }) {
			if b.Missing == nil {
				b.Missing = slices.DeleteFunc(table.DefaultMissing(), func(t string) bool {
					return slices.ContainsFunc(b.Variables, func(v Variable) bool { return v.holds(t) })
				})
			}
			if !slices.Contains(b.Missing, t) {
				b.Missing = append(b.Missing, t)
			}
		}
	}
}

// holds reports whether a text is a value of the variable.
func (v *Variable) holds(text string) bool {
	x, err := strconv.ParseFloat(text, 64)
	return slices.Contains(v.Levels, text) || slices.Contains(v.Positive, text) || slices.Contains(v.Negative, text) ||
		err == nil && len(v.Range) == 2 && x >= v.Range[0] && x <= v.Range[1]
}

// Fill puts into a schema, which table.Init made, what a codebook says of its columns, and roles, by their names, to columns: the codebook's where
// none are given. b may be nil. It returns what there is to say to the person who finishes the schema. It fails for a role of a column that
// isn't there, and for a column with two roles.
func Fill(s *table.Schema, b *Book, roles map[string]string) (notes []string, err error) {
	all := map[string]string{}
	var used []string
	for i := range s.Columns {
		c := &s.Columns[i]
		v := b.variable(c.Name)
		if v == nil {
			if k := guessed(c.Name); k != "" {
				c.Kind = k
			}
			continue
		}
		used = append(used, v.Name)
		name, blank := c.Name, c.Kind
		if *c = v.Column; c.Kind == "" {
			c.Kind = blank
			if v.Label != "" {
				c.Kind += table.Kind(" (" + v.Label + ")")
			}
		}
		if c.Name = name; v.Role != "" {
			all[v.Role] = name
		}
	}
	for role, name := range roles {
		all[role] = name
	}
	if b != nil {
		notes = b.notes(used)
		if s.Missing = b.Missing; b.Decimal != "" {
			s.Decimal = b.Decimal
		}
	}
	for i, role := range Roles {
		name := all[role]
		if name == "" {
			continue
		}
		for _, other := range Roles[:i] {
			if all[other] == name {
				return nil, fmt.Errorf("column %q is to be %s and %s; a column has one role", name, other, role)
			}
		}
		at := slices.IndexFunc(s.Columns, func(c table.Column) bool { return c.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("column %q, which is to be the %s, is not in the header", name, role)
		}
		give(s, role, &s.Columns[at])
	}
	return notes, settleLabel(s, all)
}

// notes say what of a codebook didn't go into a schema, and what must be looked at.
func (b *Book) notes(used []string) (notes []string) {
	var left []string
	for _, v := range b.Variables {
		if !slices.Contains(used, v.Name) {
			left = append(left, v.Name)
		}
	}
	if len(used) == 0 {
		notes = append(notes, "no column of the header is in the codebook, by its name")
	} else if len(left) > 0 {
		notes = append(notes, fmt.Sprintf("not in the header are %d variables of the codebook: %s", len(left), strings.Join(left[:min(len(left), mostShown)], ", ")))
	}
	return append(notes, "ranges and levels are the codebook's: leave none that was taken from the rows, such as a least and a largest value that occur, or R's levels of a factor")
}

// mostShown is how many names a note lists.
const mostShown = 12

// variable is that of a column's name, in its case or, where one alone is so, in another; nil if there is none.
func (b *Book) variable(name string) *Variable {
	if b == nil {
		return nil
	}
	var near *Variable
	for i := range b.Variables {
		switch v := &b.Variables[i]; {
		case v.Name == name:
			return v
		case strings.EqualFold(v.Name, name) && near != nil:
			return nil
		case strings.EqualFold(v.Name, name):
			near = v
		}
	}
	return near
}

// give gives a column its role.
func give(s *table.Schema, role string, c *table.Column) {
	number := func() {
		*c = table.Column{Name: c.Name, Kind: table.Numeric, Range: c.Range, Thousands: c.Thousands}
	}
	followup := func() *table.Followup {
		if *c = (table.Column{Name: c.Name, Kind: table.Ignored}); s.Followup == nil {
			s.Followup = new(table.Followup)
		}
		return s.Followup
	}
	switch role {
	case "label":
		s.Label = c.Name
	case "person":
		s.Person = c.Name
		*c = table.Column{Name: c.Name, Kind: table.ID}
	case "weight":
		s.Weight = c.Name
		number()
	case "exposure":
		s.Exposure = c.Name
		number()
	case "offset":
		s.Offset = c.Name
		number()
	case "start":
		followup().Start = c.Name
	case "end":
		followup().End = c.Name
	}
}

// settleLabel makes of the label's column what a label is, and of others what they can be.
func settleLabel(s *table.Schema, roles map[string]string) error {
	if s.Followup != nil && s.Followup.End == "" {
		return fmt.Errorf("column %q is when times at risk start, and none is when they end: name it", s.Followup.Start)
	}
	for i := range s.Columns {
		switch c := &s.Columns[i]; {
		case c.Kind == table.ID && c.Name != s.Person:
			*c = table.Column{Name: c.Name, Kind: table.Ignored}
		case c.Kind == table.Count && roles["label"] != "" && c.Name != s.Label: // as a feature it is a number
			var ends []float64
			if c.Cap > 0 {
				ends = []float64{0, float64(c.Cap)}
			}
			*c = table.Column{Name: c.Name, Kind: table.Numeric, Range: ends, Thousands: c.Thousands}
		case c.Name != s.Label:
			c.Ordered = false
		case c.Kind == table.Categorical && len(c.Levels) == 2:
			*c = table.Column{Name: c.Name, Kind: table.Binary, Negative: c.Levels[:1:1], Positive: c.Levels[1:]}
		case c.Kind == table.Numeric && s.AtRisk() != "":
			most := 0
			if len(c.Range) == 2 && c.Range[1] >= 1 {
				most = int(math.Min(c.Range[1], math.MaxInt32))
			}
			*c = table.Column{Name: c.Name, Kind: table.Count, Cap: most, Thousands: c.Thousands}
		}
	}
	return nil
}

// guesses are the kinds that words of a column's name speak for. What the kind needs is to be filled in, so that a wrong guess is seen.
var guesses = map[string]table.Kind{
	"date": table.Date, "datum": table.Date, "birthdate": table.Date, "dob": table.Date,
	"age": table.Numeric, "income": table.Numeric, "height": table.Numeric, "weight": table.Numeric, "bmi": table.Numeric, "amount": table.Numeric, "price": table.Numeric, "year": table.Numeric, "years": table.Numeric, "salary": table.Numeric, "wage": table.Numeric,
	"sex": table.Categorical, "gender": table.Categorical, "region": table.Categorical, "country": table.Categorical, "state": table.Categorical, "education": table.Categorical, "occupation": table.Categorical,
}

// guessed is the kind that a column's name speaks for: that of its last word; empty if none does.
func guessed(name string) table.Kind {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return ""
	}
	return guesses[words[len(words)-1]]
}
