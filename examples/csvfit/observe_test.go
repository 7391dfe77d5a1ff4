package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A draft of which the label alone is private is completed by the rows, fitted with that promise, and refused with any other.
func TestObserve(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,x,town\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i%10/5, i%10, []string{"york", "hull", "leeds"}[i%3])
	}
	data := write(t, "schools.csv", b.String())
	draft := write(t, "draft.json", `{"version": 1, "label": "y", "private": ["y"], "columns": [
		{"name": "y", "kind": "binary", "above": 0}, {"name": "x", "kind": "numeric", "quantiles": 2}, {"name": "town", "kind": "categorical"}]}`)
	lacking := write(t, "lacking.json", `{"version": 1, "label": "y", "private": ["y"], "columns": [{"name": "y", "kind": "binary", "above": 0}, {"name": "town", "kind": "categorical"}]}`)
	schema := filepath.Join(t.TempDir(), "schema.json")
	csvfit(t, "observe", "-data", data, "-schema", draft, "-o", schema)
	text, err := os.ReadFile(schema)
	if err != nil || !bytes.Contains(text, []byte(`"range": [0, 9]`)) || !bytes.Contains(text, []byte(`"knots": [3, 6]`)) || !bytes.Contains(text, []byte(`"levels": ["hull", "leeds", "york"]`)) {
		t.Errorf("%s (%v)", text, err)
	}
	if shown, _ := csvfit(t, "observe", "-data", data, "-schema", draft); shown != string(text) {
		t.Errorf("printed %s", shown)
	}
	model := filepath.Join(t.TempDir(), "m.json")
	report := filepath.Join(t.TempDir(), "r.html")
	out, _ := csvfit(t, "fit", "-data", data, "-schema", schema, "-epsilon", "1", "-o", model, "-report", report)
	if !strings.Contains(out, "unit: one label (replace-one)") {
		t.Error(out)
	}
	if html, err := os.ReadFile(report); err != nil || !bytes.Contains(html, []byte("some come from these rows")) || !bytes.Contains(html, []byte("took those marked as observed from the rows")) {
		t.Errorf("the page doesn't say where ranges come from (%v)", err)
	}
	if said, _ := csvfit(t, "verify", "-model", model); !strings.Contains(said, "marked as observed are from the rows") {
		t.Error(said)
	}
	bare := write(t, "bare.json", strings.Replace(string(text), `"private": ["y"],`, "", 1))
	checkExit(t, "without private", []string{"fit", "-data", data, "-schema", bare, "-epsilon", "1", "-o", model + "2"}, 1, `has "observed"`)
	checkExit(t, "a draft", []string{"fit", "-data", data, "-schema", draft, "-epsilon", "1", "-o", model + "3"}, 1, "csvfit observe")
	checkExit(t, "without levels", []string{"fit", "-data", data, "-schema", lacking, "-epsilon", "1", "-o", model + "4"}, 1, "csvfit observe")
	checkExit(t, "no schema", []string{"observe", "-data", data}, 2, "-schema")
	checkExit(t, "no draft", []string{"observe", "-data", data, "-schema", bare}, 1, `"private" is missing`)
	checkExit(t, "no data", []string{"observe", "-data", data + "x", "-schema", draft}, 1, "no such file")
}
