package table

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxProblems = 1000 // bad rows that are read, so that a wrong schema fails soon
	maxUnlisted = 8    // texts that an error shows of a column
	maxDistinct = 1000 // texts that are counted of a column
	maxSorts    = 8    // ways in which a column's dates are wrong, each of which is shown
)

// problems are the errors about fields: of each column the first, and what the rows that
// were looked at have in it, so that a table is put right in a few rounds.
type problems struct {
	columns []*problem // in the order of their first rows
	rows    int        // that were looked at
	bad     int        // of them
}

// problem is what is wrong in one column.
type problem struct {
	first     *Error
	rows      int
	unlisted  map[string]int // texts that are no level, and how often
	separated int            // numbers with separators of thousands
	others    []*Error       // the first of each sort of wrong dates, but that of the first
}

// add takes all errors about a row, which has some. It returns one if reading can't go on,
// and io.EOF if enough was seen.
func (p *problems) add(faults []error) error {
	for _, err := range faults {
		var e *Error
		if !errors.As(err, &e) || e.Column == "" {
			return err
		}
		p.of(e).count(e)
	}
	if p.bad++; p.bad == maxProblems {
		return io.EOF
	}
	return nil
}

// of is the problem of an error's column.
func (p *problems) of(e *Error) *problem {
	for _, c := range p.columns {
		if c.first.Column == e.Column {
			return c
		}
	}
	p.columns = append(p.columns, &problem{first: e, unlisted: map[string]int{}})
	return p.columns[len(p.columns)-1]
}

func (c *problem) count(e *Error) {
	c.rows++
	if e.separated {
		c.separated++
	}
	same := func(o *Error) bool { return o.sort == e.sort }
	if !same(c.first) && len(c.others) < maxSorts && !slices.ContainsFunc(c.others, same) {
		c.others = append(c.others, e)
	}
	if text := strings.Clone(e.unlisted); text != "" && (len(c.unlisted) < maxDistinct || c.unlisted[text] > 0) {
		c.unlisted[text]++
	}
}

// with returns all problems, and the error that ended reading, which may be nil.
func (p *problems) with(last error) error {
	var all []error
	of := fmt.Sprintf("%d", p.rows)
	if last != nil || p.bad == maxProblems {
		of = "the first " + of
	}
	for _, c := range p.columns {
		e := c.first
		if c.rows > 1 {
			e.message += fmt.Sprintf(" (%d of %s rows have an error in this column%s)", c.rows, of, c.kinds())
		}
		all = append(all, e)
		for _, o := range c.others {
			all = append(all, o)
		}
	}
	if all = append(all, last); len(all) == 1 || len(all) == 2 && last == nil {
		return all[0]
	}
	return errors.Join(all...)
}

// kinds says what the errors of a column are, if there is more to say than the first tells.
func (c *problem) kinds() string {
	if c.separated > 0 {
		return fmt.Sprintf("; %d are numbers with separators of thousands", c.separated)
	}
	if len(c.unlisted) < 2 {
		return ""
	}
	texts := slices.SortedFunc(maps.Keys(c.unlisted), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.unlisted[b], c.unlisted[a]), cmp.Compare(a, b))
	})
	more := ""
	if n := len(texts) - maxUnlisted; n > 0 {
		texts, more = texts[:maxUnlisted], fmt.Sprintf(", and %d more", n)
	}
	var shown, counts []string
	for _, t := range texts {
		written := quote(t)
		if len(t) <= maxQuoted && utf8.ValidString(t) {
			written = compact(t) // as in a schema
		}
		shown, counts = append(shown, written), append(counts, fmt.Sprint(c.unlisted[t]))
	}
	return fmt.Sprintf("; not listed are %s%s, in %s rows: list those that are publicly known to occur", strings.Join(shown, ", "), more, list(counts, "and"))
}
