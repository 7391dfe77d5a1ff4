package task

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/table"
)

// SecretCount is the part to train on that TrialOf has, with a secret number of rows, as promises for adding or removing one
// need it. The public bound on it is the given factor times the number itself. It refuses LIBSVM files, of which the number of rows is public.
func (s *Source) SecretCount(most int, factor float64, seed uint64) (*dpglm.Dataset, error) {
	if s.Facts() == nil {
		return nil, errors.New("a LIBSVM file's number of rows is public")
	}
	records, err := readRecords(s.Path)
	if err != nil {
		return nil, err
	}
	header, rows := records[0], records[1:]
	if n := len(rows); most > 0 && n > most {
		rows = without(rows, Split(n, float64(n-most)/float64(n), seed))
	}
	rows = without(rows, Split(len(rows), s.HeldOut, seed))
	schema := *s.FileFacts()
	schema.AtMost = int(factor * float64(len(rows)))
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
