package classes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dpglm/dpglm"
	"github.com/dpglm/dpglm/internal/audit/given"
	"github.com/dpglm/dpglm/internal/audit/sample"
	"github.com/dpglm/dpglm/internal/sealed/resealed"
	"github.com/dpglm/dpglm/mechanisms"
)

// offModel is a model of the four classes that is off: its scores are a part of the true
// ones, and shifted. factor 1 is well calibrated but for the shift.
func offModel(t *testing.T, factor float64) *dpglm.Model {
	t.Helper()
	m := softmaxOf(t, 500, dpglm.GDP(1))
	weights := m.Weights()
	for k, w := range fourClasses {
		copy(weights[k], w)
		floats.Scale(factor, weights[k])
		weights[k][3] += 0.2 * float64(k%2)
	}
	return withWeights(t, m, weights)
}

// withWeights is a model with other weights.
func withWeights(t *testing.T, m *dpglm.Model, weights [][]float64) *dpglm.Model {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	others, err := json.Marshal(weights)
	if err != nil {
		t.Fatal(err)
	}
	out := new(dpglm.Model)
	if err := json.Unmarshal(resealed.JSON(bytes.Replace(text, fields["weights"], others, 1)), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// classFigures are accuracy, log-loss, Brier score and mean AUC of rows, then rate, recall,
// precision and AUC of each class, by loops.
func classFigures(t *testing.T, m *dpglm.Model, x mat.Matrix, y []float64) []float64 {
	t.Helper()
	p, err := m.Probabilities(x)
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := m.Predict(x)
	if err != nil {
		t.Fatal(err)
	}
	classes, n := m.Classes(), float64(len(y))
	var right, loss, brier, mean float64
	own, found, both := make([]float64, classes), make([]float64, classes), make([]float64, classes)
	for i, c := range y {
		k := int(c)
		own[k]++
		found[int(predicted[i])]++
		if predicted[i] == c {
			right++
			both[k]++
		}
		for j, v := range p.RawRowView(i) {
			if j == k {
				loss -= math.Log(v)
				v--
			}
			brier += v * v
		}
	}
	var list []float64
	for k := range classes {
		area := rankArea(mat.Col(nil, k, p), y, k)
		mean += area / float64(classes)
		list = append(list, own[k]/n, both[k]/own[k], both[k]/found[k], area)
	}
	return append([]float64{right / n, loss / n, brier / n, mean}, list...)
}

// rankArea is the area under the curve of scores for a class, by ranks.
func rankArea(scores, y []float64, class int) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if scores[a] < scores[b] {
			return -1
		}
		return 1
	})
	var zeros, ones, pairs float64
	for _, i := range order {
		if int(y[i]) == class {
			ones++
			pairs += zeros
		} else {
			zeros++
		}
	}
	return pairs / (zeros * ones)
}

func intervalsOf(e *dpglm.Evaluation) []dpglm.Interval {
	var list []dpglm.Interval
	for _, name := range []string{"accuracy", "log-loss", "Brier score", "mean AUC"} {
		list = append(list, figureOf(e, name))
	}
	for _, class := range e.Classes {
		for _, name := range []string{"rate", "recall", "precision", "AUC"} {
			list = append(list, figureOfClass(e, class, name))
		}
	}
	return list
}

// figureOf is a figure of all rows, zero where there is none.
func figureOf(e *dpglm.Evaluation, name string) dpglm.Interval { return figureOfClass(e, "", name) }

func figureOfClass(e *dpglm.Evaluation, class, name string) dpglm.Interval {
	f, _ := e.ClassFigure(class, name)
	return f.Interval
}

