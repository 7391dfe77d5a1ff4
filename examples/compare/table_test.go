package main

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// scored is a cell with the given scores of one measure.
func scored(name string, epsilon float64, measure string, scores ...float64) *cell {
	return &cell{method: method{name: name}, epsilon: epsilon, scores: map[string][]float64{measure: scores}}
}

func example() *experiment {
	const r2 = "r2"
	return &experiment{
		data: "a.csv", problem: dpglm.Problem{Loss: losses.Squared{}}, measures: measures(losses.Real), epsilons: []float64{.5, 10}, seeds: 2,
		rows: 100, delta: 1e-3,
		cells: []*cell{
			scored("good", .5, r2, .25, .75), scored("good", 10, r2, .7, .7),
			scored("much longer", .5, r2, -2000, -3000), {method: method{name: "much longer"}, epsilon: 10, refusal: errors.New("too long")},
		},
		plain: *scored("", 0, r2, .75, .85), constant: *scored("", 0, r2, 0, 0),
	}
}

func TestTable(t *testing.T) {
	const want = `a.csv, squared loss: each fit is (ε, 0.001)-differentially private for replacing one of 100 rows,
every parameter at its default.
NOT COVERED by the guarantee, taken from the data: the ranges.

Held-out R², mean ± standard deviation of 2 seeds
method              ε = 0.5         ε = 10          ε = ∞
good          0.500 ± 0.354  0.700 ± 0.000
much longer  -2.5e+03 ± 707              –
non-private                                 0.800 ± 0.071
the mean                                    0.000 ± 0.000

– stands for no result:
  much longer at ε = 10: too long

` + note
	var b bytes.Buffer
	if err := example().print(&b, []string{"the ranges"}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
}

func TestFormat(t *testing.T) {
	accuracy, auc := measures(losses.Binary)[0], measures(losses.Binary)[1]
	for _, c := range []struct {
		m      measure
		scores []float64
		want   string
	}{
		{accuracy, []float64{.8449}, "84.5"},
		{accuracy, []float64{.8, .9}, "85.0 ± 7.1"},
		{auc, []float64{.8449, .8449}, "0.845 ± 0.000"},
		{auc, []float64{-123456}, "-1.23e+05"},
		{auc, []float64{math.Inf(-1)}, "-Inf"},
		{auc, nil, "–"},
	} {
		if got := c.m.format(scored("a", 1, c.m.name, c.scores...)); got != c.want {
			t.Errorf("%v: %q, want %q", c.scores, got, c.want)
		}
	}
}

func TestMajority(t *testing.T) {
	for _, c := range []struct {
		y    []float64
		want float64
	}{{[]float64{0, 1, 1, 1}, .75}, {[]float64{-1, -1, 1}, 2. / 3}, {[]float64{0}, 1}} {
		if got := majority(c.y); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%v: %v, want %v", c.y, got, c.want)
		}
	}
}
