package table

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// OpenCSVAs is [OpenCSV] of a file whose text is as a schema says, with the delimiter that the header has most of. The path may be that of
// several files, as "claims/*.csv" (filepath.Match) or with commas between them, which are read one after the other and have the same
// header; or "-" for standard input, gzipped or not. Where a file of such a name exists it is that one.
func OpenCSVAs(path string, s Schema) (*CSV, error) {
	if path == standardInput {
		in := bufio.NewReader(os.Stdin)
		magic, _ := in.Peek(len(gzipMagic))
		text, err := decompress(in, string(magic) == gzipMagic)
		if err != nil {
			return nil, err
		}
		return newCSV(text, 0, s.Encoding)
	}
	paths, err := Files(path)
	if err != nil {
		return nil, err
	}
	c, err := openAs(paths[0], s)
	if err != nil || len(paths) == 1 {
		return c, err
	}
	c.file, c.piece.file, c.more, c.as = paths[0], paths[0], paths[1:], &s
	for _, p := range c.more {
		info, err := os.Stat(p)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.size += info.Size()
	}
	return c, nil
}

// standardInput is the path that stands for it.
const standardInput = "-"

// called is a path in messages.
func called(path string) string {
	if path == standardInput {
		return "standard input"
	}
	return path
}

// gzipMagic is what gzipped files begin with.
const gzipMagic = "\x1f\x8b"

func openAs(path string, s Schema) (*CSV, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	c, err := newCSV(f, 0, s.Encoding)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", called(path), err)
	}
	c.close, c.size, c.read = f.Close, f.size, f.consumed
	return c, nil
}

// Files are the files that a path names, as [OpenCSVAs] has it: in the order of their names, but for those with commas between them. It fails
// where a pattern is broken, or names none, a name beside a comma is missing, or "-", or where a file is named twice, or as itself and compressed,
// as x.csv and x.csv.gz. Whether they exist it leaves to whoever opens them.
func Files(path string) (list []string, err error) {
	if _, err := os.Stat(path); err == nil || !strings.ContainsAny(path, "*?[,") {
		return []string{path}, nil
	}
	for _, part := range strings.Split(path, ",") {
		part = strings.TrimSpace(part)
		switch part {
		case "":
			return nil, fileError(0, "%s: a name is missing beside a comma", path)
		case standardInput:
			return nil, fileError(0, `%s: "-" is standard input, which isn't read beside other files, nor twice (a file of that name is ./-)`, path)
		}
		found := []string{part}
		if strings.ContainsAny(part, "*?[") {
			if found, err = filepath.Glob(part); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrFile, part, err)
			}
		}
		if len(found) == 0 {
			return nil, fileError(0, "%s: there is no such file", part)
		}
		list = append(list, found...)
	}
	known := make([]os.FileInfo, len(list))
	for i, p := range list {
		var err error
		if known[i], err = os.Stat(p); err != nil {
			known[i] = nil // whoever opens it says so
		}
		for k, of := range list[:i] {
			if of == p || known[k] != nil && known[i] != nil && os.SameFile(known[k], known[i]) {
				return nil, fileError(0, "%s and %s are the same file, of whose rows each would count as two", of, p)
			}
			if unpacked(of) == unpacked(p) {
				return nil, fileError(0, "%s and %s are very likely the same rows, each of which would count as two: name one of the files, or rename one if they are different", of, p)
			}
		}
	}
	return list, nil
}

// unpacked is the name of a file before it was compressed.
func unpacked(path string) string { return strings.TrimSuffix(filepath.Clean(path), ".gz") }

// follow goes on with the next file.
func (c *CSV) follow() error {
	if err := c.Close(); err != nil {
		return err
	}
	next, err := openAs(c.more[0], *c.as)
	if err != nil {
		c.close = nil
		return err
	}
	c.file, c.more = c.more[0], c.more[1:]
	c.now.Lock()
	c.before += c.read()
	c.cut, c.piece, c.close, c.read, c.line = next.cut, next.piece, next.close, next.read, next.line
	c.now.Unlock()
	c.piece.file = c.file
	if !slices.Equal(next.header, c.header) {
		c.cut, c.piece, c.more = &cutter{err: io.EOF}, new(piece), nil // there is no going on
		return columnError("the header of %s %s that of the file before it; files that are read together have the same columns in the same order", c.file, beside(next.header, c.header))
	}
	return nil
}

// beside says how a header differs from another one, which has no column twice either.
func beside(header, other []string) string {
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return slices.Contains(b, name) })
	}
	lacks, more := without(other, header), without(header, other)
	switch {
	case len(lacks) > 0 && len(more) > 0:
		return fmt.Sprintf("lacks %s and has %s, unlike", list(quoted(lacks), "and"), list(quoted(more), "and"))
	case len(lacks) > 0:
		return fmt.Sprintf("lacks %s of", list(quoted(lacks), "and"))
	case len(more) > 0:
		return fmt.Sprintf("has %s beside", list(quoted(more), "and"))
	}
	at := 0
	for header[at] == other[at] { // of columns in another order
		at++
	}
	return fmt.Sprintf("has %s as column %d, and not %s, unlike", quote(header[at]), at+1, quote(other[at]))
}

// decoded is the text as UTF-8, which it is if it begins with that one's mark. It fails where the start of a text in an encoding of
// one byte a character is UTF-8, with characters of several: by chance a few accents hardly ever are.
func decoded(r *bufio.Reader, encoding string) (io.Reader, error) {
	if mark, _ := r.Peek(len(bom)); string(mark) == bom {
		return r, nil
	}
	if e := strings.ToLower(encoding); e != windows && e != latin1 {
		return r, nil
	}
	start, _ := r.Peek(peeked)
	if several := bytes.IndexFunc(start, func(c rune) bool { return c >= utf8.RuneSelf }) >= 0; several && validStart(start) {
		return nil, fileError(0, "it is UTF-8, and the schema's \"encoding\" is %s: leave that out or, where it is a model's, save the file as it (iconv -f UTF-8 -t %s)", encoding, encoding)
	}
	return &fromWindows{r: r}, nil
}

// validStart reports whether the start of a text is UTF-8, but for a character that it may end within.
func validStart(start []byte) bool {
	for cut := range utf8.UTFMax {
		if cut <= len(start) && utf8.Valid(start[:len(start)-cut]) {
			return true
		}
	}
	return false
}

// fromWindows reads Windows-1252: each byte is a character, that of the same number but for 0x80 to 0x9f.
type fromWindows struct {
	r    io.Reader
	rest []byte // decoded, and not yet read
	err  error  // after these
}

// above80 are the characters of 0x80 to 0x9f; those that have none stand for themselves, as browsers have it.
var above80 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

const (
	ascii = 0x80 // characters below it are one byte of UTF-8
	chunk = 1 << 16
)

func (f *fromWindows) Read(p []byte) (int, error) {
	if len(f.rest) == 0 && f.err == nil {
		raw := make([]byte, chunk)
		n, err := f.r.Read(raw)
		f.err = err
		f.rest = make([]byte, 0, 2*n)
		for _, b := range raw[:n] {
			c := rune(b)
			if i := int(b) - ascii; i >= 0 && i < len(above80) {
				c = above80[i]
			}
			f.rest = append(f.rest, string(c)...)
		}
	}
	n := copy(p, f.rest)
	if f.rest = f.rest[n:]; len(f.rest) == 0 {
		return n, f.err
	}
	return n, nil
}
