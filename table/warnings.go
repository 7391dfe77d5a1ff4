package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxOthers is how many texts that aren't listed are looked at in a column.
const maxOthers = 100

// unlisted are texts of a column that weren't listed, the first few.
type unlisted map[string]bool

func (u *unlisted) add(text string) {
	if *u == nil {
		*u = unlisted{}
	}
	if len(*u) < maxOthers && !(*u)[text] {
		(*u)[strings.Clone(text)] = true // text is part of a longer record
	}
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
