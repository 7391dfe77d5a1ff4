package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/codebook"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// toFill says what a schema needs beside the kinds; package table has the rest.
const toFill = `replace each FILL IN, and add to the columns what their kinds need
  numeric      "range": [18, 100]
  categorical  "levels": ["north", "south", "else"], "other": "else"
               as the label, with three levels or more; "ordered": true says that they ascend as listed,
               and "shares": [60, 30, 10] guesses how many rows in a hundred each has
  binary       "positive": ["yes"], "negative": ["no"]
  date         "origin": "2020-01-01", "from": "2020-01-01", "to": "2025-12-31"
  count        "cap": 20, for a label
  id           whose row it is: with "person": its name and "max_rows": 5, before "columns", all rows
               of a person are protected together, of which at most so many count, and
               "persons": 12000 if it is publicly known how many there are; if not, how
               many occur is public
  ignored      nothing
and what is derived from a column, where that is better than a straight line in its number
  "log": true                                its logarithm in its place; the range must begin above 0
  "square": true                             its square, too
  "knots": [30, 50]                          a cubic spline that bends there
  "above": 600                               for a label in the place of positive and negative: yes is a number above it
and after "columns": [...]
  "interactions": [["age", "sex"]]           products of two columns; of a followup with "period", too
What isn't there, such as a value of the person's row before, is a column to make in the file.
and put one line in the place of columns of 0 and 1 that belong together, "town=york", "town=hull":
    {"name": "town", "kind": "onehot", "levels": ["york", "hull"]}
all by what is publicly known of them, not by what the file holds. Where they apply, add, too
  "missing": "indicator"                     where a number, a date, or yes or no is missing is a feature of its own
  "missing": "level"                         where a level is missing is a level of its own
  "missing": "constant", "constant": "25"    what is missing reads as this; without a rule it is an error
  "thousands": ","                           numbers are written as 1,893.06; with "decimal": ",", "." for 1.893,06
  "layouts": ["02.01.2006"]                  dates are written as this one, the second of January 2006, is here
  "per": 10                                  coefficients of a number are shown for ten units, too; of a date, for ten days
  "fold_case": true                          levels, or yes and no, in any case of their letters
and before "columns"
  "decimal": ","                             numbers are written as 1893,06
  "encoding": "windows-1252"                 the file's characters aren't UTF-8
  "where": [{"column": "age", "from": 18}]   other rows aren't there; or "to", or "in": ["york", "hull"]
  "followup": {"start": "entry", "end": "exit", "cuts": [0, 1, 5]}   times at risk, which end by the event that the label
                                             tells of or without it; without "start" they begin at 0, and
                                             both columns are ignored or not listed
  "exposure": "years"                        how long a row was at risk, for a count; or "offset": "log_years"
  "weight": "sampling_weight"                how much a row counts: a number whose range begins at 0 or above
Missing are empty fields and, unless the schema lists others in "missing": [...] before "columns",
  `

// rolesGiven are flags that name columns.
type rolesGiven map[string]*string

// addTo adds the flags.
func (r rolesGiven) addTo(f *flag.FlagSet) {
	for role, does := range map[string]string{
		"label":    "to predict",
		"person":   "that tells whose row it is",
		"weight":   "of how much a row counts",
		"exposure": "of how long, or how much, a row was at risk: its logarithm is added to the score of a count",
		"offset":   "of such logarithms, which are added as they are",
		"start":    "of when times at risk start, for a followup",
		"end":      "of when times at risk end, for a followup",
	} {
		r[role] = f.String(role, "", "`column` "+does)
	}
}

// names are the columns of the roles that were given.
func (r rolesGiven) names() map[string]string {
	names := map[string]string{}
	for role, name := range r {
		if *name != "" {
			names[role] = *name
		}
	}
	return names
}

