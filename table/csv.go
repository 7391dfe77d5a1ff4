package table

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dpglm/dpglm/internal/check"
	"github.com/dpglm/dpglm/internal/rowfile"
)

// CSV reads records of comma-separated values, or of values separated by another
// character, as RFC 4180 has them: with a header, lines that end by LF or CRLF, and
// fields in quotes where they hold the delimiter, a quote or the end of a line. Text is
// UTF-8; a byte order mark, empty lines, and spaces around fields don't count.
type CSV struct {
	header []string
	cut    *cutter
	piece  *piece   // whose records are next
	line   int      // of the last record
	file   string   // its name, where there are several
	more   []string // files that follow
	as     *Schema  // that they are as
	ended  error    // that no record comes after
	close  func() error
	size   int64 // of the files, 0 if not known
	read   func() int64
	before int64      // of these bytes, in files that are read
	now    sync.Mutex // for read and before, which change with the file
}

// delimiters are those that a header is searched for.
const delimiters = ",;\t|"

// peeked is how much of a file is searched for a header, and for other formats.
const peeked = 1 << 18

// OpenCSV opens a CSV file, which is gzipped if its name ends in .gz, and reads its header.
// Delimiter 0 is the one of comma, semicolon, tab and bar that the header has most of. The
// caller closes it. It fails where there is no such file or no header, or it isn't valid CSV.
func OpenCSV(path string, delimiter rune) (*CSV, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	c, err := NewCSV(f, delimiter)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	c.close, c.size, c.read = f.Close, f.size, f.consumed
	return c, nil
}

// NewCSV is OpenCSV for an open file, or whatever can be read, not gzipped. It fails where
// there is no header, or none that is valid CSV.
func NewCSV(r io.Reader, delimiter rune) (*CSV, error) { return newCSV(r, delimiter, "") }

// newCSV is NewCSV of a text in an encoding.
func newCSV(r io.Reader, delimiter rune, encoding string) (*CSV, error) {
	if delimiter == '\r' || delimiter == '\n' || delimiter == '"' || delimiter == utf8.RuneError || delimiter != 0 && !utf8.ValidRune(delimiter) {
		return nil, fmt.Errorf("%w: delimiter %q: it must be a character other than a quote and the end of a line", ErrFile, delimiter)
	}
	if err := check.Given("reader", r); err != nil {
		return nil, err
	}
	text, err := decoded(bufio.NewReaderSize(r, peeked), encoding)
	if err != nil {
		return nil, err
	}
	buffered, start, err := begin(text)
	if err != nil {
		return nil, err
	}
	first := firstLine(start)
	if delimiter == 0 {
		if delimiter, err = guess(first); err != nil {
			return nil, err
		}
	}
	c := &CSV{cut: &cutter{r: buffered, comma: string(delimiter)}, piece: new(piece), read: func() int64 { return 0 }}
	fields, err := c.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fileError(0, "it is empty; it must begin with a header, a line with the columns' names")
	case err != nil:
		return nil, err
	}
	for _, name := range fields {
		c.header = append(c.header, trim(name))
	}
	if len(c.header) == 1 {
		if other, err := guess(first); err == nil && other != delimiter && bytes.ContainsRune(first, other) {
			return nil, fileError(c.line, "the header is one field, %s; the delimiter seems to be %q, not %q", quote(c.header[0]), other, delimiter)
		}
	}
	return c, checkHeader(c.header)
}

const bom = "\ufeff"

// begin buffers a file, and returns its start, which must be that of a text. A byte order mark
// doesn't count.
func begin(r io.Reader) (buffered *bufio.Reader, start []byte, err error) {
	buffered = bufio.NewReaderSize(r, peeked)
	if start, err = buffered.Peek(peeked); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if err := checkStart(start); err != nil || !bytes.HasPrefix(start, []byte(bom)) {
		return buffered, start, err
	}
	_, err = buffered.Discard(len(bom))
	return buffered, start[len(bom):], err
}

// tables are other files that hold tables, by what they begin with.
var tables = []struct{ magic, is string }{
	{rowfile.Magic, "a file of rows, as Write makes them, which only fits read; here name the file that it was made of"},
	{"PAR1", "a Parquet file; export the table as CSV, or read it in Go by module table/columnar"},
	{"ARROW1", "an Arrow file; export the table as CSV, or read it in Go by module table/columnar"},
	{"\xff\xff\xff\xff", "an Arrow stream; export the table as CSV"},
	{"SQLite format 3\x00", "a SQLite database; export the table as CSV, or read a query in Go by ReadSQL"},
}

// binary reports whether a byte is a control character that tables in text don't have: a column's name may begin as another format does.
func binary(b byte) bool { return b < ' ' && b != '\t' && b != '\r' && b != '\n' || b == 0xff }

