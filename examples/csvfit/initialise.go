package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// toFill says what a schema needs beside the kinds; package table has the rest.
var toFill = `replace each FILL IN, and add to the columns what their kinds need
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
and put one line in the place of columns of 0 and 1 that belong together, "town=york", "town=hull":
    {"name": "town", "kind": "onehot", "levels": ["york", "hull"]}
all by what is publicly known of them, not by what the file holds. Where they apply, add, too
  "missing": "indicator"                     where a number, a date, or yes or no is missing is a feature of its own
  "missing": "level"                         where a level is missing is a level of its own
  "missing": "constant", "constant": "25"    what is missing reads as this; without a rule it is an error
  "thousands": ","                           numbers are written as 1,893.06
  "per": 10                                  coefficients of a number are shown for ten units, too; of a date, for ten days
  "fold_case": true                          levels, or yes and no, in any case of their letters
and before "columns"
  "decimal": ","                             numbers are written as 1893,06
  "encoding": "windows-1252"                 the file's characters aren't UTF-8
  "where": [{"column": "age", "from": 18}]   other rows aren't there; or "to", or "in": ["york", "hull"]
  "followup": {"start": "entry", "end": "exit", "cuts": [0, 1, 5]}   times at risk, which end by the event that the label
                                             tells of or without it; without "start" they begin at 0, and
                                             both columns are ignored or not listed
  "weight": "sampling_weight"                how much a row counts: a number whose range begins at 0 or above
Missing are empty fields and, unless the schema lists others in "missing": [...] before "columns",
  ` + strings.Join(table.DefaultMissing(), ", ") + "\n"

// initialise writes a schema to fill in. It reads the header and no row: ranges and levels
// that came from rows would give some of them away.
func initialise(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit init", flag.ContinueOnError)
	path := f.String("data", "", "data `file`: .csv, .tsv or .txt, or any of them with .gz")
	encoding := f.String("encoding", "", "`name` of how the file has characters: utf-8 (default), windows-1252 or iso-8859-1")
	output := f.String("o", "", "`file` for the schema; there must be none of that name (default: standard output)")
	if _, err := task.Parse(f, args, stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, "It writes a schema from the file's header: ", toFill)
		}
		return err
	}
	if *path == "" {
		return task.Usage("-data is missing: name the file whose header is to be described")
	}
	libsvm, err := task.IsLIBSVM(*path)
	if err != nil {
		return err
	}
	if libsvm {
		return task.Usage(`a LIBSVM file names no columns; its schema has the form {"features": 20000, "bound": 5, "label": {"kind": "binary", "positive": ["1"], "negative": ["-1"]}}`)
	}
	if err := task.DataExist(*path); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "utf-8", "windows-1252", "iso-8859-1"}, strings.ToLower(*encoding)) {
		return task.Usage("-encoding %s is not one of utf-8, windows-1252 and iso-8859-1: convert the file to utf-8 (iconv -t UTF-8)", *encoding)
	}
	c, err := table.OpenCSVAs(*path, table.Schema{Encoding: *encoding})
	if err != nil {
		return err
	}
	defer c.Close()
	schema, err := table.Init(c.Header())
	if err != nil {
		return fmt.Errorf("%s: %w", *path, err)
	}
	schema.Encoding = *encoding
	out, err := newFile("o", *output, false)
	if err != nil {
		return err
	}
	defer out.discard()
	fmt.Fprint(stderr, "csvfit: ", toFill)
	if out == nil {
		_, err := fmt.Fprint(stdout, schema)
		return err
	}
	if _, err := fmt.Fprint(out, schema); err != nil {
		return err
	}
	return out.keep()
}
