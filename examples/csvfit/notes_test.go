package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/digits"
)

// visitsOn are balanced labels of 400 rows, with a date and a number.
func visitsOn(t *testing.T) (data, facts string) {
	var b strings.Builder
	b.WriteString("day,x,y\n")
	for i := range 400 {
		fmt.Fprintf(&b, "2024-01-%02d,%d,%d\n", 1+i%28, i%10, i%10/5)
	}
	return write(t, "visits.csv", b.String()), write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "day", "kind": "date", "origin": "2024-01-01", "from": "2024-01-01", "to": "2024-12-31"},
		{"name": "x", "kind": "numeric", "range": [0, 9]}, {"name": "y", "kind": "binary", "above": 0}]}`)
}

// A plan foresees the constant model exactly where the fit comes to it, and the fit and the
// model say so; the limit lies between these budgets.
func TestConstantModelsAreSaid(t *testing.T) {
	data, facts := visitsOn(t)
	const says = "suffice for the constant model only"
	said := 0
	for k := range 13 {
		args := []string{"-schema", facts, "-epsilon", fmt.Sprint(0.2 + 0.05*float64(k)), "-delta", "1e-5"}
		model := filepath.Join(t.TempDir(), "m.json")
		planned, _ := csvfit(t, append([]string{"plan", "-rows", "400"}, args...)...)
		fitted, _ := csvfit(t, append([]string{"fit", "-data", data, "-o", model, "-insecure-noise-seed", "1"}, args...)...)
		shown, _ := csvfit(t, "show", "-model", model)
		report, output := filepath.Join(t.TempDir(), "r.html"), filepath.Join(t.TempDir(), "m2.json")
		fittedJSON, _ := csvfit(t, append([]string{"fit", "-data", data, "-o", output, "-report", report, "-insecure-noise-seed", "1", "-json"}, args...)...)
		shownJSON, _ := csvfit(t, "show", "-model", model, "-json")
		page, err := os.ReadFile(report)
		if err != nil {
			t.Fatal(err)
		}
		is := strings.Contains(planned, says)
		if strings.Contains(fittedJSON, says) != is || strings.Contains(shownJSON, says) != is || strings.Contains(string(page), "Constant model.") != is {
			t.Errorf("constant: %v; by JSON\n%s\n%s", is, fittedJSON, shownJSON)
		}
		if strings.Contains(fitted, says) != is || strings.Contains(shown, says) != is || strings.Contains(fitted, "\nx            0      1\n") != is {
			t.Errorf("planned\n%s\nand did\n%s\n%s", planned, fitted, shown)
		}
		if is {
			said++
		}
	}
	if said == 0 || said == 13 {
		t.Errorf("said for %d of 13 budgets", said)
	}
	planned, _ := csvfit(t, "plan", "-rows", "400", "-schema", facts, "-epsilon", "0.2", "-method", "noisygd")
	if strings.Contains(planned, says) {
		t.Errorf("not a method that comes to it:\n%s", planned)
	}
}

// What is printed says per what its coefficients are, has one δ, and a word before the
// ledger's tree.
func TestPrintsExplainThemselves(t *testing.T) {
	data, facts := visitsOn(t)
	model := filepath.Join(t.TempDir(), "m.json")
	fitted, _ := csvfit(t, "fit", "-data", data, "-schema", facts, "-epsilon", "2", "-delta", "1.2345641e-5", "-o", model, "-insecure-noise-seed", "1")
	shown, _ := csvfit(t, "show", "-model", model)
	for _, out := range []string{fitted, shown} {
		for _, want := range []string{`Coefficients of numbers from "day" are per day.`, "releases, as planned before any noise was drawn:\nat most, "} {
			if strings.Count(out, want) != 1 {
				t.Errorf("%q lacks %q", out, want)
			}
		}
	}
	if strings.Count(fitted, "δ = 1.23457e-05)") != 2 || strings.Count(fitted, "δ = ") != 2 {
		t.Errorf("δ has several forms:\n%s", fitted)
	}
	const helps = "To determine more of them, what helps: a larger -epsilon, more rows, or fewer columns. If predictions are all you need: -method auto."
	for epsilon, want := range map[string]bool{"0.01": true, "50": false} {
		inferred, _ := csvfit(t, "fit", "-method", "infer", "-data", people(t, 2000), "-schema", schema(t, "pay", pay), "-epsilon", epsilon, "-o", filepath.Join(t.TempDir(), "m.json"), "-insecure-noise-seed", "1")
		if strings.Contains(inferred, helps) != want {
			t.Errorf("ε = %s: %s", epsilon, inferred)
		}
	}
}

// What is printed of the default δ is the number that is written, in all its digits.
func TestDeltaIsOneNumber(t *testing.T) {
	_, facts := visitsOn(t)
	for _, rows := range []string{"12345", "20000", "77777"} {
		text, _ := csvfit(t, "plan", "-schema", facts, "-rows", rows, "-epsilon", "1")
		written, _ := csvfit(t, "plan", "-schema", facts, "-rows", rows, "-epsilon", "1", "-json")
		var planned struct{ Delta float64 }
		if err := json.Unmarshal([]byte(written), &planned); err != nil {
			t.Fatal(err)
		}
		if says := fmt.Sprintf("δ = %v)", planned.Delta); !strings.Contains(text, says) || digits.RoundedUp(planned.Delta) != fmt.Sprint(planned.Delta) {
			t.Errorf("%s rows: %q is missing in\n%s", rows, says, text)
		}
	}
}

// A group as large as the data set is warned of, and a smaller one isn't.
func TestGroupOfAllRows(t *testing.T) {
	for group, want := range map[string]int{"899": 0, "900": 1, "100000": 1} {
		_, said := csvfit(t, "plan", "-schema", schema(t, "rich", rich), "-rows", "900", "-epsilon", "1", "-group", group)
		if strings.Count(said, "-group "+group+" protects all 900 rows together") != want {
			t.Errorf("-group %s: %s", group, said)
		}
	}
}

// A radius is named where it holds the weights, and not otherwise.
func TestRadiusIsNamedWhereItHolds(t *testing.T) {
	facts := schema(t, "pay", pay)
	for method, holds := range map[string]bool{"noisygd": true, "auto": false, "standardised": false, "infer": false} {
		args := []string{"plan", "-schema", facts, "-rows", "900", "-epsilon", "1", "-method", method}
		text, _ := csvfit(t, args...)
		object, _ := csvfit(t, append(args, "-json")...)
		if strings.Contains(text, ", radius ") != holds || strings.Contains(object, `"radius"`) != holds {
			t.Errorf("%s\n%s", text, object)
		}
	}
}

// Plans warn of noise that hides what labels differ by, and not of what is little beside one
// count: whoever has few counts has no use for a narrower range.
func TestCoarseLabels(t *testing.T) {
	for _, c := range []struct {
		label, rows string
		want        bool
	}{
		{`"kind": "count", "cap": 1`, "2000", false},
		{`"kind": "count", "cap": 2`, "2000", false},
		{`"kind": "count", "cap": 10`, "2000", false},
		{`"kind": "count", "cap": 10`, "200", true},
		{`"kind": "count", "cap": 1000`, "2000", true},
		{`"kind": "count", "cap": 1000`, "20000", false},
		{`"kind": "numeric", "range": [0, 2]`, "2000", false},
		{`"kind": "numeric", "range": [0, 2]`, "200", true},
	} {
		_, said := csvfit(t, "plan", "-schema", schema(t, "pay", c.label), "-rows", c.rows, "-epsilon", "1")
		if strings.Contains(said, "even their mean alone") != c.want {
			t.Errorf("%s, %s rows: %q", c.label, c.rows, said)
		}
	}
	_, said := csvfit(t, "plan", "-schema", schema(t, "pay", pay), "-rows", "2000", "-epsilon", "1", "-loss", "gamma")
	if !strings.Contains(said, "even their mean alone") {
		t.Errorf("of amounts: %q", said)
	}
}

// Losses with a kink say that it is smoothed over a width that goes by the label's range; others don't.
func TestKinksAreNoted(t *testing.T) {
	data := write(t, "d.csv", "x,y\n"+strings.Repeat("0.1,1\n0.9,2\n0.5,1.5\n", 300))
	schema := write(t, "s.json", `{"version": 1, "label": "y", "columns": [{"name": "x", "kind": "numeric", "range": [0, 1]}, {"name": "y", "kind": "numeric", "range": [0, 3]}]}`)
	for loss, want := range map[string]bool{"quantile": true, "absolute": true, "squared": false, "huber": false} {
		out, _ := csvfit(t, "fit", "-data", data, "-schema", schema, "-loss", loss, "-epsilon", "1", "-delta", "1e-6", "-insecure-noise-seed", "1", "-o", filepath.Join(t.TempDir(), "m.json"))
		if got := strings.Contains(out, "Kinks of this loss are smoothed"); got != want {
			t.Errorf("%s: noted %v, want %v in\n%s", loss, got, want, out)
		}
	}
}
