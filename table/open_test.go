package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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

// Files are decompressed by their names, which must tell the truth.
func TestFiles(t *testing.T) {
	const text = "a,y\n1,yes\n2,no\n"
	whole := zipped(t, text)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6]++ // in the checksum
	for _, c := range []struct {
		name    string
		content []byte
		says    string
	}{
		{"plain.csv", []byte(text), ""},
		{"zipped.csv.gz", whole, ""},
		{"plain.csv.gz", []byte(text), "not compressed by gzip; rename"},
		{"empty.csv.gz", nil, "not compressed"},
		{"zipped.csv", whole, "does not end in .gz; rename"},
		{"header.csv.gz", whole[:5], "damaged or cut short"},
		{"truncated.csv.gz", whole[:len(whole)-9], "damaged or cut short"},
		{"damaged.csv.gz", damaged, "damaged or cut short"},
		{"empty.csv", nil, "empty"},
		{"directory.csv/", nil, "directory"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if strings.HasSuffix(c.name, "/") {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := ReadCSVFile(path, parse(t, small))
		if c.says == "" {
			if err != nil || len(table.Labels()) != 2 {
				t.Errorf("%s: %v, %v", c.name, table, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), filepath.Clean(path)+": ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := ReadCSVFile("none.csv", parse(t, small)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestReadLIBSVMFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.libsvm.gz")
	whole := zipped(t, "1 1:1\n-1 2:1\n")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if table, err := ReadLIBSVMFile(path, libsvm); err != nil || len(table.Labels()) != 2 {
		t.Error(table, err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadLIBSVMFile(path, libsvm)
	says(t, "cut short", err, ErrFile, "cut short", path)
	if _, err := ReadLIBSVMFile("none.libsvm", libsvm); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
