package table

import (
	"fmt"
	"slices"
)

// labels reads labels, and keeps what warnings are about.
type labels struct {
	*labelField
	column  *Column
	clamped clamped
	others  unlisted
	seen    []bool // of a Binary or a Categorical: which labels occur; of a Count: whether 0 does, and more
}

func newLabels(f *labelField, c *Column) *labels {
	return &labels{labelField: f, column: c, seen: make([]bool, max(2, len(f.facts.Levels)))}
}

// take returns the label of a record.
func (l *labels) take(text string, at place) (float64, error) {
	y, odd, err := l.read(text)
	if err != nil {
		return 0, err
	}
	switch {
	case odd && l.levels != nil:
		l.others.add(trim(text))
	case odd:
		l.clamped.add(text, at)
	}
	switch l.facts.Kind {
	case Binary, Categorical:
		l.seen[int(y)] = true
	case Count:
		l.seen[int(min(y, 1))] = true
	}
	return y, nil
}

// add adds what others have seen, of later records, which forget it.
func (l *labels) add(later *labels) {
	l.clamped.join(&later.clamped)
	l.others.join(&later.others)
	for k, seen := range later.seen {
		l.seen[k] = l.seen[k] || seen
	}
}

// warnings looks for labels that never occur, and for those that were clamped or aren't listed.
func (l *labels) warnings(rows int) []string {
	switch c := l.column; l.facts.Kind {
	case Categorical:
		return append(l.never(), otherWarnings(c, l.others)...)
	case Binary:
		positive, negative := list(quoted(c.Positive), "or"), list(quoted(c.Negative), "or")
		if c.Above != nil {
			positive, negative = fmt.Sprintf("above %g", *c.Above), fmt.Sprintf("at most %g", *c.Above)
		}
		switch {
		case !l.seen[1]:
			return []string{fmt.Sprintf("label %s: no row is positive (%s); a model of these rows learns nothing", quote(l.facts.Column), positive)}
		case !l.seen[0]:
			return []string{fmt.Sprintf("label %s: no row is negative (%s); a model of these rows learns nothing", quote(l.facts.Column), negative)}
		}
		return nil
	case Count:
		if !l.seen[1] {
			return []string{fmt.Sprintf("label %s: no row has more than 0; a model of these rows learns nothing", quote(l.facts.Column))}
		}
	}
	return l.clamped.warning(l.column, rows)
}

// never looks for levels that no row has.
func (l *labels) never() []string {
	var never []string
	for k, name := range l.facts.Levels {
		if !l.seen[k] {
			never = append(never, quote(name))
		}
	}
	if never == nil {
		return nil
	}
	return []string{fmt.Sprintf("label %s: no row has the level %s; a model of these rows learns nothing of it", quote(l.facts.Column), list(never, "or"))}
}

// personCodes numbers persons in the order in which they occur.
type personCodes struct {
	schema *Schema
	codes  map[string]int
	rows   []int // of each
}

// id is the trimmed text of a person, who must be there.
func (p *personCodes) id(text string) (string, error) {
	id := trim(text)
	made := p.schema.column(p.schema.Person).made
	if id == "" || !made && slices.Contains(p.schema.missingTexts(), id) {
		return "", missingRole(p.schema.Person, id, "a person")
	}
	return id, nil
}

// code is the number of the person of an id.
func (p *personCodes) code(id string) (int, error) {
	code, ok := p.codes[id]
	if !ok {
		code = len(p.codes)
		if stated := p.schema.Persons; stated > 0 && code >= stated {
			return 0, valueError(p.schema.Person, `it is a further person than the %d that "persons" states; correct that number, which must come from public knowledge`, stated)
		}
		p.codes[string([]byte(id))] = code // a copy: id may be part of a longer record
		p.rows = append(p.rows, 0)
	}
	p.rows[code]++
	return code, nil
}

// warnings tells of rows that a fit leaves out, as their persons have more than count.
func (p *personCodes) warnings(rows int) []string {
	if len(p.rows) == 0 { // for prediction nobody asks for them
		return nil
	}
	most, persons, left := p.schema.MaxRows, 0, 0
	for _, n := range p.rows {
		if n > most {
			persons, left = persons+1, left+n-most
		}
	}
	if persons == 0 {
		return nil
	}
	what, how := fmt.Sprintf(`"max_rows", %d`, most), "the model is of those that count"
	if p.schema.Hazards() {
		periods := max(1, len(p.schema.PeriodLevels()))
		what = fmt.Sprintf(`"max_rows", %d, times the periods, %d`, most/periods, periods)
		how = "events and times at risk of those who have many are lost, so that hazards are not all persons'"
	}
	return []string{fmt.Sprintf(`%d of %d persons have more rows than %s: of %d rows %d, drawn at random, don't count in a fit, and %s; raise "max_rows" where it is publicly known that persons have more (noise grows with it)`,
		persons, len(p.rows), what, rows, left, how)}
}
