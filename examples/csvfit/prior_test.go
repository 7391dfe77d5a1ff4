package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A fit begins at a model of public rows, or at one in a file, and says so; what can't is refused.
func TestBeginsAtPublicModel(t *testing.T) {
	data, public, dir, facts := people(t, 2000), people(t, 300), t.TempDir(), schema(t, "rich", rich)
	said := func(args ...string) string {
		out, _ := csvfit(t, append([]string{"fit", "-data", data, "-schema", facts, "-epsilon", "0.2", "-insecure-noise-seed", "1"}, args...)...)
		return out
	}
	model, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "p.html")
	if out := said("-public", public, "-o", model, "-report", page); !strings.Contains(out, "begins at  a model of the 300 public rows of "+filepath.Base(public)) {
		t.Errorf("printed\n%s", out)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "begins at") || !strings.Contains(string(text), "300 public rows") {
		t.Error("the page doesn't say where the fit began")
	}
	var with, without struct {
		Begins       string `json:"begins_at"`
		Coefficients []struct{ Value float64 }
	}
	for _, c := range []struct {
		to   any
		args []string
	}{{&with, []string{"-prior", model}}, {&without, nil}} {
		if err := json.Unmarshal([]byte(said(append(c.args, "-test", "0.2", "-json")...)), c.to); err != nil {
			t.Fatal(err)
		}
	}
	if with.Begins != "the model m.json" || without.Begins != "" || with.Coefficients[0] == without.Coefficients[0] {
		t.Errorf("began at %q and %q, and found %v and %v", with.Begins, without.Begins, with.Coefficients, without.Coefficients)
	}
	text, err := os.ReadFile(facts)
	if err != nil {
		t.Fatal(err)
	}
	other := write(t, "other.json", strings.Replace(string(text), "[20, 69]", "[20, 80]", 1))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"leave one out", []string{"-public", public, "-prior", model}},
		{"leave it out for noisygd", []string{"-prior", model, "-method", "noisygd"}},
		{"-prior " + data + ": this is no model", []string{"-prior", data}},
		{"there is no such file", []string{"-prior", filepath.Join(dir, "none.json")}},
		{"must end in", []string{"-public", model}},
		{"the same features", []string{"-prior", model, "-schema", other}},
	} {
		args := append([]string{"fit", "-data", data, "-schema", facts, "-epsilon", "1", "-o", filepath.Join(dir, "new.json")}, c.args...)
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}

// A bound on how many protected rows or persons there are, or their number, is none on public rows.
func TestPublicRowsMayBeMore(t *testing.T) {
	private, public := people(t, 400), people(t, 2000)
	text, err := os.ReadFile(schema(t, "rich", rich))
	if err != nil {
		t.Fatal(err)
	}
	facts := write(t, "few.json", strings.Replace(string(text), `"label"`, `"at_most": 500, "label"`, 1))
	out, _ := csvfit(t, "fit", "-data", private, "-schema", facts, "-epsilon", "0.2", "-delta", "1e-5", "-public", public, "-o", filepath.Join(t.TempDir(), "m.json"))
	if !strings.Contains(out, "a model of the 2000 public rows") || !strings.Contains(out, "one more or less of at most 500 rows") {
		t.Errorf("printed\n%s", out)
	}
}

// Where labels alone are private a fit begins at a public model, too.
func TestPublicModelWhereLabelsArePrivate(t *testing.T) {
	data, public := people(t, 2000), people(t, 300)
	facts := write(t, "labels.json", strings.Replace(read(t, schema(t, "rich", rich)), `"label": "rich"`, `"label": "rich", "private": ["rich"]`, 1))
	said := func(args ...string) string {
		out, _ := csvfit(t, append([]string{"fit", "-data", data, "-schema", facts, "-epsilon", "0.1", "-o", filepath.Join(t.TempDir(), "m.json"), "-insecure-noise-seed", "1"}, args...)...)
		return out
	}
	with, without := said("-public", public), said()
	for _, want := range []string{"begins at  a model of the 300 public rows of " + filepath.Base(public), "from a prior", "unit: one label"} {
		if !strings.Contains(with, want) || want != "unit: one label" && strings.Contains(without, want) {
			t.Errorf("%q is missing with -public, or said without it:\n%s\n%s", want, with, without)
		}
	}
}

// A condition on the label is kept by public rows, too.
func TestPublicModelOfSomeLabels(t *testing.T) {
	rows := "y,x\n"
	for i := range 300 {
		rows += strconv.Itoa(i%10) + "," + strconv.Itoa(i%7) + "\n"
	}
	data, public := write(t, "a.csv", rows), write(t, "b.csv", rows)
	facts := write(t, "some.json", `{"version": 1, "label": "y", "where": [{"column": "y", "from": 1}], "columns": [{"name": "y", "kind": "numeric", "range": [0, 9]}, {"name": "x", "kind": "numeric", "range": [0, 9]}]}`)
	out, _ := csvfit(t, "fit", "-data", data, "-schema", facts, "-public", public, "-epsilon", "1", "-insecure-noise-seed", "1", "-o", filepath.Join(t.TempDir(), "m.json"))
	if !strings.Contains(out, "begins at  a model of the 270 public rows of b.csv") {
		t.Error(out)
	}
}
