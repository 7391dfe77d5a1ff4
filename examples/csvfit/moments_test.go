package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Moments are released of a file, charged to a budget, and described, regressed on and verified.
func TestMoments(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	schema, data := "cps1988.wages.json", "../../testdata/cps1988.csv.gz"
	succeed(t, "budget", "-file", file("b.json"), "-name", "cps", "-epsilon", "1.1", "-delta", "1e-6")
	release := []string{"moments", "-data", data, "-schema", schema, "-epsilon", "1", "-delta", "1e-7", "-insecure-noise-seed", "1", "-budget", file("b.json"), "-name", "cps"}
	succeed(t, append(release, "-o", file("m.json"))...)
	if out := fails(t, append(release, "-o", file("again.json"))...); !strings.Contains(out, "budget") {
		t.Errorf("a second release of nearly all of the budget: %s", out)
	}
	if _, err := os.Stat(file("again.json")); err == nil {
		t.Error("what was refused left a file")
	}
	out := succeed(t, "describe", "-moments", file("m.json"), "-correlations")
	for _, want := range []string{"education", "region=west", "mean or share", "one row"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	var r struct {
		RSquared     float64 `json:"r_squared"`
		Coefficients []struct {
			Name          string
			Estimate, Low float64
		}
	}
	out = succeed(t, "regress", "-moments", file("m.json"), "-response", "wage", "-on", "education,experience,ethnicity", "-json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || len(r.Coefficients) != 4 || r.Coefficients[0].Name != "education" || r.Coefficients[0].Low < 40 || !(r.RSquared > 0.2 && r.RSquared < 0.35) {
		t.Errorf("%s (%v)", out, err)
	}
	if out := fails(t, "verify", "-moments", file("m.json")); !strings.Contains(out, "VOID") {
		t.Errorf("verify: %s", out)
	}
	succeed(t, "moments", "-data", data, "-schema", schema, "-epsilon", "1", "-delta", "1e-7", "-o", file("secret.json"))
	if out := succeed(t, "verify", "-moments", file("secret.json")); !strings.Contains(out, "guarantee: (ε = 1,") || !strings.Contains(out, "\nchecksum   right  sha256:") || !strings.Contains(out, "format     right  dpglm moments, version 1") {
		t.Errorf("verify: %s", out)
	}
	text, err := os.ReadFile(file("m.json"))
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "education", "knowledge", 1)
	if err := os.WriteFile(file("broken.json"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	persons := strings.Replace(read(t, schema), `"label": "wage",`, `"label": "wage", "weight": "experience",`, 1)
	if err := os.WriteFile(file("weighted.json"), []byte(persons), 0o600); err != nil {
		t.Fatal(err)
	}
	one := write(t, "one.csv", "x,y\n1,2\n")
	oneRow := write(t, "one.json", `{"version":1,"label":"y","columns":[{"name":"x","kind":"numeric","range":[0,9]},{"name":"y","kind":"numeric","range":[0,9]}]}`)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":       {[]string{"regress", "-response", "wage"}, "-moments is missing"},
		"no response":   {[]string{"regress", "-moments", file("m.json")}, "-response is missing"},
		"other column":  {[]string{"regress", "-moments", file("m.json"), "-response", "height"}, "columns are wage"},
		"other file":    {[]string{"describe", "-moments", schema}, "format"},
		"damaged":       {[]string{"describe", "-moments", file("broken.json")}, "sum"},
		"no output":     {[]string{"moments", "-data", data, "-schema", schema, "-epsilon", "1"}, "-o is missing"},
		"a loss":        {[]string{"moments", "-data", data, "-schema", schema, "-epsilon", "1", "-o", file("x"), "-loss", "squared"}, "-loss"},
		"a radius":      {[]string{"moments", "-data", data, "-schema", schema, "-epsilon", "1", "-o", file("x"), "-radius", "1"}, "-radius"},
		"one row":       {[]string{"moments", "-data", one, "-schema", oneRow, "-epsilon", "1", "-o", file("x")}, "-delta is missing"},
		"weights":       {[]string{"moments", "-data", data, "-schema", file("weighted.json"), "-epsilon", "1", "-o", file("x")}, "weight"},
		"label by edge": {[]string{"moments", "-data", data, "-schema", "cps1988.json", "-epsilon", "1", "-o", file("x")}, "above"},
	} {
		if out := fails(t, c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// succeed is what a command prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := csvfit(t, args...)
	return out
}

// fails is the error of a command.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	err := run(t.Context(), args, io.Discard, io.Discard)
	if err == nil {
		t.Fatalf("%v: no error", args)
	}
	return err.Error()
}

// Correlations are roots of what regressions explain, of a column with a few rows far out, too, which count less in both.
func TestCorrelations(t *testing.T) {
	dir := t.TempDir()
	moments := filepath.Join(dir, "m.json")
	var b strings.Builder
	b.WriteString("a,b\n")
	r := rand.New(rand.NewPCG(4, 4))
	for i := range 20_000 {
		a := 10 + r.NormFloat64()
		y := a + r.NormFloat64()
		if i%500 == 0 {
			a = 100
		}
		fmt.Fprintf(&b, "%.3f,%.3f\n", a, y)
	}
	facts := `{"version": 1, "label": "b", "columns": [{"name": "a", "kind": "numeric", "range": [0, 100]}, {"name": "b", "kind": "numeric", "range": [0, 100]}]}`
	succeed(t, "moments", "-data", write(t, "d.csv", b.String()), "-schema", write(t, "s.json", facts), "-epsilon", "4", "-insecure-noise-seed", "1", "-o", moments)
	lines := strings.Split(strings.TrimSpace(succeed(t, "describe", "-moments", moments, "-correlations")), "\n")
	cells := strings.Fields(lines[len(lines)-1])
	var fit struct {
		Squared float64 `json:"r_squared"`
	}
	err := json.Unmarshal([]byte(succeed(t, "regress", "-moments", moments, "-response", "b", "-on", "a", "-json")), &fit)
	if correlation, of := strconv.ParseFloat(cells[1], 64); errors.Join(err, of) != nil || math.Abs(correlation-math.Sqrt(fit.Squared)) > 0.00501 {
		t.Errorf("the correlation is %v, and regression has R² %g (%v, %v)", cells, fit.Squared, err, of)
	}
}

// Of a column with missing values describe has the mean of those that there are, says so, and leaves out its correlations; a regression on it has
// its indicator; and a product's name stands for its levels.
func TestMomentsOfMissingValues(t *testing.T) {
	moments := filepath.Join(t.TempDir(), "m.json")
	var b strings.Builder
	b.WriteString("a,g,c,y\n")
	r := rand.New(rand.NewPCG(5, 5))
	for range 5000 {
		a := 100 * r.Float64()
		text := fmt.Sprintf("%.3f", a)
		if r.Float64() < 0.3 {
			text = ""
		}
		fmt.Fprintf(&b, "%s,%c,%.3f,%.3f\n", text, 'p'+r.IntN(3), 1+9*r.Float64(), a/10+r.NormFloat64())
	}
	facts := `{"version": 1, "label": "y", "columns": [{"name": "a", "kind": "numeric", "range": [0, 1000], "missing": "indicator"},
		{"name": "g", "kind": "categorical", "levels": ["p", "q", "r"]}, {"name": "c", "kind": "numeric", "range": [1, 10], "log": true}, {"name": "y", "kind": "numeric", "range": [-10, 20]}], "interactions": [["c", "g"]]}`
	succeed(t, "moments", "-data", write(t, "d.csv", b.String()), "-schema", write(t, "s.json", facts), "-epsilon", "1000", "-insecure-noise-seed", "1", "-o", moments)
	out := succeed(t, "describe", "-moments", moments, "-correlations")
	for _, want := range []string{"mean or share, of the values that there are", "* The mean of a is of the rows that have a value, a share of about 0.691", "Correlations with a are left out"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for _, line := range strings.Split(out, "\n") {
		if cells := strings.Fields(line); len(cells) == 6 && cells[0] == "a" {
			if mean, err := strconv.ParseFloat(cells[1], 64); err != nil || math.Abs(mean-50) > 2 {
				t.Errorf("%s", line)
			}
		}
	}
	if out := succeed(t, "regress", "-moments", moments, "-response", "y", "-on", "a,c:g"); !strings.Contains(out, "\na=missing ") || !strings.Contains(out, "\nlog(c):g=q ") || !strings.Contains(out, "\nlog(c):g=r ") {
		t.Errorf("regress:\n%s", out)
	}
	if out := fails(t, "regress", "-moments", moments, "-response", "y", "-on", "c"); !strings.Contains(out, `of this one there are "log(c)"`) {
		t.Errorf("regress on c: %s", out)
	}
}
