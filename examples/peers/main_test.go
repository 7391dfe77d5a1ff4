package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/losses"
	"github.com/dpglm/dpglm/table"
)

// asPeer is the variable by which this test's program is told to be a peer: it prints the lines that it holds.
const asPeer = "PEERS_TEST_PRINTS"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(asPeer); ok {
		fmt.Print(text)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == ours {
		if err := command(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func options1(t *testing.T) *options {
	t.Helper()
	return &options{epsilons: []float64{1}, splits: 1, cache: t.TempDir(), survey: "../../testdata/cps1988.csv.gz", settings: settings{Seed: 1, Delta: 1e-6, Rows: 2000, HeldOut: 0.2}}
}

func sets(t *testing.T, o *options) map[string]task.Set {
	t.Helper()
	found, err := o.find(context.Background(), t.TempDir(), nil, new(bytes.Buffer))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]task.Set{}
	for _, s := range found {
		all[s.Name] = s
	}
	return all
}

// A peer is scored on the rows that the library is scored on, in the label's units: weights of 0 with the constant
// model's intercept have the constant model's loss, of classes, numbers and counts.
func TestSameRowsAndUnits(t *testing.T) {
	o := options1(t)
	for name, set := range sets(t, o) {
		const seed = 7
		trial, err := set.Source.TrialOf(context.Background(), o.Rows, seed)
		if err != nil {
			t.Fatal(err)
		}
		want := result{}
		want.score(trial.Constant())
		folder := t.TempDir()
		h, err := o.write(context.Background(), set, seed, folder)
		if err != nil {
			t.Fatal(err)
		}
		y := numbers(t, filepath.Join(folder, "y.bin"))
		x := numbers(t, filepath.Join(folder, "x.bin"))
		if len(y) != h.facts.N || len(x) != h.facts.N*h.facts.D || h.facts.N+len(trial.Held) != o.Rows {
			t.Fatalf("%s: %d labels, %d numbers of features for %d × %d, and %d rows held out", name, len(y), len(x), h.facts.N, h.facts.D, len(trial.Held))
		}
		intercept, _ := metrics.Summary(y)
		switch h.label.Kind {
		case table.Binary:
			intercept = math.Log(intercept / (1 - intercept))
		case table.Count:
			intercept = math.Log(intercept)
		}
		got := result{}
		got.score(h.score(make([]float64, h.facts.D), intercept))
		if !(math.Abs(got.Loss-want.Loss) < 1e-3*want.Loss) || got.Measure != want.Measure {
			t.Errorf("%s: %s %g, the constant's is %s %g", name, got.Measure, got.Loss, want.Measure, want.Loss)
		}
		for _, v := range x {
			if !(v >= -1 && v <= 1) {
				t.Fatalf("%s: a feature is %g", name, v)
			}
		}
	}
}

func numbers(t *testing.T, path string) []float64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v := make([]float64, len(b)/8)
	for i := range v {
		var bits uint64
		for k := range 8 {
			bits |= uint64(b[8*i+k]) << (8 * k)
		}
		v[i] = math.Float64frombits(bits)
	}
	return v
}

// Of a peer's models the best on the rows held out counts, for each ε and δ; refusals and wrong answers don't win.
func TestBestOfAPeer(t *testing.T) {
	o := options1(t)
	h, err := o.write(context.Background(), sets(t, o)["made_counts"], 1, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := `{"epsilon": 1, "delta": 0, "config": "far", "weights": [9,9,9,9], "intercept": 9, "cpu": 3}
{"epsilon": 1, "delta": 0, "config": "near", "weights": [0.5,-0.5,0.25,0], "intercept": 0.75, "cpu": 1}
{"epsilon": 1, "delta": 0, "config": "refused", "refused": "no", "cpu": 2}
{"epsilon": 1, "delta": 0, "config": "short", "weights": [1], "intercept": 0, "cpu": 2}
{"epsilon": 4, "delta": 0, "config": "refused", "refused": "no", "cpu": 1}
`
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asPeer, text)
	e := environment{peers[0], program, t.TempDir()}
	all, err := e.ask(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got := h.best(e.peer, all)
	if len(got) != 2 || got[0].Config != "near" || got[0].Configs != 4 || got[0].CPU != 2 || got[0].Refused != "" || got[1].Refused != "no" {
		t.Fatalf("%+v", got)
	}
	constant := metrics.Value(h.score(make([]float64, 4), 0.8), "deviance")
	if !(got[0].Loss < constant) {
		t.Errorf("the made counts' own model has the deviance %g, a constant %g", got[0].Loss, constant)
	}
}

// The library's own runs are of both promises and δ, in a process of its own, on the rows that peers have.
func TestOwn(t *testing.T) {
	o := options1(t)
	set := sets(t, o)["cps1988"]
	all, err := own(context.Background(), job{set.Name, set.Source.Path, set.Source.Schema, 3, 1, 20_000, o.HeldOut, o.Delta, o.epsilons})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[maker]float64{}
	for _, r := range all {
		if r.Refused != "" {
			t.Errorf("%s, %s, δ = %g: %s", r.Who, r.Relation, r.Delta, r.Refused)
		}
		seen[maker{r.Who, r.Relation, r.Delta}] = r.Loss
	}
	if len(seen) != 6 {
		t.Fatalf("%v", seen)
	}
	for m, loss := range seen {
		if m.who == ours && !(loss < seen[maker{who: constant}]) {
			t.Errorf("%v: the loss %g is above the constant's, %g", m, loss, seen[maker{who: constant}])
		}
	}
}

// Rows of a secret number are those that the split trains on.
func TestSecretCountHasTheSplitsRows(t *testing.T) {
	o := options1(t)
	set := sets(t, o)["cps1988_wages"]
	j := job{set.Name, set.Source.Path, set.Source.Schema, 3, 1, o.Rows, o.HeldOut, o.Delta, o.epsilons}
	trial, err := set.Source.TrialOf(context.Background(), j.Rows, j.Split)
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Source.SecretCount(j.Rows, 1, j.Split)
	if err != nil {
		t.Fatal(err)
	}
	a, b := trial.Train.Shape(), d.Shape()
	if !b.AddRemove || b.Rows != a.Rows || a.FeatureBound != b.FeatureBound {
		t.Errorf("at most %d rows of the bound %g; the split has %d, %g", b.Rows, b.FeatureBound, a.Rows, a.FeatureBound)
	}
}

func made1(losses ...float64) *store {
	s := &store{settings: settings{Delta: 1e-6}}
	for i, v := range losses {
		s.all = append(s.all,
			result{Set: "a", Split: i, Who: "opendp", Epsilon: 1, Delta: 1e-6, Relation: added, Measure: "1-r2", Loss: 1},
			result{Set: "a", Split: i, Who: ours, Epsilon: 1, Delta: 1e-6, Relation: added, Measure: "1-r2", Loss: 1 + v},
			result{Set: "a", Split: i, Who: ours, Epsilon: 1, Delta: 1e-6, Relation: replaced, Measure: "1-r2", Loss: 0})
	}
	return s
}

// Losses, ties and wins are by paired differences, of one neighbouring.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		losses []float64
		want   string
	}{
		{[]float64{0.1, 0.11, 0.09, 0.1, 0.1}, "| 1 | 0 | 0 |"},
		{[]float64{0.1, -0.11, 0.02, -0.01, 0.01}, "| 0 | 1 | 0 |"},
		{[]float64{-0.1, -0.11, -0.09, -0.1, -0.1}, "| 0 | 0 | 1 |"},
	} {
		var b strings.Builder
		s := made1(c.losses...)
		s.verdicts(&b)
		if want := "| opendp | add-or-remove, δ = 1e-06 | the same | 1 " + c.want; !strings.Contains(b.String(), want) {
			t.Errorf("%v: no %q in\n%s", c.losses, want, b.String())
		}
		if lost := strings.Contains(b.String(), "- a, ε = 1: by 0.1"); lost != (c.want == "| 1 | 0 | 0 |") {
			t.Errorf("%v: the list of losses is wrong:\n%s", c.losses, b.String())
		}
	}
}

