package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, 120, 150, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"120 training rows, 150 dimensions", "JL to 20, Noisy GD", "not private"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
}

func TestSelection(t *testing.T) {
	var out bytes.Buffer
	if err := (selection{3000, 500, 50, 0, true, []float64{4}}).run(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3000 × 500", "Frank–Wolfe, within the ball", "auto", "A constant has"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	if err := (selection{rows: 10, dim: 500, nonzeros: 2}).run(&out); err == nil {
		t.Error("rows of two entries are drawn")
	}
}
