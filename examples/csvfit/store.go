package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// store writes the rows of a file for fit, which reads them without holding them in memory.
func store(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("csvfit store", flag.ContinueOnError)
	source := task.NewSource(f)
	source.TakesLevels = true
	output := f.String("o", "", "`file` for the rows, of a name that ends in "+task.RowsEnding+"; there must be none of that name")
	part := f.String("part", "", "write several files of at most this `size` each, such as 1GB: FILE-00001.rows and so on for -o FILE.rows, which fit takes as \"FILE-*.rows\" (default: one file)")
	if _, err := task.Parse(f, args, stdout); err != nil {
		return err
	}
	bytes, err := sizeOf(*part)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(*output, task.RowsEnding) {
		return task.Usage("-o %q must name a file that ends in %s", *output, task.RowsEnding)
	}
	if err := source.ResolveData("csvfit", stderr); err != nil {
		return err
	}
	if err := task.HasColumns("data", source.Path); err != nil {
		return err
	}
	if source.Facts() == nil {
		return task.Usage("-data %q must be a file with columns: .csv, .tsv or .txt, or any of them with .gz", source.Path)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(storeGC))
	var warnings []string
	if bytes > 0 {
		_, warnings, err = table.WriteCSVParts(ctx, *output, bytes, source.Path, *source.FileFacts())
	} else {
		warnings, err = table.WriteCSVFile(ctx, *output, source.Path, *source.FileFacts())
	}
	for _, w := range warnings {
		fmt.Fprintln(stderr, "csvfit: "+w)
	}
	return err
}

// storeGC lets a heap of 4 MiB grow to some 20 MiB before it is collected: hardly any rows are kept.
const storeGC = 400

// sizes are units of bytes.
var sizes = []struct {
	unit  string
	bytes float64
}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// sizeOf is the number of bytes of a size such as 1GB, or 0 for none.
func sizeOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	for _, s := range sizes {
		number, ok := strings.CutSuffix(strings.ToUpper(text), s.unit)
		if !ok {
			continue
		}
		if n, err := strconv.ParseFloat(number, 64); err == nil && n*s.bytes >= 1 && n*s.bytes <= 1e18 {
			return int64(n * s.bytes), nil
		}
		break
	}
	return 0, task.Usage("-part %q must be a size such as 1GB or 500MB", text)
}

// sameSchema refuses a schema that isn't the one in a file of rows, which is what counts. It notes other
// steps, which rows don't follow.
func sameSchema(path string, given *table.Schema, stderr io.Writer) error {
	in, err := table.StoredRecords(path)
	if err != nil {
		return err
	}
	stored, err := withoutSteps(in)
	if err != nil {
		return err
	}
	if text, err := withoutSteps(*given); err != nil || !bytes.Equal(text, stored) {
		return task.Usage("-schema must be the one that %s was stored with: its rows, ranges and label follow that; store them again for another one", path)
	}
	if !slices.EqualFunc(in.Columns, given.Columns, func(a, b table.Column) bool { return a.Per == b.Per }) {
		fmt.Fprintf(stderr, "csvfit: note: -schema states other steps (\"per\") than %s was stored with: coefficients are shown for those of the file\n", path)
	}
	return nil
}

// withoutSteps is a schema as JSON, but for its steps.
func withoutSteps(s table.Schema) ([]byte, error) {
	s.Columns = slices.Clone(s.Columns)
	for j := range s.Columns {
		s.Columns[j].Per = 0
	}
	return json.Marshal(s)
}
