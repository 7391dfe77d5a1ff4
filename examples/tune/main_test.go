package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

// data makes a folder with a set of two classes and one of four, of the same file.
func data(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{
		"../../testdata/cps1988.csv.gz": "cps1988.csv.gz",
		"../csvfit/cps1988.json":        "cps1988.schema.json",
		"../csvfit/cps1988-region.json": "cps1988_region.schema.json",
	} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func tune(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := command(context.Background(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// contents are a file's, without the seconds.
func contents(t *testing.T, path string) map[key]result {
	t.Helper()
	f, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range f.results {
		r.Seconds, r.Value = 0, nil
		f.results[k] = r
	}
	return f.results
}

// A run that was stopped goes on where it was, and comes to what one that wasn't comes to; all of a
// split comes before the next.
func TestRunGoesOn(t *testing.T) {
	dir := data(t)
	whole, broken := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	args := func(out string) []string {
		return []string{"run", "-data", dir, "-out", out, "-splits", "2", "-rows", "500", "-epsilon", "1", "-mu", "10"}
	}
	tune(t, args(whole)...)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	const each = 4 // constant, MLE and two budgets, of each set
	if len(lines) != 2*2*each+1 {
		t.Fatalf("%d lines", len(lines)-1)
	}
	for i, line := range lines[:2*2*each] {
		if want := fmt.Sprintf(`"split":%d`, i/(2*each)); !strings.Contains(line, want) {
			t.Errorf("line %d without %s: %s", i, want, line)
		}
	}
	stopped := strings.Join(lines[:3], "") + lines[3][:20]
	if err := os.WriteFile(broken, []byte(stopped), 0o600); err != nil {
		t.Fatal(err)
	}
	tune(t, args(broken)...)
	a, b := contents(t, whole), contents(t, broken)
	if len(a) != len(b) {
		t.Errorf("%d results, %d", len(a), len(b))
	}
	for k, r := range a {
		if b[k] != r || r.Refused != "" {
			t.Errorf("%+v: %+v, %+v", k, r, b[k])
		}
	}
	if again := tune(t, args(broken)...); strings.Count(again, ": 0 results") != 2 {
		t.Errorf("a third run: %s", again)
	}
	if out := tune(t, "compare", whole, broken); strings.Count(out, "| the same |") != 4 {
		t.Errorf("runs of one build differ:\n%s", out)
	}
	other := append(args(broken), "-seed", "2")
	if err := command(context.Background(), other, io.Discard, io.Discard); err == nil {
		t.Error("results of another seed are added")
	}
}

// results writes a file with the losses of sets under budgets, one for each split.
func results(t *testing.T, name string, losses map[cell][]float64) string {
	t.Helper()
	f, err := open(filepath.Join(t.TempDir(), name), settings{Method: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.to.Close()
	for c, all := range losses {
		for split, v := range all {
			if err := f.add(result{key: key{c, split}, Measure: "log_loss", Loss: v}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f.path
}

func mustContain(t *testing.T, out string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(out, want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
}

var small, large = budget{Epsilon: 1}, budget{Mu: 10}

// Differences are paired: splits that differ more than builds do don't hide which one is better.
func TestCompareIsPaired(t *testing.T) {
	old := results(t, "old", map[cell][]float64{
		{"a", fitted, small}:      {1, 2, 3},
		{"a", fitted, large}:      {1, 2, 3},
		{"a", constant, budget{}}: {4, 4, 4},
		{"b", fitted, small}:      {1, 1.1, 1},
		{"b", fitted, large}:      {1},
	})
	next := results(t, "new", map[cell][]float64{
		{"a", fitted, small}: {1.1, 2.1, 3.11},
		{"a", fitted, large}: {0.9, 1.8, 2.95, 7},
		{"b", fitted, small}: {1.1, 1, 1.01},
		{"b", fitted, large}: {1},
	})
	out := tune(t, "compare", old, next)
	mustContain(t, out,
		"| a | ε = 1 | 2 | 2.1033 | +0.103 | 0.0033 | 3 | worse, far |",
		"| a | μ = 10 | 2 | 1.8833 | -0.117 | 0.044 | 3 | better |",
		"| b | ε = 1 | 1.0333 | 1.0367 | +0.00333 | 0.058 | 3 | tied |",
		"1 cells have a single split in common",
		"| all | 3 | 1 | 1 | 1 | 0.3 |",
		"- a, ε = 1: worse, far by 0.103 (31.0 standard errors, +5.17 %)")
	if strings.Index(out, "| worse, far |") > strings.Index(out, "| better |") {
		t.Error("worse cells are not first")
	}
}

// check finds what is worse than the constant, and what a larger budget makes worse.
func TestCheck(t *testing.T) {
	path := results(t, "r", map[cell][]float64{
		{"a", constant, budget{}}: {4, 5},
		{"a", mle, budget{}}:      {2, 3},
		{"a", fitted, small}:      {3, 4},
		{"a", fitted, large}:      {3.5, 4.6},
		{"b", constant, budget{}}: {1, 2},
		{"b", mle, budget{}}:      {2, 2},
		{"b", fitted, small}:      {1.1, 2.11},
		{"b", fitted, large}:      {1, 2},
	})
	mustContain(t, tune(t, "check", path),
		"1 of 4 cells are worse",
		"| b | ε = 1 | 1.5 | 1.605 | +0.105 | 0.005 | +7.00 | 2 |",
		"Of 2 pairs of neighbouring budgets, the loss at the larger exceeds that at the smaller in 1",
		"| a | ε = 1 | μ = 10 | 3.5 | 4.05 | +0.55 | 0.05 | 2 |",
		"| ε = 1 | 0.500 | 0.500 | 0.500 | 1 | 0 |",
		"Without those whose MLE is no better than the constant, or not there: b.",
		"| b | log_loss | 1.5 | 2 | 1.605 | 1.5 |")
}

// A loss that isn't defined is told, and not taken for one.
func TestNoLoss(t *testing.T) {
	path := results(t, "r", map[cell][]float64{{"a", fitted, small}: {1, 1, math.Inf(1)}})
	mustContain(t, tune(t, "compare", path, path), "| a | ε = 1 | 1 | 1 | +0 | 0 | 2 | the same |", "- a, in 1 results: the loss is +Inf")
}

// The deviance of amounts is that of the gamma law: the mean of 2·(y/μ − 1 − log(y/μ)).
func TestDevianceOfAmounts(t *testing.T) {
	loss := losses.Gamma{Least: 0.01}
	name, v, _ := judge(loss, metrics.Of(loss, []float64{0, math.Log(2)}, []float64{3, 5}))
	want := (2 - math.Log(3)) + (1.5 - math.Log(2.5))
	if name != "deviance" || math.Abs(v-want) > 1e-12 {
		t.Errorf("%s %g, not %g", name, v, want)
	}
}
