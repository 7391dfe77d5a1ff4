package main

import (
	"os"
	"testing"
)

// A page names all files that a model is of, and no directory.
func TestDataName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a,b.csv", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"x/a.csv": "a.csv", "x/a.csv,y/b.csv": "a.csv, b.csv", "a.csv, y/b.csv": "a.csv, b.csv", "x/c-*.csv": "c-*.csv", "a,b.csv": "a,b.csv", "-": "-"} {
		if got := dataName(path); got != want {
			t.Errorf("%s is called %q, want %q", path, got, want)
		}
	}
}
