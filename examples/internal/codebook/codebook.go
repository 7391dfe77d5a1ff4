// Package codebook reads what is publicly known of a table's columns from the files in which it is written down elsewhere, and puts it into a
// schema for a person to finish:
//
//   - a CSV with a line for each variable; see the columns below
//   - DDI Codebook 2.5, an XML file with dataDscr and var
//   - a Data Package (datapackage.json) or a Table Schema of Frictionless
//   - what R prints by dput(sapply(df, class)), after which may stand dput(lapply(df, levels))
//
// They are told apart by what they begin with. Nothing is read from rows; but codebooks may have been made of rows: levels of R's factors most
// often were, and so were the sums and frequencies of DDI, which aren't read. Whoever finishes the schema must know.
//
// # The CSV
//
// Its delimiter is found as that of other files. Of the names in a line the first that the header has, in any case, is taken for
//
//	name    name, variable, column, field
//	type    type, kind, class, format: a kind of package table, or a type of R, SQL, Stata or Python
//	label   label, description, question
//	min     min, minimum, low, lower, from
//	max     max, maximum, high, upper, to
//	levels  levels, values, categories, codes: with |, ; or , between them, the first of these that occurs; of "1 = yes" the level is 1
//	role    role: label, person, weight, exposure, offset, start or end
//
// Only name must be there. Numbers have a point before their fraction.
package codebook

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dpglm/dpglm/table"
)

// ErrCodebook is the kind of errors about a codebook.
var ErrCodebook = errors.New("codebook")

// Variable is what a codebook says of a column: as much as it has of the table's. A kind is empty where it isn't known.
type Variable struct {
	table.Column
	Label string // what it means
	Role  string // one of Roles, or empty
}

// Book is what a codebook says.
type Book struct {
	Variables []Variable
	Missing   []string // texts that stand for missing values, nil for the default
	Decimal   string   // "," where numbers have it before their fraction
}

// Roles are what columns may be beside features.
var Roles = []string{"label", "person", "weight", "exposure", "offset", "start", "end"}

// mostBytes limits a codebook: the largest of surveys are a tenth of it.
const mostBytes = 1 << 26

// Read reads a codebook, of the data file of that name where it describes several. It fails with ErrCodebook, and the place, for what is none.
func Read(path, data string) (*Book, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	b, err := parse(bytes.TrimPrefix(text, []byte("\ufeff")), data)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrCodebook, path, err)
	}
	return b, nil
}

func parse(text []byte, data string) (*Book, error) {
	start := strings.TrimSpace(string(text[:min(len(text), 256)]))
	switch {
	case start == "":
		return nil, errors.New("it is empty")
	case len(text) > mostBytes:
		return nil, fmt.Errorf("it has %d bytes; a codebook has at most %d: is it the data?", len(text), mostBytes)
	case strings.HasPrefix(start, "PK\x03\x04"):
		return nil, errors.New("it is a zip archive or a spreadsheet; export it as CSV")
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("it holds zero bytes, as UTF-16 does; save it as UTF-8")
	case !utf8.Valid(text) && !strings.HasPrefix(start, "<"):
		at := slices.IndexFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool { return !utf8.Valid(line) })
		return nil, fmt.Errorf("line %d is not UTF-8; save it as UTF-8", at+1)
	case strings.HasPrefix(start, "<"):
		return parseDDI(text)
	case strings.HasPrefix(start, "{"), strings.HasPrefix(start, "["):
		return parseFrictionless(text, data)
	case strings.HasPrefix(start, "c("), strings.HasPrefix(start, "list("), strings.HasPrefix(start, "structure("):
		return parseR(string(text))
	}
	return parseCSV(text)
}

