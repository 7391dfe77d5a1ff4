package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// The smallest tables are fitted, larger ones are skipped and counted.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, false, 1); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{"objective perturbation": 3, "Noisy GD": 3, "3 larger tables": 1} {
		if got := strings.Count(out.String(), text); got != times {
			t.Errorf("%q is there %d times, want %d:\n%s", text, got, times, out.String())
		}
	}
	if err := run(io.Discard, false, 0); err == nil {
		t.Error("tables of at most 0 MB: no error")
	}
}

func TestSizes(t *testing.T) {
	if got := len(sizes(true)); got != 16 {
		t.Errorf("%d sizes, want 16", got)
	}
	for _, s := range sizes(false) {
		if s.n*s.d > 1_000_000 {
			t.Errorf("%d × %d in the short run", s.n, s.d)
		}
	}
}

// A measurement sees memory that is only held for a moment, and passes errors on.
func TestMeasure(t *testing.T) {
	failed := errors.New("failed")
	c, err := measure(func() error {
		v := make([]byte, 50_000_000)
		for i := range v {
			v[i] = 1
		}
		return failed
	})
	if !errors.Is(err, failed) || c.megabytes < 45 || c.seconds <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A file is measured by all of its readers.
func TestStored(t *testing.T) {
	var out strings.Builder
	if err := stored(context.Background(), &out, size{3000, 4}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"3000 × 4, 0.12 MB", "written", "opened", "a pass", "Auto takes as long as"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q isn't there:\n%s", text, out.String())
		}
	}
	if err := stored(context.Background(), io.Discard, size{-1, 4}); err == nil {
		t.Error("a negative number of rows: no error")
	}
}
