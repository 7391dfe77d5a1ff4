package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dpglm/dpglm/internal/check"
)

// pieceBytes is about how much of a CSV is taken apart at a time.
const pieceBytes = 1 << 15

// cutter cuts a CSV into pieces of whole records.
type cutter struct {
	r     *bufio.Reader
	comma string
	read  []byte // and not yet cut off
	lines int    // that were cut off
	err   error  // that comes after what was read
}

// next cuts off a piece, which is one record if that is longer. It fails with io.EOF after the
// last, and where the text can't be read: the record that was being read is left out.
func (c *cutter) next() (*piece, error) {
	n := 0
	for least := 1; n == 0; least = 2 * len(c.read) {
		for len(c.read) < least && c.err == nil {
			c.more()
		}
		switch n = wholeRecords(c.read, c.comma); {
		case errors.Is(c.err, io.EOF) && len(c.read) > 0:
			n = len(c.read)
		case c.err != nil && n == 0:
			return nil, c.err
		}
	}
	b := &piece{text: string(c.read[:n]), comma: c.comma, line: c.lines, quotes: bytes.IndexByte(c.read[:n], quoteMark) >= 0}
	c.lines += bytes.Count(c.read[:n], []byte("\n"))
	c.read = c.read[:copy(c.read, c.read[n:])]
	return b, nil
}

// more reads on.
func (c *cutter) more() {
	_, c.err = c.r.Peek(1)
	some, _ := c.r.Peek(min(c.r.Buffered(), pieceBytes)) // is there
	c.read = append(c.read, some...)
	c.r.Discard(len(some))
}

const quoteMark = '"'

// wholeRecords is how much of a text, which begins with a record, is whole records: up to the last
// end of a line that isn't in quotes. A quote outside of quotes opens where a field begins; elsewhere
// it is an error, and its line is the last, so that nothing needs to be read after it.
func wholeRecords(text []byte, comma string) (n int) {
	inside := false
	for at := 0; ; {
		part := text[at:]
		quote := bytes.IndexByte(part, quoteMark)
		if quote >= 0 {
			part = part[:quote]
		}
		if end := bytes.LastIndexByte(part, '\n'); end >= 0 && !inside {
			n = at + end + 1
		}
		if quote < 0 {
			return n
		}
		at += quote
		before := text[:at]
		opens := at == 0 || before[at-1] == '\n' || before[at-1] == quoteMark || bytes.HasSuffix(before, []byte(comma))
		if !inside && !opens {
			if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
				n = at + end + 1
			}
			return n
		}
		inside = !inside
		at++
	}
}

// piece is a part of a CSV that ends with a record. Its records are those that a reader of
// encoding/csv finds in the same text.
type piece struct {
	text   string // that is left
	comma  string
	quotes bool   // there are some
	line   int    // how many lines are before text
	first  int    // the line where the last record begins
	file   string // its name, where there are several
	err    error  // that ended it

	fields []string // of the last record
	value  []byte   // of a field in quotes that has quotes or ends of lines
}

// record returns the next record, whose slice is valid until the next call. It fails with io.EOF
// at the end of the piece; any other error stays.
func (b *piece) record() ([]string, error) {
	if b.err != nil {
		return nil, b.err
	}
	line := ""
	for line == "" { // empty lines don't count
		if b.text == "" {
			return nil, io.EOF
		}
		line = b.take()
	}
	b.first, b.fields = b.line, b.fields[:0]
	for more := true; more; {
		var field string
		if b.quotes && strings.HasPrefix(line, `"`) {
			field, line, more = b.quoted(line[1:])
		} else if field, line, more = strings.Cut(line, b.comma); b.quotes && strings.IndexByte(field, quoteMark) >= 0 {
			b.fail(b.line, `there is a quote (") inside a field that isn't in quotes; put the field in quotes and double the quotes inside`)
		}
		if b.err != nil {
			return nil, b.err
		}
		b.fields = append(b.fields, field)
	}
	return b.fields, nil
}

// take takes the next line, without its end.
func (b *piece) take() string {
	line, rest, _ := strings.Cut(b.text, "\n")
	b.text = rest
	b.line++
	return strings.TrimSuffix(line, "\r")
}

// quoted takes apart what follows an opening quote in its line, and further lines if it goes on
// there: the field, what comes after the delimiter, and whether there is one.
func (b *piece) quoted(line string) (field, rest string, more bool) {
	b.value = b.value[:0]
	for {
		at := strings.IndexByte(line, quoteMark)
		if at < 0 {
			if b.text == "" || b.text == "\r" { // which is no line at the end
				b.unclosed()
				return "", "", false
			}
			b.value = append(append(b.value, line...), '\n')
			line = b.take()
			continue
		}
		field, line = line[:at], line[at+1:]
		if strings.HasPrefix(line, `"`) {
			b.value = append(append(b.value, field...), quoteMark)
			line = line[1:]
			continue
		}
		if len(b.value) > 0 {
			field = string(append(b.value, field...))
		}
		if rest, more = strings.CutPrefix(line, b.comma); !more && line != "" {
			b.unclosed()
		}
		return field, rest, more
	}
}

// unclosed is the error of a field in quotes that doesn't end by one.
func (b *piece) unclosed() {
	if b.line != b.first {
		b.fail(b.first, `a quote (") opens a field that is not closed by line %d; close it, or double the quotes inside`, b.line)
		return
	}
	b.fail(b.line, `a quote (") inside a field in quotes, or no closing quote; double the quotes inside`)
}

func (b *piece) fail(line int, format string, args ...any) {
	b.err = inFile(b.file, fileError(line, format, args...))
}

// inFile says in which file an error is, where there are several.
func inFile(name string, err error) error {
	if name == "" || errors.Is(err, io.EOF) || errors.Is(err, check.ErrConfig) {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// lineIn is the unit of a place in a file, with its name where there are several.
func lineIn(name string) string {
	if name == "" {
		return "line"
	}
	return filepath.Base(name) + ", line"
}

// next is record, with its place.
func (b *piece) next() (fields []string, at place, err error) {
	fields, err = b.record()
	return fields, place{lineIn(b.file), b.first}, err
}
