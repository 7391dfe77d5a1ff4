package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/task"
	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// asked is a context that is cancelled when it is asked for the n-th time whether it has ended.
type asked struct {
	context.Context
	left *int
}

func (a asked) Err() error {
	if *a.left--; *a.left < 0 {
		return context.Canceled
	}
	return nil
}

// funded makes a budget that a fit at ε = 1 fits twice, and the arguments of one.
func funded(t *testing.T, data, facts string, more ...string) (budget string, args []string) {
	t.Helper()
	dir := t.TempDir()
	budget = filepath.Join(dir, "budget.json")
	unit := "row"
	if text, err := os.ReadFile(facts); err == nil && strings.Contains(string(text), `"person"`) {
		unit = "person"
	}
	csvfit(t, "budget", "-file", budget, "-name", "people", "-unit", unit, "-epsilon", "3", "-delta", "1e-4")
	return budget, append([]string{"fit", "-data", data, "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-budget", budget, "-name", "people", "-o", filepath.Join(dir, "model.json")}, more...)
}

func entriesOf(t *testing.T, budget string) []budgetfile.Entry {
	t.Helper()
	b, err := budgetfile.Open(budget)
	if err != nil {
		t.Fatal(err)
	}
	list, err := b.Entries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// beside are the files that a budget has beside its entries.
func beside(t *testing.T, budget string) (left []string) {
	t.Helper()
	list, err := os.ReadDir(budget + ".d")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name() != "entries" {
			left = append(left, e.Name())
		}
	}
	return left
}

