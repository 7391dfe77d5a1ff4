package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxOthers is how many texts that aren't listed are looked at in a column.
const maxOthers = 100

// unlisted are texts of a column that weren't listed, the first few, and how many came before each.
type unlisted map[string]int

func (u *unlisted) add(text string) {
	if *u == nil {
		*u = unlisted{}
	}
	if _, known := (*u)[text]; !known && len(*u) < maxOthers {
		(*u)[strings.Clone(text)] = len(*u) // text is part of a longer record
	}
}

// join adds those of later records, which it takes away.
func (u *unlisted) join(later *unlisted) {
	for _, text := range slices.SortedFunc(maps.Keys(*later), func(a, b string) int { return (*later)[a] - (*later)[b] }) {
		u.add(text)
	}
	*later = nil
}

// clamped counts the values of a column that were outside its range, and keeps the first.
type clamped struct {
	count int
	text  string
	at    place
}

func (c *clamped) add(text string, at place) {
	if c.count++; c.count == 1 {
		c.text, c.at = strings.Clone(trim(text)), at
	}
}

// join adds those of later records, which it takes away.
func (c *clamped) join(later *clamped) {
	if c.count == 0 {
		c.text, c.at = later.text, later.at
	}
	c.count += later.count
	*later = clamped{}
}

func (c *clamped) warning(column *Column, rows int) []string {
	if c.count == 0 {
		return nil
	}
	where := compact(column.Range)
	switch column.Kind {
	case Count:
		where = fmt.Sprintf("[0, %d]", column.Cap)
	case Date:
		where = fmt.Sprintf("[%s, %s]", column.From, column.To)
	}
	first := quote(c.text)
	if c.at.number > 0 {
		first += fmt.Sprintf(" in %s %d", c.at.unit, c.at.number)
	}
	if column.made && column.Kind == Numeric { // the schema's author wrote no range
		return []string{fmt.Sprintf("%d of %d times at risk within a period are shorter than %g, first %s, and count as so long: the least that a followup has, %g of the narrowest period between its cuts (if unexpected: another unit?)",
			c.count, rows, column.Range[0], first, shortest)}
	}
	return []string{fmt.Sprintf("column %s: %d of %d values lie outside the range %s and were clamped to it, first %s (if unexpected: a code of missing values, another unit, swapped columns?)",
		quote(column.Name), c.count, rows, where, first)}
}

// otherWarnings looks for texts that became the other level but were most likely meant
// to be one that is listed.
func otherWarnings(c *Column, texts unlisted) []string {
	var out []string
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if name, how := nearest(text, c.Levels); name != "" && how != otherLetters {
			out = append(out, fmt.Sprintf("column %s: %s is not listed and reads as %s, though it is %s %s", quote(c.Name), quote(text), quote(c.Other), quote(name), how))
		}
	}
	return out
}
