package table

import (
	"slices"
	"strconv"
	"strings"
)

// toFill begins what a person has to replace in a schema that Init writes.
const toFill = "FILL IN"

// blank is a text in the place of what only a person can know, as JSON.
func blank(what string) string { return strconv.Quote(toFill + ": " + what) }

// isBlank reports whether a text is one that blank wrote.
func isBlank(text string) bool { return strings.HasPrefix(text, toFill) }

// Init writes the schema of a table with the given header, for a person to fill in: it reads
// no values, so it can know nothing else. Validate says what is left to do. It fails for a
// header without names, or with one twice.
func Init(header []string) (Schema, error) {
	if err := checkHeader(header); err != nil {
		return Schema{}, err
	}
	s := Schema{Version: Version, Label: toFill + ": the name of the column to predict"}
	single := slices.DeleteFunc(kinds(), func(k string) bool { return k == string(OneHot) })
	for _, name := range header {
		s.Columns = append(s.Columns, Column{Name: name, Kind: Kind(toFill + ": " + list(single, "or"))})
	}
	return s, nil
}

// blanks are what a column of a known kind lacks, as JSON: keys, and texts that stand in for their values and that ParseSchema refuses. It is
// empty for a column that can be read with.
func (c *Column) blanks() string {
	fill := func(key, value string) string { return ", " + strconv.Quote(key) + ": " + value }
	switch {
	case c.Kind == Numeric && len(c.Range) == 0:
		return fill("range", "["+blank("the least")+", "+blank("the largest value, as is publicly known")+"]")
	case c.Kind == Count && c.Cap == 0:
		return fill("cap", blank("a number of 1 or more, to which larger counts are clamped"))
	case (c.Kind == Categorical || c.Kind == OneHot) && len(c.Levels) == 0:
		return fill("levels", "["+blank("the texts that it may hold")+"]")
	case c.Kind == Binary && c.Above == nil && len(c.Positive) == 0:
		return fill("positive", "["+blank("the texts that mean yes")+"]") + fill("negative", "["+blank("the texts that mean no")+"]")
	case c.Kind == Date && c.From == "":
		return fill("origin", blank("day 0")) + fill("from", blank("the first day")) + fill("to", blank("the last day, each as "+isoDay))
	}
	return ""
}

// withBlanks adds keys to a JSON object.
func withBlanks(object, keys string) string { return strings.TrimSuffix(object, "}") + keys + "}" }

// orBlank is what String shows of times at risk: with a text in the place of cuts that are to be filled in.
func (f *Followup) orBlank() any {
	if f == nil || f.Cuts != nil {
		return f
	}
	return struct {
		Start string   `json:"start,omitempty"`
		End   string   `json:"end"`
		Cuts  []string `json:"cuts"`
	}{f.Start, f.End, []string{toFill + ": the ends of periods, such as 0, 1, 5"}}
}
