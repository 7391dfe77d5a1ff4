package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/mechanisms/budgetfile"
)

// stopsOnceBegun is a context that is cancelled as soon as a budget has an entry that has begun.
type stopsOnceBegun struct {
	context.Context
	budget string
}

func (s stopsOnceBegun) Err() error {
	b, err := budgetfile.Open(s.budget)
	if err != nil {
		return err
	}
	if list, err := b.Entries(); err != nil || len(list) == 0 || list[0].Begun.IsZero() {
		return err
	}
	return context.Canceled
}

// A fit is in the budget's file before it draws noise, and so before it runs: one that is
// stopped then has spent, with its evaluation too. One that is stopped at once hasn't.
func TestSpendsBeforeItRuns(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	data, facts := people(t, 300), schema(t, "rich", rich)
	for _, more := range [][]string{nil, {"-evaluate", "0.5"}, {"-method", "infer"}} {
		dir := t.TempDir()
		budget, model := filepath.Join(dir, "budget.json"), filepath.Join(dir, "model.json")
		csvfit(t, "budget", "-file", budget, "-name", "people", "-epsilon", "2", "-delta", "1e-4")
		args := append([]string{"fit", "-data", data, "-schema", facts, "-epsilon", "1.5", "-delta", "1e-5", "-budget", budget, "-name", "people", "-o", model}, more...)
		if err := run(stopped, args, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v: %v", more, err)
		}
		if shown, _ := csvfit(t, "budget", "-file", budget); !strings.Contains(shown, "nothing spent") {
			t.Errorf("%v: what was stopped at once has spent:\n%s", more, shown)
		}
		if err := run(stopsOnceBegun{t.Context(), budget}, args, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v: %v", more, err)
		}
		shown, _ := csvfit(t, "budget", "-file", budget)
		if !strings.Contains(shown, "to "+model) || strings.Contains(shown, "fit and evaluation") != (len(more) > 0 && more[0] == "-evaluate") {
			t.Errorf("%v: a stopped fit has not spent:\n%s", more, shown)
		}
	}
}
