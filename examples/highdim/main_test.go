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
	for _, want := range []string{"120 training rows, 150 dimensions", "JL to 20, Noisy GD", "not private", "\nat ε = 16: "} {
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
	for _, want := range []string{"3000 × 500", "Frank–Wolfe, within the ball", "auto", "A constant has", "\nat ε = 4: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	if err := (selection{rows: 10, dim: 500, nonzeros: 2}).run(&out); err == nil {
		t.Error("rows of two entries are drawn")
	}
}

// The best method is advised, the first where it comes near, and none where all are worse than zero.
func TestAdvice(t *testing.T) {
	score := make([][]float64, len(methods))
	for i := range score {
		score[i] = []float64{-0.1, 0, 0}
	}
	score[0][1], score[2][1] = 0.3, 0.32
	score[0][2], score[2][2] = 0.3, 0.4
	for j, want := range []string{"none of them", "auto, which chooses by itself; objective perturbation has 0.020 more", "objective perturbation"} {
		if got := advice(score, j); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
