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