// initialise writes a schema to fill in. It reads the header, a codebook if there is one, and no row: ranges and levels
// that came from rows would give some of them away.
func initialise(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit init", flag.ContinueOnError)
	path := f.String("data", "", "data `file`"+task.Several+".csv, .tsv or .txt, or any of them with .gz")
	encoding := f.String("encoding", "", "`name` of how the file has characters: utf-8, windows-1252 or iso-8859-1 (default: utf-8, or windows-1252 where the header isn't)")
	book := f.String("codebook", "", "`file` that says what is publicly known of the columns: a CSV with a line for each, DDI Codebook (XML), datapackage.json, or what R prints by dput(sapply(df, class)) and then, if levels are known without the rows, dput(lapply(df, levels))")
	output := f.String("o", "", "`file` for the schema; there must be none of that name (default: standard output)")
	roles := rolesGiven{}
	roles.addTo(f)
	if _, err := task.Parse(f, args, stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, "It writes a schema from the file's header: ", toFill, strings.Join(table.DefaultMissing(), ", "), "\n")
		}
		return err
	}
	if err := canDescribe(*path, *encoding, *book); err != nil {
		return err
	}
	schema, notes, err := described(*path, *encoding)
	if err != nil {
		return err
	}
	var known *codebook.Book
	if *book != "" {
		if known, err = codebook.Read(*book, *path); err != nil {
			return err
		}
	}
	more, err := codebook.Fill(&schema, known, roles.names())
	if err != nil {
		return fmt.Errorf("%s: %w", task.Called(*path), err)
	}
	out, err := newFile("o", *output, false)
	if err != nil {
		return err
	}
	defer out.discard()
	for _, n := range append(notes, more...) {
		fmt.Fprintln(stderr, "csvfit: NOTE:", n)
	}
	fmt.Fprintln(stderr, "csvfit: replace each FILL IN by what is publicly known of the columns, not by what the file holds; csvfit init -h says what kinds need, and what else a schema can have")
	if out == nil {
		_, err := fmt.Fprint(stdout, schema)
		return err
	}
	if _, err := fmt.Fprint(out, schema); err != nil {
		return err
	}
	return out.keep()
}

// canDescribe refuses files without a header, and flags that can't be.
func canDescribe(path, encoding, book string) error {
	if path == "" {
		return task.Usage("-data is missing or empty: name the file whose header is to be described")
	}
	libsvm, err := task.IsLIBSVM(path)
	if err != nil {
		return err
	}
	if libsvm {
		return task.Usage(`a LIBSVM file names no columns; its schema has the form {"features": 20000, "bound": 5, "label": {"kind": "binary", "positive": ["1"], "negative": ["-1"]}}`)
	}
	if err := task.DataExist("data", path); err != nil {
		return err
	}
	if err := task.HasColumns("data", path); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "utf-8", "windows-1252", "iso-8859-1"}, strings.ToLower(encoding)) {
		return task.Usage("-encoding %s is not one of utf-8, windows-1252 and iso-8859-1: convert the file to utf-8 (iconv -t UTF-8)", encoding)
	}
	if book == "" {
		return nil
	}
	return task.Exists("codebook", book)
}

// described is the schema of a file's header, and what was taken from how that is written.
func described(path, encoding string) (s table.Schema, notes []string, err error) {
	c, err := table.OpenCSVAs(path, table.Schema{Encoding: encoding})
	if err != nil && encoding == "" && path != task.StandardInput {
		if again, now := table.OpenCSVAs(path, table.Schema{Encoding: otherEncoding}); now == nil {
			c, err, encoding = again, nil, otherEncoding
			notes = append(notes, "the header is not UTF-8, and read as "+otherEncoding+": look at its letters with accents")
		}
	}
	if err != nil {
		return s, nil, err
	}
	defer c.Close()
	if s, err = table.Init(c.Header()); err != nil {
		return s, nil, fmt.Errorf("%s: %w", task.Called(path), err)
	}
	if s.Encoding = encoding; c.Delimiter() == ';' {
		s.Decimal = ","
		notes = append(notes, `the header has semicolons, so that "decimal" is ",": leave it out where numbers have a point`)
	}
	return s, notes, nil
}

// otherEncoding is what a header that isn't UTF-8 is taken for.
const otherEncoding = "windows-1252"