func evaluateClasses(t *testing.T, n int, seed uint64, m *dpglm.Model, mu float64, more ...dpglm.RowDetail) *dpglm.Evaluation {
	t.Helper()
	x, y := classified(n, seed)
	d, err := dpglm.NewDataset(x, y, inBall, more...)
	if err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(t.Context(), d, m, dpglm.GDP(mu), dpglm.EvaluateConfig{}, seeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Nearly without noise the figures are those of loops over the rows: a wrong cell, edge,
// class or order shows. A class that is never predicted has no precision.
func TestClassEvaluationByLoops(t *testing.T) {
	for _, factor := range []float64{1, 0.02, 5} {
		m := offModel(t, factor)
		x, y := classified(6000, 11)
		want := classFigures(t, m, x, y)
		e := evaluateClasses(t, 6000, 11, m, 300)
		for k, v := range intervalsOf(e) {
			tolerance := 2e-3
			if k == 1 {
				tolerance = 5e-3 * (1 + want[k])
			}
			if !(math.IsNaN(want[k]) || math.Abs(v.Value-want[k]) < tolerance && v.Low < v.Value && v.Value < v.High) {
				t.Errorf("factor %g: figure %d is %.4f, by loops %.4f", factor, k, v, want[k])
			}
		}
		if !(math.Abs(e.Confusion[1][1]/6000-want[8]*want[9]) < 1e-3) {
			t.Errorf("%.1f rows of class 1 are found", e.Confusion[1])
		}
	}
}

// Intervals of 95 % hold the population's figures, in which noise and sampling matter
// alike. At a coverage of 94 % more than 17 of 100, or 10 of 40, miss with probability 4e-5 for each of
// the 20 figures; the mean AUC's may be too wide, as areas may lie above chords or on them, but not 2.25 times as wide as the spread of
// what is estimated asks for, or 2.75 times where that is of 40 only.
func TestClassEvaluationCovers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("too slow for the race detector")
	}
	m := offModel(t, 0.7)
	x, y := classified(sample.Of(100_000, 300_000), 99)
	truth := classFigures(t, m, x, y)
	missed, sum, square, width := make([]int, len(truth)), 0.0, 0.0, 0.0
	runs := sample.Of(40, 100)
	for seed := range uint64(runs) {
		e := evaluateClasses(t, 2000, seed+100, m, 1)
		for k, v := range intervalsOf(e) {
			drowned := k == 18 && v == (dpglm.Interval{}) // the precision of a class that is seldom predicted
			if !(drowned || v.Low <= truth[k] && truth[k] <= v.High) {
				missed[k]++
			}
		}
		mean := figureOf(e, "mean AUC")
		sum += mean.Value / float64(runs)
		square += mean.Value * mean.Value / float64(runs)
		width += (mean.High - mean.Low) / float64(runs)
	}
	t.Log(missed)
	for k, n := range missed {
		if n > sample.Of(10, 17) {
			t.Errorf("%d of %d intervals miss figure %d, %.4f", n, runs, k, truth[k])
		}
	}
	if spread := math.Sqrt(square - sum*sum); width > sample.Of(2.75, 2.25)*2*1.96*spread {
		t.Errorf("the mean AUC's interval is %.4f wide, its standard deviation %.4f", width, spread)
	}
}

// With persons of two rows, and with weights, figures are those of rows, as far as noise goes.
func TestClassEvaluationOfPersons(t *testing.T) {
	m := offModel(t, 1)
	x, y := classified(6000, 11)
	want := classFigures(t, m, x, y)
	persons, weights := make([]int, 6000), slices.Repeat([]float64{0.5}, 6000)
	for i := range persons {
		persons[i] = i / 2
	}
	for name, more := range map[string]dpglm.RowDetail{
		"persons": dpglm.Persons{Of: persons, Count: 3000, MaxRows: 2},
		"weights": dpglm.Weights{Of: weights, Max: 1},
	} {
		e := evaluateClasses(t, 6000, 11, m, 100, more)
		for k, v := range intervalsOf(e) {
			if !(math.Abs(v.Value-want[k]) < 0.02) {
				t.Errorf("%s: figure %d is %.4f, by loops %.4f", name, k, v, want[k])
			}
		}
		if name == "persons" && !strings.Contains(fmt.Sprint(e), "person") {
			t.Errorf("printed as\n%v", e)
		}
	}
}

// However small n·μ is, figures lie in the ranges that they can have.
func TestClassFiguresLieInTheirRanges(t *testing.T) {
	m := offModel(t, 1)
	for _, n := range []int{1, 5, 60} {
		for seed := range uint64(5) {
			for _, mu := range []float64{1e-6, 0.1, 50} {
				e := evaluateClasses(t, n, seed+1, m, mu)
				for k, v := range intervalsOf(e) {
					high := 1.0
					switch k {
					case 1:
						high = math.Inf(1)
					case 2:
						high = 2
					}
					if !(0 <= v.Low && v.Low <= v.High && v.High <= high && 0 <= v.Value && v.Value <= high) {
						t.Errorf("%d rows, μ = %g: figure %d is %+v", n, mu, k, v)
					}
				}
				var all float64
				for _, row := range e.Confusion {
					all += floats.Sum(row)
					if floats.Min(row) < 0 {
						t.Errorf("negative counts: %v", e.Confusion)
					}
				}
				if math.Abs(all-float64(n)) > 1e-6*float64(n) {
					t.Errorf("%g rows are counted of %d", all, n)
				}
			}
		}
	}
}

