package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/internal/audit/sample"
)

// Each number has its value, and a change changes that number alone, whole ones to whole ones.
func TestNumbersAreChanged(t *testing.T) {
	t.Chdir("../..")
	numbers, err := tuned(numbersIn)
	if err != nil {
		t.Fatal(err)
	}
	if n := numbers["Momentum"]; len(numbers) < 100 || n.value != 0.5 || n.counts || n.times(0.5) != 0.25 {
		t.Errorf("%d numbers, Momentum is %+v", len(numbers), n)
	}
	if n := numbers["MostSteps"]; !n.counts || n.times(0.5) != math.Round(n.value/2) {
		t.Errorf("MostSteps is %+v", n)
	}
	for _, name := range []string{"GammaRatio", "Momentum", "MostSteps", "PriorDoubt", "LetGo", "QuietFrom"} {
		n, dir := numbers[name], t.TempDir()
		overlay, err := n.overlay(dir, n.times(2))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := tuned(dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for other, m := range changed {
			want := numbers[other].value
			if other == name {
				want = n.times(2)
			}
			if m.value != want || m.counts != numbers[other].counts {
				t.Errorf("%s changed: %s is %+v, want %g", name, other, m, want)
			}
		}
		var replaced struct{ Replace map[string]string }
		text, err := os.ReadFile(overlay)
		if err != nil || json.Unmarshal(text, &replaced) != nil || len(replaced.Replace) != 1 {
			t.Fatalf("%s: %s (%v)", name, text, err)
		}
		for from, to := range replaced.Replace {
			if _, err := parser.ParseFile(token.NewFileSet(), from, nil, 0); err != nil || filepath.Dir(to) != dir {
				t.Errorf("%s: %s replaces %s (%v)", name, to, from, err)
			}
		}
	}
}

// Builds with another number are run on the same splits, and go on where they were.
func TestAblate(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	sets := data(t)
	t.Chdir("../..")
	dir := t.TempDir()
	args := []string{"ablate", "-out", dir, "-numbers", sample.Of("MeanKnown", "MeanKnown,PriorDoubt"), "-by", "0.5,1", "--", "-data", sets, "-sets", "cps1988", "-splits", "2", "-rows", "400", "-epsilon", "1", "-mu", ""}
	out := tune(t, args...)
	mustContain(t, out, "| MeanKnown | 25 | 13 |")
	if sample.All() { // a build of its own
		mustContain(t, out, "| PriorDoubt | 0.5 | 0.25 | 1.0000 | ")
	}
	if strings.Contains(out, "| MeanKnown | 25 | 13 | 1.0000 | ") || strings.Contains(out, "| 25 | 25 |") {
		t.Errorf("a number that is worth nothing, or is itself:\n%s", out)
	}
	if again := tune(t, args...); again != out {
		t.Errorf("another time:\n%s", again)
	}
	for _, wrong := range [][]string{{"ablate", "-out", dir}, {"ablate", "--", "-data", sets}, {"ablate", "-out", dir, "-by", "0", "--"}, {"ablate", "-out", dir, "-numbers", "none", "--"}} {
		if err := command(context.Background(), wrong, io.Discard, io.Discard); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
	t.Chdir(dir)
	if err := command(context.Background(), args, io.Discard, io.Discard); err == nil || !strings.Contains(fmt.Sprint(err), "module's root") {
		t.Errorf("elsewhere: %v", err)
	}
}
