package task

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpglm/dpglm/losses"
)

// folder writes empty data files and schemas of amounts.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text := `{"version": 1, "label": "y", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "y", "kind": "numeric", "range": [0, 9]}]}`
		if filepath.Ext(name) != ".json" {
			text = ""
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A schema goes with the file of its name, or of the longest part of it that has one, and a name
// asked for may have a loss.
func TestSetsFind(t *testing.T) {
	dir := folder(t, "a.csv", "a_b.csv.gz", "a.schema.json", "a_b.schema.json", "a_b_c.schema.json", "a_d.schema.json", "other.libsvm")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, "[a:a.csv:squared a_b:a_b.csv.gz:squared a_b_c:a_b.csv.gz:squared a_d:a.csv:squared]"},
		{[]string{"a_b:gamma", "a"}, "[a:a.csv:squared a_b:gamma:a_b.csv.gz:gamma]"},
		{[]string{"a_b:gamma", "a_b"}, "[a_b:gamma:a_b.csv.gz:gamma a_b:a_b.csv.gz:squared]"},
	} {
		sets, err := Sets{Program: "test", Folders: []string{dir}, Names: c.names}.Find(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range sets {
			loss := "squared"
			if _, ok := s.Source.Loss.(losses.Gamma); ok {
				loss = "gamma"
			}
			got = append(got, s.Name+":"+filepath.Base(s.Source.Path)+":"+loss)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%v: %v, not %s", c.names, got, c.want)
		}
	}
}

// A set that isn't there, or is there twice, is an error.
func TestSetsRefused(t *testing.T) {
	one := folder(t, "a.csv", "a.schema.json")
	for _, r := range []Sets{
		{Folders: []string{one, one}},
		{Folders: []string{one}, Names: []string{"b"}},
		{Folders: []string{one}, Names: []string{"a:nosuch"}},
		{Folders: []string{t.TempDir()}},
		{Folders: []string{folder(t, "a.schema.json", "b.csv")}},
	} {
		if _, err := r.Find(io.Discard); err == nil {
			t.Errorf("%+v is taken", r)
		}
	}
}
