package main

import (
	"io"
	"strings"
	"testing"
)

// Every operation is measured, without Python too.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, io.Discard, options{small: 1, large: 2, rounds: 1}); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		"plain read": 12, "logistic pass": 6, // six groups, and the pass's line names the read again
		"second moments": 2, "sparse pass": 1, "dense pass": 2, "a sample": 1, "NumPy": 0,
	} {
		if got := strings.Count(out.String(), text); got != times {
			t.Errorf("%q is there %d times, want %d", text, got, times)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

// Searches of 4 and 32 candidates are compared with one's, for three widths.
func TestRunCandidates(t *testing.T) {
	var out strings.Builder
	if err := run(&out, io.Discard, options{small: 1, large: 1, rounds: 1, candidates: true}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "times one candidate"); got != 6 || strings.Count(out.String(), "32 candidates") != 3 {
		t.Errorf("%d searches are compared, want 6:\n%s", got, out.String())
	}
}

// Reading is measured beside programs that read, without Python too.
func TestRunCSV(t *testing.T) {
	var out strings.Builder
	if err := runCSV(&out, io.Discard, options{csv: 1000, rounds: 1}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"CSV, 1000 × 16", "table.ReadCSVFile", "csvfit fit", "csvfit store", "csvfit predict"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%q isn't there:\n%s", text, out.String())
		}
	}
	for _, o := range []options{{csv: -1, rounds: 1}, {csv: 1}} {
		if err := runCSV(io.Discard, io.Discard, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	for _, o := range []options{{}, {small: 2, large: 1, rounds: 1}, {small: 1, large: 1}} {
		if err := run(io.Discard, io.Discard, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// Where NumPy is there, the script answers what the program asks.
func TestNumPy(t *testing.T) {
	python := findPython("numpy")
	if python == "" {
		t.Skip("needs a Python with NumPy")
	}
	np, err := startNumPy(python)
	if err != nil {
		t.Fatal(err)
	}
	defer np.stop()
	for _, operation := range []string{"pass", "moments"} {
		if s, err := np.seconds(operation, 10, 1); err != nil || !(s > 0) {
			t.Errorf("%s took %g s (%v)", operation, s, err)
		}
	}
	if s, err := np.seconds("", 10, 1); err == nil {
		t.Errorf("no operation took %g s", s)
	}
}

// The read reads everything.
func TestRead(t *testing.T) {
	for n := range 40 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(i)
		}
		if got, want := read(v), float64(n*(n-1)/2); got != want {
			t.Errorf("sum of 0..%d = %g, want %g", n-1, got, want)
		}
	}
}
