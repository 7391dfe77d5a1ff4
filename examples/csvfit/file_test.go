package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of two programs that write a file of one name, which neither found when it began, the first
// gets the name, and what the second wrote, which may have cost a budget, is where its error says.
func TestNameTakenMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.json")
	var errs [2]error
	var files [2]*file
	for k := range files {
		f, err := newFile("o", path, false)
		if err != nil {
			t.Fatal(err)
		}
		files[k] = f
	}
	for k, f := range files {
		if _, err := f.WriteString([]string{"first", "second"}[k]); err != nil {
			t.Fatal(err)
		}
		errs[k] = f.keep()
		f.discard()
	}
	if errs[0] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "-o "+path) || !strings.Contains(errs[1].Error(), files[1].Name()) {
		t.Errorf("%v, %v", errs[0], errs[1])
	}
	for name, want := range map[string]string{path: "first", files[1].Name(): "second"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s has %q (%v), want %q", name, text, err, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left: %v (%v)", left, err)
	}
}
