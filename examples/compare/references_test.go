package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/dpglm/dpglm/examples/internal/metrics"
)

// The field's methods run beside the library's, say what they are, and refuse losses that they
// aren't for. At a large ε they come near the model without privacy.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ label, refuses, first string }{
		{"rich", "adassp", "log_loss"},
		{"pay", "kifer2012", "r2"},
	} {
		o, err := parseOptions([]string{"-data", people(t), "-schema", schema(t, c.label), "-epsilon", "1000", "-seeds", "2", "-methods", "dpsgd-tuned,adassp,kifer2012,objpert"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		e := newExperiment(o, o.sources[0])
		if err := e.run(context.Background(), o.sources[0], func() {}); err != nil {
			t.Fatal(err)
		}
		plain, _ := e.plain.summarise(c.first)
		constant, _ := e.constant.summarise(c.first)
		for _, cell := range e.cells {
			if cell.name == c.refuses {
				if cell.refusal == nil {
					t.Errorf("%s should refuse %s", cell.name, c.label)
				}
				continue
			}
			s, ok := cell.summarise(c.first)
			if !ok {
				t.Errorf("%s: %v", cell.name, cell.refusal)
				continue
			}
			// Half way from the constant to the model without privacy, at least.
			gain, whole := s.mean-constant.mean, plain.mean-constant.mean
			if metrics.LowerIsBetter(c.first) {
				gain, whole = -gain, -whole
			}
			if gain < whole/2 {
				t.Errorf("%s, %s: %g, %g without privacy and %g for a constant", c.label, cell.name, s.mean, plain.mean, constant.mean)
			}
		}
		var out bytes.Buffer
		if err := e.print(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"dpsgd-tuned: its parameters are the best of 27", "adassp: exact noise", "kifer2012: its paper's noise"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the table lacks %q:\n%s", want, &out)
			}
		}
	}
}

// On the survey, where a line search fails for rounding close to the minimum, Kifer's method has
// a result at each ε and for each of its splits.
func TestReferencesReachTheMinimum(t *testing.T) {
	o, err := parseOptions([]string{"-data", "../../testdata/cps1988.csv.gz", "-schema", "../csvfit/cps1988.json", "-epsilon", "0.1,1", "-seeds", "10", "-methods", "kifer2012"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	e := newExperiment(o, o.sources[0])
	if err := e.run(context.Background(), o.sources[0], func() {}); err != nil {
		t.Fatal(err)
	}
	for _, cell := range e.cells {
		if cell.refusal != nil {
			t.Errorf("%s at ε = %g: %v", cell.name, cell.epsilon, cell.refusal)
		}
	}
}
