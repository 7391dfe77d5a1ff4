package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// observe completes a schema of which the label alone is private: what else it lacks may be read off the rows.
func observe(ctx context.Context, args []string, stdout, _ io.Writer) error {
	f := flag.NewFlagSet("csvfit observe", flag.ContinueOnError)
	path := f.String("data", "", "data `file`"+task.Several+".csv, .tsv or .txt, or any of them with .gz")
	schema := f.String("schema", "", "`file` of a schema with \"private\", and without ranges, levels or days that are to be taken from the rows; \"quantiles\": 3 asks for three knots")
	output := f.String("o", "", "`file` for the whole schema; there must be none of that name (default: standard output)")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	if *path == "" || *schema == "" {
		return task.Usage("-data and -schema are needed: the rows, and what is to be completed by them")
	}
	if err := task.HasColumns("data", *path); err != nil {
		return err
	}
	text, err := os.ReadFile(*schema)
	if err != nil {
		return err
	}
	draft, err := table.ParseDraft(text)
	if err != nil {
		return fmt.Errorf("%s: %w", *schema, err)
	}
	c, err := table.OpenCSVAs(*path, draft)
	if err != nil {
		return err
	}
	defer c.Close()
	out, err := newFile("o", *output, false)
	if err != nil {
		return err
	}
	defer out.discard()
	whole, err := table.Observe(table.WithContext(ctx, c), draft)
	if err != nil {
		return fmt.Errorf("%s: %w", task.Called(*path), err)
	}
	if out == nil {
		_, err := fmt.Fprint(stdout, whole)
		return err
	}
	if _, err := fmt.Fprint(out, whole); err != nil {
		return err
	}
	return out.keep()
}