// A fit that is cancelled, whenever it asks, has spent nothing and says so; or noise had begun, and
// then the same command with -resume goes on, and spends nothing more.
func TestFitsThatAreCancelledGoOn(t *testing.T) {
	data, facts := people(t, 300), schema(t, "rich", rich)
	before, back, after := 0, 0, 0
	for n := 0; ; n += 1 + n/6 {
		budget, args := funded(t, data, facts, "-evaluate", "0.5")
		model, left := args[len(args)-3], n
		err := run(asked{t.Context(), &left}, args, io.Discard, io.Discard)
		list := entriesOf(t, budget)
		if err == nil {
			if len(list) != 1 || list[0].Begun.IsZero() || len(beside(t, budget)) > 0 {
				t.Errorf("%d: %+v, and %v are left", n, list, beside(t, budget))
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%d: %v", n, err)
		}
		switch {
		case len(list) == 0:
			before++
			continue
		case !list[0].GivenBack.IsZero():
			if shown, _ := csvfit(t, "budget", "-file", budget); !strings.Contains(shown, "given back: interrupted before any noise was drawn") {
				t.Errorf("%d: not given back:\n%s", n, shown)
			}
			if back++; !strings.Contains(err.Error(), "nothing was released: entry "+list[0].ID+" of -budget "+budget+" was given back") || len(beside(t, budget)) > 0 {
				t.Errorf("%d: %v, and %v are left", n, err, beside(t, budget))
			}
			continue
		case list[0].Begun.IsZero():
			t.Fatalf("%d: neither begun nor given back: %v", n, err)
		}
		after++
		more := "-resume " + list[0].ID
		if !strings.HasSuffix(err.Error(), "give the same command with "+more) {
			t.Errorf("%d: %v", n, err)
		}
		if shown, _ := csvfit(t, "budget", "-file", budget); !strings.Contains(shown, "unfinished: its fit runs, or goes on with "+more) {
			t.Errorf("%d: not unfinished:\n%s", n, shown)
		}
		kept, _ := os.ReadFile(model) // when the evaluation was cancelled
		said, _ := csvfit(t, append(args, "-resume", list[0].ID)...)
		now, err := os.ReadFile(model)
		if err != nil || kept != nil && !bytes.Equal(kept, now) || !strings.Contains(said, "evaluation, private") {
			t.Errorf("%d: the model has changed (%v):\n%s", n, err, said)
		}
		if shown, _ := csvfit(t, "budget", "-file", budget); strings.Contains(shown, "unfinished") {
			t.Errorf("%d: still unfinished:\n%s", n, shown)
		}
		if again := entriesOf(t, budget); len(again) != 1 || len(beside(t, budget)) > 0 {
			t.Errorf("%d: %+v, and %v are left", n, again, beside(t, budget))
		}
	}
	if before == 0 || back == 0 || after < 2 {
		t.Errorf("cancelled %d times before the charge, %d before noise, %d after", before, back, after)
	}
}

// Faults before the first noise cost nothing: a file of rows that ends too early, and no room
// for temporary files.
func TestFaultsCostNothing(t *testing.T) {
	data, facts, dir := people(t, 300), schema(t, "rich", rich), t.TempDir()
	rows := filepath.Join(dir, "people.rows")
	csvfit(t, "store", "-data", data, "-schema", facts, "-o", rows)
	whole, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(dir, "short.rows")
	if err := os.WriteFile(short, whole[:len(whole)*2/3], 0o600); err != nil {
		t.Fatal(err)
	}
	boost := []string{"-method", "boost"}
	for name, c := range map[string]struct {
		data, temporary string
		more            []string
	}{
		"a short file":                     {short, dir, nil},
		"no temporary files":               {rows, filepath.Join(dir, "none"), []string{"-evaluate", "0.2"}},
		"no temporary files for its parts": {rows, filepath.Join(dir, "none"), boost},
	} {
		budget, args := funded(t, c.data, facts, c.more...)
		t.Setenv("TMPDIR", c.temporary)
		err := run(t.Context(), args, io.Discard, io.Discard)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		for _, e := range entriesOf(t, budget) {
			if e.GivenBack.IsZero() || !e.Begun.IsZero() || !strings.Contains(err.Error(), "was given back") {
				t.Errorf("%s: %+v: %v", name, e, err)
			}
		}
		if shown, _ := csvfit(t, "budget", "-file", budget); !strings.Contains(shown, "nothing spent") || len(beside(t, budget)) > 0 {
			t.Errorf("%s: %v are left, and\n%s", name, beside(t, budget), shown)
		}
	}
	t.Setenv("TMPDIR", dir)
	_, args := funded(t, rows, facts, boost...)
	csvfit(t, args...)
}

// Only the same fit of the same data goes on.
func TestResumesTheSameFitOnly(t *testing.T) {
	text, facts := unzipped(t, people(t, 300)), schema(t, "rich", rich)
	budget, args := funded(t, write(t, "people.csv", text), facts, "-method", "noisygd")
	if err := run(stopsOnceBegun{t.Context(), budget}, args, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	id := entriesOf(t, budget)[0].ID
	lines := strings.SplitAfter(text, "\n")
	lines[1], lines[2] = lines[2], lines[1]
	other := write(t, "people.csv", strings.Join(lines, ""))
	for says, given := range map[string][]string{
		"is of a fit of other data":          {"-data", other},
		"is of a fit with another plan":      {"-epsilon", "0.9"},
		"is of a fit with another plan: its": {"-method", "outputpert"},
		"is not in -budget":                  {"-resume", "7-0123456789abcdef"},
		"must be the budget's":               {"-name", "others"},
		"name it by -budget":                 {"-budget", ""},
		"its noise would be that of":         {"-insecure-noise-seed", "1"},
	} {
		all := append(slices.Clone(args), "-resume", id)
		if given[0] == "-data" { // which is given once
			all[slices.Index(all, "-data")+1] = given[1]
		} else {
			all = append(all, given...)
		}
		err := run(t.Context(), all, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", given, err)
		}
		if list := entriesOf(t, budget); len(list) != 1 || list[0].Begun.IsZero() {
			t.Errorf("%v: %+v", given, list)
		}
	}
	b, err := budgetfile.Open(budget)
	if err != nil {
		t.Fatal(err)
	}
	busy, err := b.Journal(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), append(args, "-resume", id), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "another program runs this entry's fit") {
		t.Errorf("resumed twice: %v", err)
	}
	busy.Close()
	csvfit(t, append(args, "-resume", id)...)
	if err := run(t.Context(), append(args, "-resume", id), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "can't be gone on with") {
		t.Errorf("resumed after its end: %v", err)
	}
}

// Persons are in a secret order, which is drawn afresh: a fit with an evaluation on others of them
// says that it can't go on, and doesn't.
func TestPersonsInPartsDontGoOn(t *testing.T) {
	budget, args := funded(t, policies(t), write(t, "risks.json", risks), "-loss", "poisson", "-method", "noisygd", "-evaluate", "0.3")
	err := run(stopsOnceBegun{t.Context(), budget}, args, io.Discard, io.Discard)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is spent, and its fit can't be gone on with") {
		t.Fatal(err)
	}
	id := entriesOf(t, budget)[0].ID
	if err := run(t.Context(), append(args, "-resume", id), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "nobody knows whether each person is in the same part as before") {
		t.Errorf("resumed: %v", err)
	}
}

// Two outputs of one name are refused before anything is spent, in whatever way it is written.
func TestOutputsOfOneName(t *testing.T) {
	data, facts, dir := people(t, 100), schema(t, "rich", rich), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ model, page string }{
		{"a.json", "a.json"}, {"a.json", "./real/../a.json"}, {"real/a.json", "link/a.json"}, {"a.json", "A.JSON"},
	} {
		budget := filepath.Join(t.TempDir(), "budget.json")
		csvfit(t, "budget", "-file", budget, "-name", "people", "-epsilon", "3", "-delta", "1e-4")
		err := run(t.Context(), []string{"fit", "-data", data, "-schema", facts, "-epsilon", "1", "-delta", "1e-5", "-budget", budget, "-name", "people",
			"-o", dir + "/" + c.model, "-report", dir + "/" + c.page}, io.Discard, io.Discard)
		if !errors.Is(err, task.ErrUsage) || !strings.Contains(err.Error(), "are one file") || len(entriesOf(t, budget)) > 0 {
			t.Errorf("%+v: %v", c, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left)+len(hidden) > 0 {
		t.Errorf("left: %v, %v (%v)", left, hidden, err)
	}
}
