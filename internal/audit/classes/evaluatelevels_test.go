package classes_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/losses"
)

// graded are rows of two columns with one of four levels, the third of which is the rarest.
func graded(n int, seed uint64) (x *mat.Dense, y []float64) {
	r := rand.New(rand.NewPCG(seed, 3))
	x, y = mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range y {
		a, b := 2*r.Float64()-1, 2*r.Float64()-1
		x.SetRow(i, []float64{a, b})
		u := r.Float64()
		z := 2*a - b + math.Log(u/(1-u))
		for _, threshold := range gradedLoss.Thresholds {
			if z > threshold {
				y[i]++
			}
		}
	}
	return x, y
}

var gradedLoss = losses.Ordinal{Thresholds: []float64{-1, 0.5, 0.9}}

var gradedFacts = dpglm.Bounds{Feature: math.Sqrt2, LabelRange: [2]float64{0, 3}, Intercept: true}

func gradedModel(t *testing.T) *dpglm.Model {
	t.Helper()
	x, y := graded(4000, 1)
	m, err := dpglm.StandardisedGD(ctx, dataset(t, x, y, gradedFacts), dpglm.Problem{Loss: gradedLoss}, dpglm.GDP(50), dpglm.StandardisedGDConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// levelTruth are accuracy, log-loss, Brier score and mean area, and rate, recall, precision and
// area of each level, by loops.
func levelTruth(t *testing.T, m *dpglm.Model, x mat.Matrix, y []float64) []float64 {
	t.Helper()
	p, err := m.Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	k, n := len(m.Levels()), float64(len(y))
	own, found, both := make([]float64, k), make([]float64, k), make([]float64, k)
	var loss, brier float64
	for i, v := range y {
		row, level := p.RawRowView(i), int(v)
		likely := floats.MaxIdx(row)
		own[level]++
		found[likely]++
		if likely == level {
			both[level]++
		}
		loss -= math.Log(row[level])
		for c, q := range row {
			if c == level {
				q = 1 - q
			}
			brier += q * q
		}
	}
	out := []float64{floats.Sum(both) / n, loss / n, brier / n, 0}
	for c := range k {
		area := rankArea(mat.Col(nil, c, p), y, c)
		out[3] += area / float64(k)
		out = append(out, own[c]/n, both[c]/own[c], both[c]/math.Max(found[c], 1), area)
	}
	return out
}

// Without noise figures are those that loops over the rows have, but for the cells' width.
func TestEvaluateLevelsWithoutNoise(t *testing.T) {
	m := gradedModel(t)
	x, y := graded(6000, 2)
	e, err := dpglm.Evaluate(ctx, dataset(t, x, y, gradedFacts), m, dpglm.GDP(1e4), dpglm.EvaluateConfig{}, seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	want := levelTruth(t, m, x, y)
	for k, v := range intervalsOf(e) {
		if k >= 4 && want[k] == 0 || k >= 4 && (k-4)%4 == 2 && v == (dpglm.Interval{}) { // a level that is never the most likely one
			continue
		}
		if math.Abs(v.Value-want[k]) > 0.006 || !(v.Low <= v.Value && v.Value <= v.High) {
			t.Errorf("figure %d: %+v, want %g", k, v, want[k])
		}
	}
	var rows float64
	for c, of := range e.Confusion {
		rows += floats.Sum(of)
		if math.Abs(floats.Sum(of)-6000*want[4+4*c]) > 10 {
			t.Errorf("level %d has %g rows", c, floats.Sum(of))
		}
	}
	if math.Abs(rows-6000) > 1e-6 || e.Classes[3] != "3" || e.Rows != 6000 || e.Confidence != 0.95 {
		t.Errorf("%g rows, %+v", rows, e)
	}
}

// Intervals hold the figures of many other rows: of 60 evaluations with twelve figures each
// some 36 miss one; 90 or more are as good as impossible, 1e-9 for independent ones, and these
// count some four times as much, 1e-5.
func TestEvaluateLevelsCovers(t *testing.T) {
	m := gradedModel(t)
	x, y := graded(100_000, 3)
	want := levelTruth(t, m, x, y)
	missed, all := 0, 0
	for k := range 60 {
		x, y := graded(3000, uint64(10+k))
		e, err := dpglm.Evaluate(ctx, dataset(t, x, y, gradedFacts), m, dpglm.GDP(0.3), dpglm.EvaluateConfig{}, seeded(uint64(k)))
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range intervalsOf(e) {
			if j >= 4 && (j-4)%4 != 0 && (j-4)%4 != 3 { // recall and precision may have no rows
				continue
			}
			if all++; want[j] < v.Low || want[j] > v.High {
				missed++
			}
		}
	}
	t.Logf("%d of %d intervals miss", missed, all)
	if all != 720 || missed >= 90 || missed < 5 {
		t.Errorf("%d of %d intervals miss", missed, all)
	}
}

// What can't be evaluated is refused before anything is released, and a dry run has the ledger.
func TestEvaluateLevelsRefuses(t *testing.T) {
	m := gradedModel(t)
	x, y := graded(100, 4)
	d := dataset(t, x, y, gradedFacts)
	cfg := dpglm.EvaluateConfig{}
	planned, err := cfg.Ledger(d.Shape(), dpglm.Problem{Loss: gradedLoss}, dpglm.ApproxDP(1, 1e-6))
	if err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(ctx, d, m, dpglm.ApproxDP(1, 1e-6), cfg, nil)
	if err != nil || e.Ledger.String() != planned.String() || !planned.Within(1, 1e-6) || planned.Within(0.99, 1e-6) {
		t.Errorf("planned %v, released %v (%v)", planned, e.Ledger, err)
	}
	plain, _ := run(t, dpglm.NoisyGDConfig{Steps: 2}, dataset(t, x, make([]float64, 100), gradedFacts), logistic, dpglm.GDP(1), 1)
	between := slices.Clone(y)
	between[3] = 0.5
	offsets, err := dpglm.NewDataset(x, y, gradedFacts, dpglm.Offsets{Of: make([]float64, 100), Range: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d    *dpglm.Dataset
		m    *dpglm.Model
		cfg  dpglm.EvaluateConfig
		b    dpglm.Budget
		want error
	}{
		"no dataset":       {nil, m, cfg, dpglm.GDP(1), dpglm.ErrConfig},
		"no model":         {d, nil, cfg, dpglm.GDP(1), dpglm.ErrModel},
		"another loss":     {d, plain, cfg, dpglm.GDP(1), dpglm.ErrLabel},
		"another bound":    {dataset(t, x, y, dpglm.Bounds{Feature: 2, LabelRange: [2]float64{0, 3}, Intercept: true}), m, cfg, dpglm.GDP(1), dpglm.ErrShape},
		"no level":         {dataset(t, x, between, gradedFacts), m, cfg, dpglm.GDP(1), dpglm.ErrLabel},
		"offsets":          {offsets, m, cfg, dpglm.GDP(1), dpglm.ErrConfig},
		"a confidence":     {d, m, dpglm.EvaluateConfig{Confidence: 2}, dpglm.GDP(1), dpglm.ErrConfig},
		"a pure budget":    {d, m, cfg, dpglm.PureDP(1), dpglm.ErrBudget},
		"a budget of none": {d, m, cfg, dpglm.Budget{}, dpglm.ErrBudget},
	} {
		if _, err := dpglm.Evaluate(ctx, c.d, c.m, c.b, c.cfg, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := cfg.Ledger(d.Shape(), dpglm.Problem{Loss: losses.Extended{Inner: gradedLoss, Limit: 9}}, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrConfig) || !strings.Contains(err.Error(), "must be the logarithm") {
		t.Errorf("as if it were of counts: %v", err)
	}
	if _, err := cfg.Ledger(d.Shape(), dpglm.Problem{Loss: losses.Ordinal{Thresholds: []float64{2, 1}}}, dpglm.GDP(1)); !errors.Is(err, dpglm.ErrConfig) {
		t.Errorf("falling thresholds: %v", err)
	}
}
