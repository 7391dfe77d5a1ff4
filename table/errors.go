package table

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// The kinds of errors, for errors.Is. ErrSchema and ErrValue are those of package
// dpglm.
var (
	// ErrSchema is a schema that is incomplete or contradicts itself.
	ErrSchema = check.ErrSchema
	// ErrFile is a file that can't be read as what it should be.
	ErrFile = errors.New("table: file")
	// ErrNoRows is an ErrFile of what can be read and has no row, or none that fulfils the schema's conditions.
	ErrNoRows = fmt.Errorf("%w: no rows", ErrFile)
	// ErrColumn is a header without a column that is needed, or with a wrong one.
	ErrColumn = errors.New("table: column")
	// ErrValue is a field that isn't what the schema says.
	ErrValue = check.ErrValue
)

// Error says what is wrong with a table, where, and what to do about it. It quotes
// the table's values, so it is for the curator, who holds the table, only.
type Error struct {
	// Unit and Number are the place, such as line 7 of a file or row 6 of a query;
	// Number 0 is none. Lines count from 1, the header's, as in an editor.
	Unit   string
	Number int
	// Column is the column's name; empty where no column is to blame.
	Column string

	kind    error
	message string

	unlisted  string // the field, where it should be one of a few texts
	separated bool   // the field is a number with separators of thousands
	sort      string // what is wrong with a date, of which each is reported
}

// Error says where it is, what is wrong and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Number > 0 {
		fmt.Fprintf(&b, "%s %d", e.Unit, e.Number)
	}
	if e.Column != "" {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString("column " + quote(e.Column))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.message)
	return b.String()
}

// place is where a record is, such as line 7; number 0 is nowhere.
type place struct {
	unit   string
	number int
}

// placed adds the place to an *Error about a field.
func placed(err error, at place) error {
	var e *Error
	if errors.As(err, &e) {
		e.Unit, e.Number = at.unit, at.number
	}
	return err
}

// Unwrap returns the kind: [ErrFile], [ErrNoRows], [ErrColumn] or [ErrValue].
func (e *Error) Unwrap() error { return e.kind }

// valueError is about a field of the named column.
func valueError(column, format string, args ...any) *Error {
	return &Error{Column: column, kind: ErrValue, message: fmt.Sprintf(format, args...)}
}

// fileError is about the file at the given line, 0 for the whole of it.
func fileError(line int, format string, args ...any) *Error {
	return &Error{Unit: "line", Number: line, kind: ErrFile, message: fmt.Sprintf(format, args...)}
}

func noRows(message string) *Error { return &Error{kind: ErrNoRows, message: message} }

func columnError(format string, args ...any) *Error {
	return &Error{kind: ErrColumn, message: fmt.Sprintf(format, args...)}
}

// maxQuoted is how many bytes of a value an error shows.
const maxQuoted = 40

// quote shows a value of any length on one line, so that what can't be seen can be.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	cut := maxQuoted
	for cut > maxQuoted-4 && s[cut]&0xc0 == 0x80 { // not inside a rune
		cut--
	}
	return strconv.Quote(s[:cut]) + "…"
}

// maxListed is how many names an error lists.
const maxListed = 12

// list writes names as "a, b or c".
func list(names []string, last string) string {
	switch n := len(names); {
	case n == 0:
		return "none"
	case n == 1:
		return names[0]
	case n > maxListed:
		return fmt.Sprintf("%s, … (%d in all)", strings.Join(names[:maxListed], ", "), n)
	default:
		return strings.Join(names[:n-1], ", ") + " " + last + " " + names[n-1]
	}
}

// quoted quotes each name, of the first few; list shows no more.
func quoted(names []string) []string {
	q := make([]string, len(names))
	for i, s := range names {
		if i <= maxListed {
			q[i] = quote(s)
		}
	}
	return q
}