// checkStart looks for what isn't CSV.
func checkStart(start []byte) error {
	if err := checkPacked(start); err != nil {
		return err
	}
	for _, t := range tables {
		if bytes.HasPrefix(start, []byte(t.magic)) && slices.ContainsFunc(start, binary) {
			return fileError(0, "it is %s", t.is)
		}
	}
	switch {
	case bytes.HasPrefix(start, []byte(gzipMagic)):
		return fileError(0, "it is compressed by gzip; open it by a name that ends in .gz, or decompress it")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return fileError(0, "it is a zip archive or a spreadsheet; export the table as CSV")
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")), bytes.IndexByte(firstLine(start), 0) >= 0:
		return fileError(0, "it is UTF-16, not UTF-8; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)")
	}
	switch text := string(bytes.TrimLeft(start[:min(len(start), 64)], " \t\r\n")); {
	case strings.HasPrefix(text, `[{`), strings.HasPrefix(text, `{"`):
		return fileError(0, "it is JSON; export the table as CSV")
	case strings.HasPrefix(text, "<?xml"), strings.HasPrefix(strings.ToLower(text), "<html"), strings.HasPrefix(strings.ToLower(text), "<!doctype"):
		return fileError(0, "it is HTML or XML; export the table as CSV")
	}
	if i := bytes.IndexByte(start, '\r'); i >= 0 && i+1 < len(start) && start[i+1] != '\n' && bytes.IndexByte(start[:i], '\n') < 0 {
		return fileError(0, `its lines end by bare carriage returns; convert them to newlines (tr '\r' '\n')`)
	}
	return nil
}

// firstLine is what comes before the first end of a line that isn't in quotes.
func firstLine(start []byte) []byte {
	inside := false
	for i, c := range start {
		switch {
		case c == '"':
			inside = !inside
		case c == '\n' && !inside && len(bytes.TrimSpace(start[:i])) > 0:
			return start[:i]
		}
	}
	return start
}

// guess returns the delimiter that a header has most of, outside quotes; a comma if it
// has none.
func guess(header []byte) (rune, error) {
	var counts [len(delimiters)]int
	inside := false
	for _, c := range header {
		if c == '"' {
			inside = !inside
		}
		if i := strings.IndexByte(delimiters, c); i >= 0 && !inside {
			counts[i]++
		}
	}
	most := slices.Max(counts[:])
	if most == 0 {
		return ',', nil
	}
	at := slices.Index(counts[:], most)
	if other := slices.Index(counts[at+1:], most); other >= 0 {
		return 0, fileError(1, "the header has as many %q as %q; put names that hold one of them in quotes, or give OpenCSV the delimiter", delimiters[at], delimiters[at+1+other])
	}
	return rune(delimiters[at]), nil
}

// Delimiter is what stands between fields; 0 for a CSV that NewCSV or OpenCSV hasn't made.
func (c *CSV) Delimiter() rune {
	if c.cut == nil {
		return 0
	}
	comma, _ := utf8.DecodeRuneInString(c.cut.comma)
	return comma
}

// Header returns the columns' names.
func (c *CSV) Header() []string { return slices.Clone(c.header) }

// Next returns the next record, and io.EOF after the last. The slice is valid until
// the next call; a field that is kept for long is best cloned, as it shares the memory of others.
// No record comes after an error, nor after one of a [Read] of it, which was further on by then.
func (c *CSV) Next() ([]string, error) {
	if c.cut == nil {
		return nil, check.Fail(check.ErrConfig, "source", nil, "must be made by NewCSV or OpenCSV")
	}
	if c.ended != nil {
		return nil, c.ended
	}
	for {
		fields, err := c.piece.record()
		if err == nil {
			c.line = c.piece.first
		}
		if !errors.Is(err, io.EOF) {
			return fields, err
		}
		if err := c.advance(); err != nil {
			c.ended = err
			return nil, err
		}
	}
}

// advance goes on to the next piece, of the next file where one ends.
func (c *CSV) advance() error {
	b, err := c.cut.next()
	switch {
	case errors.Is(err, io.EOF) && len(c.more) > 0:
		return c.follow()
	case err != nil:
		return inFile(c.file, err)
	}
	b.file, c.piece = c.file, b
	return nil
}

// rest returns all records that were read and not returned, or else a piece of those that follow.
// It fails as Next does.
func (c *CSV) rest() (*piece, error) {
	if c.ended != nil {
		return nil, c.ended
	}
	for c.piece.text == "" && c.piece.err == nil {
		if err := c.advance(); err != nil {
			return nil, err
		}
	}
	b := c.piece
	c.piece = new(piece)
	return b, nil
}

// Place is the line where the last record begins, with the file's name where there are several.
func (c *CSV) Place() (unit string, number int) { return lineIn(c.file), c.line }

// Close closes the file that OpenCSV opened.
func (c *CSV) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// expected guesses the number of rows from how much of the file was read for some. It
// may be called while Next is.
func (c *CSV) expected(rows int) int {
	c.now.Lock()
	read := c.before + c.read()
	c.now.Unlock()
	if read > 0 {
		return int(float64(rows) * float64(c.size) / float64(read))
	}
	return 0
}