// Few splits decide nothing.
func TestFewSplits(t *testing.T) {
	if all := made1(1, 1, 1, 1).compare(maker{ours, added, 1e-6}, maker{"opendp", added, 1e-6}); len(all) > 0 {
		t.Errorf("four splits count: %v", all)
	}
	if all := made1(1, 1, 1, 1, 1).compare(maker{ours, added, 1e-6}, maker{"opendp", added, 1e-6}); len(all) != 1 {
		t.Errorf("five splits don't count: %v", all)
	}
}

// A peer that can't be installed is skipped with a line that says so, and the rest goes on. The page names what wasn't
// run, and the command without what is about one machine.
func TestSkips(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	out := filepath.Join(t.TempDir(), "page.md")
	var stdout, stderr bytes.Buffer
	args := []string{"-quick", "-survey", "../../testdata/cps1988.csv.gz", "-rows", "2000", "-cache", t.TempDir(), "-out", out}
	if err := command(context.Background(), args, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr.String(), "peers: diffprivlib is skipped: ") {
		t.Errorf("nothing says that a peer was skipped: %s", stderr.String())
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- diffprivlib was not run", "split 2 times", "run ./examples/peers -quick -survey", "| cps1988 | log_loss | 1 |"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), out) {
		t.Errorf("the page has the path %s", out)
	}
}

// A store goes on, and refuses other settings.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s, err := open(path, settings{Seed: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	r := result{Set: "a", Split: 2, Who: ours, Delta: 0}
	r.score(metrics.Of(losses.Squared{}, []float64{0, 1}, []float64{0, 1}))
	if err := s.add(r); err != nil {
		t.Fatal(err)
	}
	if err := s.to.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = open(path, settings{Seed: 1, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	if !s.has("a", 2, ours) || s.has("a", 1, ours) || s.all[0].Measure != "1-r2" || s.all[0].Loss != 0 {
		t.Errorf("%+v", s.all)
	}
	if _, err := open(path, settings{Seed: 1, Delta: 1e-5}); err == nil || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("another δ: %v", err)
	}
}
