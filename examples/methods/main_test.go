package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A second run fits nothing anew, and prints the same table.
func TestRunGoesOn(t *testing.T) {
	dir := t.TempDir()
	var data strings.Builder
	data.WriteString("a,y\n")
	for i := range 200 {
		fmt.Fprintf(&data, "%d,%d\n", i%7, i%2)
	}
	for name, text := range map[string]string{
		"s.csv":         data.String(),
		"s.schema.json": `{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "numeric", "range": [0, 6]}, {"name": "y", "kind": "binary", "positive": ["1"], "negative": ["0"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store := filepath.Join(dir, "scores.csv")
	args := []string{"-data", dir, "-store", store, "-seeds", "2", "-methods", "noisygd,outputpert", "-epsilon", "1"}
	var before []byte
	var table string
	for k := range 2 {
		var out, stderr bytes.Buffer
		if err := run(context.Background(), args, &out, &stderr); err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(store)
		if err != nil {
			t.Fatal(err)
		}
		if k == 1 && (!bytes.Equal(now, before) || out.String() != table) {
			t.Errorf("the second run differs:\n%s", out.String())
		}
		before, table = now, out.String()
	}
	if n := strings.Count(string(before), "\n"); n != 1+2*(3+2) || !strings.Contains(table, "| s | 1 |") {
		t.Errorf("%d lines, table:\n%s", n, table)
	}
}
