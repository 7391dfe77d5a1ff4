package main

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/examples/internal/metrics"
	"github.com/dpglm/dpglm/losses"
)

// scored is a cell with the given scores of one metric.
func scored(name string, epsilon float64, metric string, scores ...float64) *cell {
	c := &cell{method: method{name: name}, epsilon: epsilon}
	for _, s := range scores {
		c.runs = append(c.runs, []metrics.Metric{{Name: metric, Value: s}})
	}
	return c
}

// example has R², or another metric with the opposite sign.
func example(metric string, sign float64) *experiment {
	of := func(name string, epsilon float64, scores ...float64) *cell {
		for i := range scores {
			scores[i] *= sign
		}
		return scored(name, epsilon, metric, scores...)
	}
	return &experiment{
		name: "a", data: "a.csv", problem: dpglm.Problem{Loss: losses.Squared{}}, metrics: []string{metric, "rmse"}, epsilons: []float64{.5, 10}, seeds: 2,
		rows: 100, delta: 1e-3,
		cells: []*cell{
			of("good", .5, .25, .75), of("good", 10, .7, .7),
			of("much longer", .5, -2000, -3000), {method: method{name: "much longer"}, epsilon: 10, refusal: errors.New("too long")},
		},
		plain: *of("", 0, .75, .85), constant: *of("", 0, 0, 0),
	}
}

func TestTable(t *testing.T) {
	const want = `a.csv, squared loss: each fit is (ε, 0.001)-differentially private for replacing one of 100 rows,
every parameter at its default.

On the rows held out, mean ± standard error over 2 seeds
method         ε                r2  rmse
good         0.5   0.5000 ± 0.2500     –
good          10   0.7000 ± 0.0000     –
much longer  0.5  -2500 ± 500.0000     –
much longer   10                 –     –
non-private    ∞   0.8000 ± 0.0500     –
constant           0.0000 ± 0.0000     –

– stands for no result:
  much longer at ε = 10: too long
`
	var b bytes.Buffer
	if err := example("r2", 1).print(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

// The mean excess counts what is lost against the model without privacy, whichever
// direction is better, over the sets where both have a result.
func TestOverall(t *testing.T) {
	first, second, other := example("r2", 1), example("r2", 1), example("log_loss", -1)
	second.name, other.name = "b", "c"
	second.plain = *scored("", 0, "r2", .5, .7)
	second.cells[3] = scored("much longer", 10, "r2", .4, .4)
	const want = `
Held-out R² of 2 set(s), mean ± standard error over 2 seeds
set               method           ε = 0.5           ε = 10      non-private         constant
a                   good   0.5000 ± 0.2500  0.7000 ± 0.0000  0.8000 ± 0.0500  0.0000 ± 0.0000
a            much longer  -2500 ± 500.0000                –  0.8000 ± 0.0500  0.0000 ± 0.0000
b                   good   0.5000 ± 0.2500  0.7000 ± 0.0000  0.6000 ± 0.1000  0.0000 ± 0.0000
b            much longer  -2500 ± 500.0000  0.4000 ± 0.0000  0.6000 ± 0.1000  0.0000 ± 0.0000
mean excess         good            0.2000           0.0000
mean excess  much longer              2501           0.2000

Held-out log-loss of 1 set(s), mean ± standard error over 2 seeds
set               method           ε = 0.5            ε = 10       non-private         constant
c                   good  -0.5000 ± 0.2500  -0.7000 ± 0.0000  -0.8000 ± 0.0500  0.0000 ± 0.0000
c            much longer   2500 ± 500.0000                 –  -0.8000 ± 0.0500  0.0000 ± 0.0000
mean excess         good            0.3000            0.1000
mean excess  much longer              2501                 –

The mean excess is how much worse than the non-private model, over sets where both have a result.
`
	var b bytes.Buffer
	if err := printOverall(&b, []*experiment{first, second, other}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		want   string
	}{
		{[]float64{.8449}, "0.8449"},
		{[]float64{.8, .9}, "0.8500 ± 0.0500"},
		{[]float64{.8, math.NaN()}, "0.8000"},
		{[]float64{math.NaN()}, "–"},
		{[]float64{-123456}, "-1.235e+05"},
		{[]float64{math.Inf(-1)}, "-Inf"},
		{nil, "–"},
	} {
		if got := scored("a", 1, "auc", c.scores...).format("auc"); got != c.want {
			t.Errorf("%v: %q, want %q", c.scores, got, c.want)
		}
	}
	failed := scored("a", 1, "auc", .8)
	if failed.refusal = errors.New("in a later run"); failed.format("auc") != "–" {
		t.Errorf("a method that failed prints %q", failed.format("auc"))
	}
}
