package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// parsedFrom are the mutants of a package of one file.
func parsedFrom(t *testing.T, src string) []Mutant {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("p", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("p", "p.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("p", "p_test.go"), []byte("package p\nvar test = 1 + 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := mutantsOf("p")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Each operator makes what it says, once.
func TestOperators(t *testing.T) {
	const begin = "package p\nfunc f(a, b int, x float64) (int, error) {\n"
	for code, want := range map[string][]string{
		"for a < b {}":                      {"for a <= b {}"},
		"for a != b && a >= b {}":           {"for a != b || a >= b {}", "for a == b && a >= b {}", "for a != b && a > b {}", "for a >= b {}", "for a != b {}"},
		"p := T{A: a, B: b, C: c}":          {"p := T{B: b, C: c}", "p := T{A: a, C: c}", "p := T{A: a, B: b}"},
		"p := T{A: a}":                      {"p := T{}"},
		"p := T{a, b}":                      nil,
		"a = a + b":                         {"a = a - b", "_ = a"},
		"a -= b":                            {"a += b", "_ = a"},
		"a++":                               {"_ = a"},
		"f(a, b, x)":                        {""},
		"defer f(a, b, x)":                  {""},
		"a := 7":                            {"a := (7+1)", "a := (7-1)"},
		"x := 1.5":                          {"x := (2*1.5)"},
		"x := math.Sqrt(x)":                 {"x := (x)"},
		"a := min(a, b)":                    {"a := max(a, b)"},
		"for range a {}":                    {"for range (a)-1 {}"},
		"for _, c := range list {}":         nil,
		"if a == b { return a, err }":       {"if a != b { return a, err }", "if !(a == b) { return a, err }", "if false && (a == b) { return a, err }", "if a == b { return a, nil }"},
		"return a, check.Fail(rule)":        {"return a, nil"},
		"return a, nil":                     nil,
		`s := "a" + name`:                   nil,
		"if a := b; a { f() } else { f() }": {"if a := b; !(a) { f() } else { f() }", "if a := b; a {  } else { f() }", "if a := b; a { f() } else {  }"},
		"x := 0.0":                          nil,
		"a := math.Inf(1)":                  nil,
		"// 1 + 2":                          nil,
	} {
		var got []string
		for _, m := range parsedFrom(t, begin+code+"\n}\n") {
			if m.Before != code || m.Func != "f" || m.Line != 3 || m.File != "p/p.go" {
				t.Errorf("%q: %+v", code, m)
			}
			src, err := m.mutated()
			if err != nil || !strings.Contains(string(src), m.After) || len(src) != len(begin+code+"\n}\n")-(m.to-m.from)+len(m.text) {
				t.Errorf("%q becomes %q (%v)", code, src, err)
			}
			got = append(got, m.After)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
}

// A mutant keeps its ID where other code comes before it, and two of the same text in a function have two.
func TestIDs(t *testing.T) {
	ids := func(src string) (list []string) {
		for _, m := range parsedFrom(t, src) {
			if m.Func == "f" {
				list = append(list, m.ID)
			}
		}
		return list
	}
	f := "func f() {\na++\na++\n}\n"
	alone, behind := ids("package p\n"+f), ids("package p\n\nfunc g() { b-- }\n\n"+f)
	if len(alone) != 2 || alone[0] == alone[1] || !slices.Equal(alone, behind) {
		t.Errorf("IDs are %v, and %v behind other code", alone, behind)
	}
}

// A sample has the same order with and without other mutants.
func TestOrderOfSamples(t *testing.T) {
	var all []Mutant
	for _, id := range strings.Split("abcdefghijklmnop", "") {
		all = append(all, Mutant{ID: id})
	}
	some := order(slices.Clone(all[:8]), 3)
	rest := slices.DeleteFunc(order(slices.Clone(all), 3), func(m Mutant) bool { return m.ID > "h" })
	if !slices.Equal(some, rest) || slices.Equal(some, order(slices.Clone(all[:8]), 4)) {
		t.Errorf("the order is %v, among others %v", some, rest)
	}
}

// What has been judged to mean the same is code that there still is, and has a reason.
func TestJudgedMutantsExist(t *testing.T) {
	t.Chdir("../..")
	all, err := collect("")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range all {
		if known[m.ID] {
			t.Errorf("two mutants have the ID %s", m.ID)
		}
		known[m.ID] = true
	}
	for id, why := range judged() {
		if !known[id] || len(why) < 20 {
			t.Errorf("%s (%s) is no mutant, or has no reason", id, why)
		}
	}
}

// A mutant is late where its tests end at a limit that is three times what they take without it.
func TestLateMutants(t *testing.T) {
	for name, c := range map[string]struct {
		mutant, without ran // of the first limit, and of no change
		longer          ran // of three times as long
		want            ran
		runs            int
	}{
		"killed":   {mutant: ran{output: "--- FAIL: TestIt", failed: true}, want: ran{output: "--- FAIL: TestIt", failed: true}, runs: 1},
		"survived": {mutant: ran{output: "ok"}, want: ran{output: "ok"}, runs: 1},
		"late":     {mutant: ran{output: timedOut, failed: true}, without: ran{took: limit / 3}, want: ran{output: timedOut, failed: true}, runs: 2},
		"busy":     {mutant: ran{output: timedOut, failed: true}, without: ran{took: limit/3 + 1}, longer: ran{output: "ok"}, want: ran{output: "ok"}, runs: 3},
		"broken":   {mutant: ran{output: timedOut, failed: true}, without: ran{failed: true}, runs: 2},
	} {
		runs := 0
		got, err := within(step{}, "change", func(_ step, overlay string, of time.Duration) ran {
			runs++
			switch {
			case overlay == "":
				return c.without
			case of > limit:
				return c.longer
			}
			return c.mutant
		})
		if broken := name == "broken"; (err != nil) != broken || !broken && got != c.want || runs != c.runs {
			t.Errorf("%s: %+v after %d runs (%v)", name, got, runs, err)
		}
	}
}

// Rates leave out what doesn't compile and what means the same.
func TestReport(t *testing.T) {
	var out strings.Builder
	results := []Result{{Mutant: Mutant{ID: "1", Package: "p"}, Result: killed}, {Mutant: Mutant{ID: "2", Package: "p"}, Result: late},
		{Mutant: Mutant{ID: "3", Package: "p", Before: "gone"}, Result: unbuilt}, {Mutant: Mutant{ID: "4", Package: "q", Before: "left"}, Result: survived}}
	for id := range judged() {
		results = append(results, Result{Mutant: Mutant{ID: id, Package: "p", Before: "same"}, Result: survived})
		break
	}
	if left := report(&out, results); left != 1 || !strings.Contains(out.String(), "- left") || strings.Contains(out.String(), "- gone") || strings.Contains(out.String(), "- same") {
		t.Errorf("%d are left:\n%s", left, &out)
	}
}
