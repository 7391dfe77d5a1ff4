package tabular

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

const small = "a,b\n1,2\n3,4\n"

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadCSVFileDecompresses(t *testing.T) {
	whole := zipped(t, small)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6]++ // in the checksum
	for _, c := range []struct {
		name    string
		content []byte
		kind    error
	}{
		{"plain.csv", []byte(small), nil},
		{"zipped.csv.gz", whole, nil},
		{"plain.csv.gz", []byte(small), ErrGzip},
		{"empty.csv.gz", nil, ErrGzip},
		{"zipped.csv", whole, ErrGzip},
		{"header.csv.gz", whole[:5], ErrGzip},
		{"truncated.csv.gz", whole[:len(whole)-9], ErrGzip},
		{"damaged.csv.gz", damaged, ErrGzip},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := ReadCSVFile(path)
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", c.name, err, c.kind)
		}
		if err == nil && table.Rows() != 2 {
			t.Errorf("%s: %d rows, want 2", c.name, table.Rows())
		}
	}
	if _, err := ReadCSVFile(filepath.Join(t.TempDir(), "none.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
