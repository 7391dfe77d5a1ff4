package main

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/table"
)

// secretCount is the part to train on with a secret number of rows, as promises for adding or removing one need it. The
// public bound on it is the number itself.
func secretCount(s *task.Source, j job) (*dpglm.Dataset, error) {
	if s.Facts() == nil {
		return nil, errors.New("a LIBSVM file's number of rows is public")
	}
	records, err := readRecords(j.Path)
	if err != nil {
		return nil, err
	}
	header, rows := records[0], records[1:]
	if n := len(rows); j.Rows > 0 && n > j.Rows {
		rows = without(rows, task.Split(n, float64(n-j.Rows)/float64(n), j.Split))
	}
	rows = without(rows, task.Split(len(rows), j.HeldOut, j.Split))
	schema := *s.FileFacts()
	schema.AtMost = len(rows)
	text := new(strings.Builder)
	if err := csv.NewWriter(text).WriteAll(append([][]string{header}, rows...)); err != nil {
		return nil, err
	}
	t, err := table.ReadCSV(strings.NewReader(text.String()), schema)
	if err != nil {
		return nil, err
	}
	return dpglm.NewTableDataset(t)
}

// without are the rows that aren't at the ascending places.
func without(rows [][]string, places []int) [][]string {
	var kept [][]string
	for i, r := range rows {
		if _, found := slices.BinarySearch(places, i); !found {
			kept = append(kept, r)
		}
	}
	return kept
}

func readRecords(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	return csv.NewReader(r).ReadAll()
}
