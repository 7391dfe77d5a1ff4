package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// recordsOf is what becomes of a text: its records with their lines, and the error that ends it.
func recordsOf(r io.Reader, comma rune) (out []string) {
	c := &cutter{r: bufio.NewReaderSize(r, peeked), comma: string(comma)}
	for {
		p, err := c.next()
		for err == nil {
			var fields []string
			if fields, err = p.record(); err == nil {
				out = append(out, fmt.Sprintf("line %d: %q", p.first, fields))
			}
		}
		if p == nil || !errors.Is(err, io.EOF) {
			return append(out, err.Error())
		}
	}
}

// asStandard is the same by encoding/csv.
func asStandard(text string, comma rune) (out []string) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = comma, -1
	for {
		fields, err := r.Read()
		if err != nil {
			return append(out, standardError(err).Error())
		}
		line, _ := r.FieldPos(0)
		out = append(out, fmt.Sprintf("line %d: %q", line, fields))
	}
}

// standardError says what an error of encoding/csv does, as this package has it.
func standardError(err error) error {
	var p *csv.ParseError
	switch errors.As(err, &p); {
	case errors.Is(err, csv.ErrBareQuote):
		return fileError(p.Line, `there is a quote (") inside a field that isn't in quotes; put the field in quotes and double the quotes inside`)
	case errors.Is(err, csv.ErrQuote) && p.StartLine != p.Line:
		return fileError(p.StartLine, `a quote (") opens a field that is not closed by line %d; close it, or double the quotes inside`, p.Line)
	case errors.Is(err, csv.ErrQuote):
		return fileError(p.Line, `a quote (") inside a field in quotes, or no closing quote; double the quotes inside`)
	}
	return err
}

// Records, their lines and errors are those of encoding/csv, wherever a text is cut: in one piece,
// or after each line where that is allowed.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a,b\r\n1,2\r\n\r\n3,4", "\n\r\n\"a\",\"b\"\n", "\"a\nb\",\"c\r\nd\"\n1,2\n", "\"a\"\"b\",\"\"\n\"\"\"\"\n", "a\"b\n1,2\n",
		"a,b\n\"x\"y,1\n", "1\n\"open\n2\n3", "1\n\"open", "\"a\r", "\"\n\r", "a\r", "\r", "a\r\r\n\r\r\n", "\"a\"\r\n\"b\"\r", ",\n,,\n \n", "\"\r\r\n\"\n", "\"a\"\"\n\"\"b\",c\n1,2\n",
		"5'10\"\n1\n5'11\"\n", "\"a\nb\"x\n\"c", "ä\xa7\xc2\xa7\n\"\xc2\xa7\"\xc2\xa7\n", "\"a\" ,b\n", "\"a\n\n\nb\"\n\nc\n",
	} {
		f.Add(text, ',')
		f.Add(strings.ReplaceAll(text, ",", "§"), '§')
	}
	f.Fuzz(func(t *testing.T, text string, comma rune) {
		if strings.ContainsRune("\r\n\"", comma) || comma == utf8.RuneError || !utf8.ValidRune(comma) || comma == 0 {
			return
		}
		want := asStandard(text, comma)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
			if got := recordsOf(r, comma); !slices.Equal(got, want) {
				t.Errorf("%s: %q:\n%q, want\n%q", name, text, got, want)
			}
		}
	})
}

// A quote that isn't allowed ends its line, whatever follows, which needn't be read to say so.
func TestCutsAfterBareQuotes(t *testing.T) {
	for text, want := range map[string]int{"5\"\n1\n2": 3, "1\n5\"\"\n1,2\n": 6, "1\n5\"\"": 2, "\"5\n\"\n1": 5, "1,\"a\n": 0, "a\n,\"\"\"\n": 2} {
		if got := wholeRecords([]byte(text), ","); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// Records that are longer than a piece, and texts of many pieces, are cut where records end.
func TestPieces(t *testing.T) {
	var text bytes.Buffer
	for i := range 20_000 {
		switch {
		case i%1000 == 0:
			fmt.Fprintf(&text, "%d,\"%s\"\n", i, strings.Repeat("long \"\"\n", pieceBytes/3))
		case i%7 == 0:
			fmt.Fprintf(&text, "%d,\"a\r\nb\"\r\n\n", i)
		default:
			fmt.Fprintf(&text, "%d,x\n", i)
		}
	}
	if got, want := recordsOf(strings.NewReader(text.String()), ','), asStandard(text.String(), ','); !slices.Equal(got, want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
}

// A read that fails comes after the records that were whole.
func TestReadsThatFail(t *testing.T) {
	failed := errors.New("broken")
	r := io.MultiReader(strings.NewReader("1,2\n3,4\n5,"), iotest.ErrReader(failed))
	if got := recordsOf(r, ','); !slices.Equal(got, []string{`line 1: ["1" "2"]`, `line 2: ["3" "4"]`, "broken"}) {
		t.Errorf("%q", got)
	}
	if _, err := (&cutter{r: bufio.NewReader(iotest.ErrReader(failed)), comma: ","}).next(); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}