// check refuses what no column can be, by the variables' names.
func (b *Book) check() error {
	if len(b.Variables) == 0 {
		return errors.New("it describes no variable")
	}
	seen, roles := map[string]bool{}, map[string]string{}
	for i, v := range b.Variables {
		fail := func(format string, args ...any) error {
			return fmt.Errorf("variable %d, %q: %s", i+1, v.Name, fmt.Sprintf(format, args...))
		}
		switch {
		case v.Name == "":
			return fail("has no name")
		case seen[v.Name]:
			return fail("is described twice")
		case v.Role != "" && !slices.Contains(Roles, v.Role):
			return fail("has the role %q; it must be one of %s", v.Role, strings.Join(Roles, ", "))
		case v.Role != "" && roles[v.Role] != "":
			return fail("has the role %s, as %q has", v.Role, roles[v.Role])
		case len(v.Range) == 2 && !(v.Range[0] < v.Range[1]):
			return fail("goes from %v to %v; the first must be below the second", v.Range[0], v.Range[1])
		case v.From != "" && v.From >= v.To:
			return fail("goes from %s to %s; the first must be earlier", v.From, v.To)
		}
		for k, level := range v.Levels {
			if level == "" {
				return fail("has an empty level, no. %d", k+1)
			}
			if slices.Contains(v.Levels[:k], level) {
				return fail("has the level %q twice", level)
			}
		}
		seen[v.Name] = true
		if v.Role != "" {
			roles[v.Role] = v.Name
		}
	}
	return nil
}

// kindOf are the kinds that types of other programs stand for, in lower case.
var kindOf = map[string]table.Kind{
	"numeric": table.Numeric, "number": table.Numeric, "integer": table.Numeric, "int": table.Numeric, "int64": table.Numeric, "bigint": table.Numeric, "smallint": table.Numeric,
	"float": table.Numeric, "float64": table.Numeric, "double": table.Numeric, "real": table.Numeric, "decimal": table.Numeric, "long": table.Numeric, "byte": table.Numeric,
	"continuous": table.Numeric, "contin": table.Numeric, "year": table.Numeric, "difftime": table.Numeric, "scale": table.Numeric,
	"count":       table.Count,
	"categorical": table.Categorical, "category": table.Categorical, "factor": table.Categorical, "ordered": table.Categorical, "character": table.Categorical, "string": table.Categorical,
	"text": table.Categorical, "varchar": table.Categorical, "char": table.Categorical, "object": table.Categorical, "nominal": table.Categorical, "ordinal": table.Categorical, "discrete": table.Categorical, "str": table.Categorical,
	"binary": table.Binary, "boolean": table.Binary, "bool": table.Binary, "logical": table.Binary, "dummy": table.Binary,
	"date": table.Date, "datetime": table.Date, "posixct": table.Date, "posixlt": table.Date, "idate": table.Date, "datetime64": table.Date, "timestamp": table.Date,
	"id": table.ID, "identifier": table.ID,
	"ignored": table.Ignored,
}

// typed is the kind that a type stands for, empty for one that isn't known.
func typed(name string) table.Kind {
	name, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(name)), "(") // varchar(20)
	return kindOf[strings.TrimSpace(name)]
}

// settle makes of a variable's parts what a column of its kind may have: with levels it is one of a few texts, with a range it is a number.
func (v *Variable) settle() {
	if v.Kind == "" || v.Kind == table.Numeric && len(v.Levels) > 0 && len(v.Range) == 0 {
		switch {
		case len(v.Levels) > 0:
			v.Kind = table.Categorical
		case len(v.Range) > 0:
			v.Kind = table.Numeric
		}
	}
	switch {
	case v.Kind == table.Binary && len(v.Levels) == 2:
		v.Negative, v.Positive = v.Levels[:1:1], v.Levels[1:]
	case v.Kind == table.Count && len(v.Range) == 2 && v.Range[1] >= 1:
		v.Cap = int(math.Min(v.Range[1], math.MaxInt32))
	}
	if v.Kind != table.Categorical {
		v.Levels = nil
	}
	if v.Kind != table.Numeric {
		v.Range = nil
	}
}

// bounds takes the ends of a range, of days where they are such; empty texts are none, and where one is missing there is no range.
func (v *Variable) bounds(low, high string) error {
	var ends []float64
	var days []string
	for _, text := range []string{low, high} {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			days = append(days, text)
			continue
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x-x != 0 {
			return fmt.Errorf("variable %q has the bound %q; it must be a finite number such as 12.5, or a day as 2020-12-31", v.Name, text)
		}
		ends = append(ends, x)
	}
	if len(ends)+len(days) > 0 && len(ends) > 0 == (len(days) > 0) {
		return fmt.Errorf("variable %q goes from %q to %q, a number and a day", v.Name, low, high)
	}
	if len(ends) == 2 {
		v.Range = ends
	}
	if len(days) == 2 {
		v.Origin, v.From, v.To = days[0], days[0], days[1]
		if v.Kind == "" {
			v.Kind = table.Date
		}
	}
	return nil
}