// A dry run has the ledger of the run; an evaluation prints and marshals what it has; what
// can't be is refused before anything is spent, and what stops afterwards is spent.
func TestEvaluateClassesPlansAndRefuses(t *testing.T) {
	m := offModel(t, 1)
	x, y := classified(200, 1)
	d, b := dataset(t, x, y, inBall), dpglm.ApproxDP(1, 1e-6)
	planned, err := dpglm.EvaluateConfig{}.Ledger(d.Shape(), given.OfClasses(logistic, 4), b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := dpglm.Evaluate(t.Context(), d, m, b, dpglm.EvaluateConfig{}, nil)
	if err != nil || fmt.Sprint(e.Ledger) != fmt.Sprint(planned) || !e.Ledger.Within(1, 1e-6) {
		t.Errorf("planned\n%v\nspent\n%v (%v)", planned, e, err)
	}
	e = evaluateClasses(t, 200, 1, m, 1) // noise of a seed: any other may hide class 3
	text, err := json.Marshal(e)
	var back dpglm.Evaluation
	if err != nil || json.Unmarshal(text, &back) != nil || fmt.Sprint(&back) != fmt.Sprint(e) {
		t.Errorf("%s (%v) read back as\n%v", text, err, &back)
	}
	if s := fmt.Sprint(e); !strings.Contains(s, "accuracy") || !strings.Contains(s, "class 3: rate") {
		t.Errorf("printed as\n%s", s)
	}
	e.Figures = []dpglm.Figure{{Name: "rate", Class: "3", Interval: dpglm.Interval{Value: 0.1, High: 0.2}}}
	if s := fmt.Sprint(e); !strings.Contains(s, "class 3: rate") {
		t.Errorf("a class has no line of its own:\n%s", s)
	}
	e.Figures[0].Interval = dpglm.Interval{} // all of it below 0, but for what a rate can be
	if s := fmt.Sprint(e); strings.Contains(s, "class 3: rate") || !strings.Contains(s, "3, as noise hides some of each of these classes") {
		t.Errorf("a rate of nothing isn't withheld:\n%s", s)
	}
	if text, err := json.Marshal(e.Figures[0]); err != nil || !strings.Contains(string(text), `"name":"rate","class":"3","value":0,"low":0,"high":0}`) {
		t.Errorf("a rate of 0 is not written: %s (%v)", text, err)
	}
	wide := inBall
	wide.Feature = 6
	huge := withWeights(t, m, [][]float64{{1e100, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}})
	other := slices.Clone(y)
	other[7] = 4
	shifted, err := dpglm.NewDataset(x, y, inBall, dpglm.Offsets{Of: make([]float64, 200), Range: [2]float64{-1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d    *dpglm.Dataset
		m    *dpglm.Model
		b    dpglm.Budget
		cfg  dpglm.EvaluateConfig
		kind error
	}{
		"no data":      {nil, m, b, dpglm.EvaluateConfig{}, dpglm.ErrConfig},
		"no model":     {d, nil, b, dpglm.EvaluateConfig{}, dpglm.ErrModel},
		"empty model":  {d, new(dpglm.Model), b, dpglm.EvaluateConfig{}, dpglm.ErrModel},
		"no budget":    {d, m, dpglm.Budget{}, dpglm.EvaluateConfig{}, dpglm.ErrBudget},
		"pure":         {d, m, dpglm.PureDP(1), dpglm.EvaluateConfig{}, dpglm.ErrBudget},
		"level":        {d, m, b, dpglm.EvaluateConfig{Confidence: 1}, dpglm.ErrConfig},
		"other bounds": {dataset(t, x, y, wide), m, b, dpglm.EvaluateConfig{}, dpglm.ErrShape},
		"more classes": {dataset(t, x, other, inBall), m, b, dpglm.EvaluateConfig{}, dpglm.ErrLabel},
		"huge weights": {d, huge, b, dpglm.EvaluateConfig{}, dpglm.ErrModel},
		"offsets":      {shifted, m, b, dpglm.EvaluateConfig{}, dpglm.ErrConfig},
	} {
		var spent *dpglm.Interrupted
		if e, err := dpglm.Evaluate(t.Context(), c.d, c.m, c.b, c.cfg, nil); e != nil || !errors.Is(err, c.kind) || errors.As(err, &spent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, classes := range []int{1, 101} {
		if _, err := (dpglm.EvaluateConfig{}).Ledger(d.Shape(), given.OfClasses(logistic, classes), b); !errors.Is(err, dpglm.ErrConfig) {
			t.Errorf("%d classes: %v", classes, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stopped *dpglm.Interrupted
	_, err = dpglm.Evaluate(ctx, d, m, b, dpglm.EvaluateConfig{}, &dpglm.Env{NoiseForTests: stopping{mechanisms.NewSeededSource(1), cancel}})
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || !stopped.Ledger.CallerNoise() {
		t.Errorf("stopped after the first noise: %v", err)
	}
}

// stopping ends a run when its first noise is drawn.
type stopping struct {
	mechanisms.Source
	stop func()
}

func (s stopping) Uint64() uint64 {
	s.stop()
	return s.Source.Uint64()
}
