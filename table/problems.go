package table

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxProblems is how many bad rows are read, so that a wrong schema fails soon.
const maxProblems = 1000

// problems are the errors about fields: of each column the first, so that a table is put
// right in a few rounds, and how many rows follow.
type problems struct {
	first []*Error
	more  map[string]int // by column
	rows  int
}

// add takes an error about a row. It returns it if reading can't go on, and io.EOF if
// enough was seen.
func (p *problems) add(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Column == "" {
		return err
	}
	if slices.ContainsFunc(p.first, func(f *Error) bool { return f.Column == e.Column }) {
		p.more[e.Column]++
	} else {
		p.first = append(p.first, e)
		if p.more == nil {
			p.more = map[string]int{}
		}
	}
	if p.rows++; p.rows == maxProblems {
		return io.EOF
	}
	return nil
}

// with returns all problems, and the error that ended reading, which may be nil.
func (p *problems) with(last error) error {
	var all []error
	for _, e := range p.first {
		if n := p.more[e.Column]; n > 0 {
			e.message += fmt.Sprintf(" (%d rows have an error in this column", n+1)
			if p.rows == maxProblems {
				e.message += ", and the rest was not read"
			}
			e.message += ")"
		}
		all = append(all, e)
	}
	if all = append(all, last); len(all) == 1 || len(all) == 2 && last == nil {
		return all[0]
	}
	return errors.Join(all...)
}
