package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// isRows reports whether a file is one that store wrote, by the ending of its name.
func isRows(path string) bool { return strings.HasSuffix(path, task.RowsEnding) }

// store writes the rows of a file for fit, which reads them without holding them in memory.
func store(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit store", flag.ContinueOnError)
	source := task.NewSource(f)
	source.TakesLevels = true
	output := f.String("o", "", "`file` for the rows, of a name that ends in "+task.RowsEnding+"; there must be none of that name")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	if !isRows(*output) {
		return task.Usage("-o %q must name a file that ends in %s", *output, task.RowsEnding)
	}
	if err := source.ResolveData("csvfit", stderr); err != nil {
		return err
	}
	if source.Facts() == nil || isRows(source.Path) {
		return task.Usage("-data %q must be a file with columns: .csv, .tsv or .txt, or any of them with .gz", source.Path)
	}
	warnings, err := table.WriteCSVFile(ctx, *output, source.Path, *source.Facts())
	for _, w := range warnings {
		fmt.Fprintln(stderr, "csvfit: "+w)
	}
	return err
}

// sameSchema refuses a schema that isn't the one in a file of rows, which is what counts.
func sameSchema(path string, given *table.Schema) error {
	in, err := table.StoredSchema(path)
	if err != nil {
		return err
	}
	stored, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if text, err := json.Marshal(given); err != nil || !bytes.Equal(text, stored) {
		return task.Usage("-schema must be the one that %s was stored with: its rows, ranges and label follow that; store them again for another one", path)
	}
	return nil
}
